import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConformanceCase } from "./conformance.js";
import type { PurchaseBook } from "./purchase-book.js";

const MINUTE_MS = 60_000;

/**
 * What every purchase book must do, for the tests of a store of your own. The cases may share one book, and run in any
 * order; those about time wait for a second or two.
 *
 * @param open gives the book to be tried
 */
export function purchaseConformance(open: () => PurchaseBook | Promise<PurchaseBook>): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const must = (name: string, run: (book: PurchaseBook) => Promise<void>) =>
    cases.push({ name, run: async () => run(await open()) });

  must("begin a purchase once among many, and say whose it is", async (book) => {
    const order = newOrder();
    const begun = await Promise.all(
      [1, 2, 3, 4].map(() => book.begin({ ...order, runId: randomUUID() }, MINUTE_MS)),
    );
    assert.equal(new Set(begun.map(({ runId }) => runId)).size, 1);
    const { runId } = begun[0] as (typeof begun)[0];
    const expected = { ...order, runId, state: "charging", remainderData: null };
    assert.deepEqual(await book.read(order.orderId), expected);
    assert.equal(await book.read(`order_${randomUUID()}`), null);
  });

  must("change a state by compare-and-set, for its own run, once among many", async (book) => {
    const { orderId, runId } = await book.begin(newOrder(), MINUTE_MS);
    const change = { from: ["charging"], to: "pending", remainderData: '{"page":"/pay"}' } as const;
    assert.equal(await book.change(orderId, { ...change, runId: randomUUID() }), null);
    assert.equal(await book.change(orderId, { ...change, from: ["paid"] }), null);
    assert.equal(await book.change(`order_${randomUUID()}`, change), null);
    const changes = await Promise.all([1, 2, 3].map(() => book.change(orderId, { ...change, runId })));
    assert.equal(changes.filter(Boolean).length, 1);
    const paid = await book.change(orderId, {
      from: ["pending"],
      to: "paid",
      remainderCents: 5,
      leaseMs: null,
    });
    assert.deepEqual(
      [paid?.state, paid?.remainderCents, paid?.remainderData],
      ["paid", 5, '{"page":"/pay"}'],
    );
    const { runId: kept } = await book.begin({ ...newOrder(), orderId }, MINUTE_MS);
    assert.equal(kept, runId);
  });

  must("let a failed purchase begin anew, with nothing left of its last try", async (book) => {
    const first = newOrder();
    await book.begin(first, MINUTE_MS);
    const failed = { from: ["charging"], to: "failed", remainderData: "{}", leaseMs: null } as const;
    await book.change(first.orderId, failed);
    const again = { ...newOrder(), orderId: first.orderId, totalCents: 900, remainderCents: 0 };
    assert.deepEqual(await book.begin(again, MINUTE_MS), {
      ...again,
      state: "charging",
      remainderData: null,
    });
    assert.equal(await book.change(first.orderId, { ...failed, runId: first.runId }), null);
  });

  must("lease a purchase that isn't settled to one at a time, by the store's clock", async (book) => {
    const { orderId } = await book.begin(newOrder(), 500);
    assert.deepEqual(await book.claim(MINUTE_MS, 9, orderId), []);
    await sleep(550);
    const claims = await Promise.all([1, 2, 3].map(() => book.claim(1000, 9, orderId)));
    assert.deepEqual(
      claims.flat().map((purchase) => purchase.orderId),
      [orderId],
    );
    await sleep(1100);
    const due = await book.claim(MINUTE_MS, 1000);
    assert.ok(due.some((purchase) => purchase.orderId === orderId));
    for (const state of ["undoing", "reversing", "refunding"] as const) {
      await book.change(orderId, { from: ["charging", "undoing", "reversing"], to: state, leaseMs: null });
      assert.equal((await book.claim(0, 9, orderId)).length, 1, state);
    }
    await book.change(orderId, { from: ["refunding"], to: "refunded", leaseMs: null });
    assert.deepEqual(await book.claim(MINUTE_MS, 9, orderId), []);
  });

  return cases;
}

const newOrder = () => ({
  orderId: `order_${randomUUID()}`,
  cartId: `cart_${randomUUID()}`,
  runId: randomUUID(),
  totalCents: 7498,
  remainderCents: 2498,
});
