import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import type {
  Attempt,
  NewPurchase,
  NewRefund,
  Purchase,
  PurchaseLease,
  PurchaseStore,
} from "../src/store/purchase-store.js";
import type { ConformanceCase } from "./kit.js";
import { atAnyPace } from "./pace.js";

const MINUTE_MS = 60_000;

/**
 * Returns the cases that every storage of purchases must pass, for the tests of a store of your own. The cases can share it,
 * and run in any order. Those about time wait for a second or two.
 *
 * @param open returns the storage to test
 */
export function purchaseConformance(open: () => PurchaseStore | Promise<PurchaseStore>): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const must = (name: string, run: (book: PurchaseStore) => Promise<void>) =>
    cases.push({ name, run: async () => run(await open()) });

  must("begin only one of many concurrent attempts, and return its id to all", async (book) => {
    const order = newOrder();
    const begun = await Promise.all(
      [1, 2, 3, 4].map(() => book.begin({ ...order, attemptId: randomUUID() }, leaseOf("commit"))),
    );
    assert.equal(new Set(begun.map(({ attemptId }) => attemptId)).size, 1);
    const [first] = begun as [Purchase];
    assert.deepEqual(first, { ...order, ...untried, attemptId: first.attemptId, createdAt: first.createdAt });
    assert.ok(Math.abs(Date.now() - first.createdAt.getTime()) < 10 * MINUTE_MS);
    assert.deepEqual(await book.read(order.orderId), first);
    assert.equal(await book.read(`order_${randomUUID()}`), null);
  });

  must("change a state by compare-and-set, for the given attempt and owner, once among many", async (book) => {
    const { orderId, attemptId } = await book.begin(newOrder(), leaseOf("commit"));
    const change = { from: ["charging"], to: "pending", remainderData: '{"page":"/pay"}' } as const;
    assert.equal(await book.change(orderId, { ...change, attemptId: randomUUID() }), null);
    assert.equal(await book.change(orderId, { ...change, owner: "other" }), null);
    assert.equal(await book.change(orderId, { ...change, from: ["paid"] }), null);
    assert.equal(await book.change(`order_${randomUUID()}`, change), null);
    const mine = { ...change, attemptId, owner: "commit", lease: null };
    const changes = await Promise.all([1, 2, 3].map(() => book.change(orderId, mine)));
    assert.equal(changes.filter(Boolean).length, 1);
    assert.equal(await book.change(orderId, { from: ["pending"], to: "paid", owner: "commit" }), null);
    const paid = await book.change(orderId, { from: ["pending"], to: "paid", lastActor: "ada" });
    assert.deepEqual([paid?.state, paid?.remainderData, paid?.lastActor], ["paid", '{"page":"/pay"}', "ada"]);
    const { attemptId: kept } = await book.begin({ ...newOrder(), orderId }, leaseOf("commit"));
    assert.equal(kept, attemptId);
  });

  must("begin a failed purchase again, without any data of the last attempt", async (book) => {
    const first = newOrder();
    await book.begin(first, leaseOf("commit"));
    const voiding = {
      from: ["charging"],
      to: "voiding",
      remainderData: "{}",
      lastError: "cancel:down",
    } as const;
    await book.change(first.orderId, { ...voiding, lease: null, lastActor: "ada" });
    await book.change(first.orderId, { from: ["voiding"], to: "voiding", remainderSettledBy: "grace" });
    await book.change(first.orderId, { from: ["voiding"], to: "failed" });
    const again = {
      ...newOrder(),
      orderId: first.orderId,
      totalCents: cents(900),
      remainderCents: cents(0),
      plan: "900.card",
      lines: null,
    };
    const begun = await book.begin(again, leaseOf("commit"));
    assert.deepEqual(begun, { ...again, ...untried, earlierAttempts: [attemptOf(first)], createdAt: begun.createdAt });
    assert.equal(await book.change(first.orderId, { ...voiding, attemptId: first.attemptId }), null);
  });

  must("begin one purchase of a cart at a time, and no other once it is paid", async (book) => {
    const orders = [newOrder(), newOrder(), newOrder()].map((order, _, [first]) => ({
      ...order,
      cartId: String(first?.cartId),
    }));
    const begun = await Promise.all(orders.map((order) => book.begin(order, leaseOf("commit"))));
    const [first] = begun;
    assert.ok(first);
    assert.deepEqual(new Set(begun.map(({ attemptId }) => attemptId)), new Set([first.attemptId]));
    assert.equal((await book.ofCart(first.cartId))?.orderId, first.orderId);
    await book.change(first.orderId, { from: ["charging"], to: "paid", lease: null });
    const { cartId } = first;
    assert.equal((await book.begin({ ...newOrder(), cartId }, leaseOf("commit"))).attemptId, first.attemptId);
    await book.change(first.orderId, { from: ["paid"], to: "canceling" });
    assert.equal(await book.ofCart(cartId), null);
    const next = { ...newOrder(), cartId };
    assert.equal((await book.begin(next, leaseOf("commit"))).attemptId, next.attemptId);
  });

  must("lease an unsettled purchase to one owner at a time, by the store's clock", (book) =>
    atAnyPace(async ({ ms, wait }) => {
      const { orderId } = await book.begin(newOrder(), leaseOf("commit", ms(500)));
      assert.deepEqual(await book.claim(leaseOf("early"), 9, orderId), []);
      await wait(550);
      const claims = await Promise.all([1, 2, 3].map((n) => book.claim(leaseOf(`${n}`, ms(1000)), 9, orderId)));
      assert.deepEqual(
        claims.flat().map((purchase) => purchase.orderId),
        [orderId],
      );
      await wait(1100);
      const due = await book.claim(leaseOf("late"), 1000);
      assert.ok(due.some((purchase) => purchase.orderId === orderId));
      // An owner whose lease has run out can't change it once another owner has leased it.
      assert.equal(await book.change(orderId, { from: ["charging"], to: "paid", owner: "commit" }), null);
      for (const state of ["voiding", "canceling", "refunding"] as const) {
        const from = ["charging", "voiding", "canceling"] as const;
        await book.change(orderId, { from, to: state, owner: "late", lease: leaseOf("late", 0) });
        assert.equal((await book.claim(leaseOf("late", 0), 9, orderId)).length, 1, state);
      }
      await book.change(orderId, { from: ["refunding"], to: "refunded", lease: null });
      assert.deepEqual(await book.claim(leaseOf("late"), 9, orderId), []);
    }),
  );

  must("wait for the next attempt, count failed ones, and reset the count when the state changes", async (book) => {
    const { orderId } = await book.begin(newOrder(), leaseOf("commit"));
    const isDue = async () => (await book.claim(leaseOf("x", 0), 1000)).some((p) => p.orderId === orderId);
    const wait = { from: ["charging"], to: "pending", lease: null, retryInMs: MINUTE_MS } as const;
    const pending = await book.change(orderId, wait);
    assert.deepEqual([pending?.tries, pending?.lastError], [0, null]);
    assert.equal(await isDue(), false);
    assert.deepEqual(await book.claim(leaseOf("x", 0), 9, orderId), [], "it may still be paid");
    const voiding = await book.change(orderId, { from: ["pending"], to: "voiding" });
    assert.deepEqual([voiding?.tries, await isDue()], [0, true]);
    const failed = {
      from: ["voiding"],
      to: "voiding",
      retryInMs: MINUTE_MS,
      lastError: "cancel:down",
    } as const;
    await book.change(orderId, failed);
    const twice = await book.change(orderId, failed);
    assert.deepEqual([twice?.tries, twice?.lastError], [2, "cancel:down"]);
    assert.equal(await isDue(), false);
    assert.equal((await book.claim(leaseOf("x", 0), 9, orderId)).length, 1, "a person needn't wait");
    const held = await book.change(orderId, { from: ["voiding"], to: "voiding", lastActor: "ada" });
    assert.deepEqual([held?.tries, held?.lastError, await isDue()], [2, "cancel:down", false]);
    const done = await book.change(orderId, { from: ["voiding"], to: "failed", lease: null });
    assert.deepEqual([done?.tries, done?.lastError, done?.lastActor], [0, null, "ada"]);
  });

  must("record a refund with the change of state, once among many, and number the next one", async (book) => {
    const { orderId } = await book.begin(newOrder(), leaseOf("commit"));
    assert.deepEqual(await book.refunds(orderId), []);
    const begin = (refund: NewRefund, from: "paid" | "charging" = "paid") =>
      book.change(orderId, { from: [from], to: "refunding", lease: leaseOf("shop"), refund });
    const [first, second] = [newRefund(1), newRefund(2)];
    // In the wrong state, nothing is written.
    assert.equal(await begin(first), null);
    assert.deepEqual(await book.refunds(orderId), []);
    await book.change(orderId, { from: ["charging"], to: "paid", lease: null });
    const others = [1, 1].map(newRefund);
    const begun = await Promise.all([first, ...others].map((refund) => begin(refund)));
    assert.equal(begun.filter(Boolean).length, 1);
    const [written] = await book.refunds(orderId);
    assert.ok(written);
    const wanted = [first, ...others].find(({ id }) => id === written.id);
    assert.deepEqual(written, { ...wanted, orderId, createdAt: written.createdAt, doneAt: null });
    assert.ok(Math.abs(Date.now() - written.createdAt.getTime()) < 10 * MINUTE_MS);
    const done = { from: ["refunding"], to: "paid", isRefundDone: true } as const;
    assert.equal(await book.change(orderId, { ...done, owner: "other" }), null);
    assert.equal((await book.refunds(orderId))[0]?.doneAt, null);
    assert.equal((await book.change(orderId, { ...done, owner: "shop", lease: null }))?.state, "paid");
    const [ended] = await book.refunds(orderId);
    assert.ok(ended?.doneAt);
    // Planned before the first one was done, or with an existing id: the state is unchanged.
    assert.equal(await begin(newRefund(1)), null);
    assert.equal(await begin({ ...second, id: written.id }), null);
    assert.equal((await book.read(orderId))?.state, "paid");
    const amount = { ...second, lines: null, references: [], remainderCents: 3499 };
    assert.equal((await begin(amount))?.state, "refunding");
    assert.deepEqual(
      (await book.refunds(orderId)).map(({ number, lines, doneAt }) => [number, lines, doneAt === null]),
      [
        [1, { ticket: 1 }, false],
        [2, null, true],
      ],
    );
    assert.deepEqual((await book.refunds(orderId))[0], ended);
    const other = await book.begin(newOrder(), leaseOf("commit"));
    assert.deepEqual(await book.refunds(other.orderId), []);
    // Ids are unique only within an order.
    const sameId = { ...newRefund(1), id: written.id };
    const begunToo = await book.change(other.orderId, {
      from: ["charging"],
      to: "refunding",
      refund: sameId,
    });
    assert.equal(begunToo?.state, "refunding");
    assert.deepEqual(
      (await book.refunds(other.orderId)).map(({ id }) => id),
      [written.id],
    );
  });

  must("refuse a refund of 0, or whose remainder part is larger than the refund", async (book) => {
    const { orderId } = await book.begin(newOrder(), leaseOf("commit"));
    const begin = (wrong: Partial<NewRefund>) =>
      book.change(orderId, { from: ["charging"], to: "refunding", refund: { ...newRefund(1), ...wrong } });
    for (const wrong of [{ amountCents: 0 }, { remainderCents: -1 }, { remainderCents: 3500 }, { number: 0 }])
      await assert.rejects(begin(wrong), JSON.stringify(wrong));
    assert.deepEqual([(await book.read(orderId))?.state, await book.refunds(orderId)], ["charging", []]);
  });

  must("return the longest overdue first, up to the limit", async (book) => {
    const orders = [newOrder(), newOrder(), newOrder()];
    for (const [index, order] of orders.entries()) {
      await book.begin(order, leaseOf("commit"));
      const retryInMs = -MINUTE_MS * (index + 1);
      await book.change(order.orderId, { from: ["charging"], to: "pending", lease: null, retryInMs });
    }
    const claimed: string[] = [];
    for (;;) {
      const given = await book.claim(leaseOf("x"), 1);
      assert.ok(given.length <= 1, `${given.length} given for a limit of 1`);
      if (!given[0]) break;
      claimed.push(given[0].orderId);
    }
    const ids = orders.map((order) => order.orderId);
    assert.deepEqual(
      claimed.filter((id) => ids.includes(id)),
      ids.reverse(),
    );
  });

  must("return only the purchase of the given order", async (book) => {
    const [due, wanted] = [newOrder(), newOrder()];
    for (const { orderId } of [await book.begin(due, leaseOf("x")), await book.begin(wanted, leaseOf("x"))]) {
      const change = { from: ["charging"], to: "voiding", lease: null } as const;
      await book.change(orderId, { ...change, retryInMs: orderId === due.orderId ? -MINUTE_MS : 0 });
    }
    const given = await book.claim(leaseOf("y"), 9, wanted.orderId);
    assert.deepEqual(
      given.map(({ orderId }) => orderId),
      [wanted.orderId],
    );
    assert.deepEqual(await book.claim(leaseOf("y"), 9, `order_${randomUUID()}`), []);
  });

  must("list unsettled purchases in pages, the most attempts first", async (book) => {
    const orders = [newOrder(), newOrder(), newOrder()];
    const ids = orders.map((order) => order.orderId);
    for (const [index, order] of orders.entries()) {
      await book.begin(order, leaseOf("commit"));
      const failed = { from: ["charging"], to: "charging", lastError: "status:down" } as const;
      for (let tries = 0; tries < 3 + index; tries++) await book.change(order.orderId, failed);
    }
    const all: string[] = [];
    for (let offset = 0; ; offset += 2) {
      const page = await book.list({ minTries: 3, limit: 2, offset });
      all.push(...page.purchases.map((purchase) => purchase.orderId));
      assert.equal((await book.list({ minTries: 3, limit: 0 })).count, page.count);
      if (all.length >= page.count) break;
    }
    assert.deepEqual(
      all.filter((id) => ids.includes(id)),
      [...ids].reverse(),
    );
    for (const id of ids) await book.change(id, { from: ["charging"], to: "paid", lastError: "none" });
    const open = await book.list({ limit: 1_000_000 });
    assert.ok(!open.purchases.some((purchase) => ids.includes(purchase.orderId)));
    assert.ok((await book.list({ states: ["paid"], limit: 0 })).count >= ids.length);
  });

  return cases;
}

/** The initial fields of a purchase. */
const untried = {
  earlierAttempts: [] as Attempt[],
  state: "charging",
  remainderData: null,
  tries: 0,
  lastError: null,
  lastActor: null,
  remainderSettledBy: null,
};

const attemptOf = ({ attemptId, cartId, totalCents, currency, remainderCents }: NewPurchase): Attempt => ({
  ...{ attemptId, cartId, totalCents, currency, remainderCents, remainderSettledBy: "grace" },
});

const leaseOf = (owner: string, forMs = MINUTE_MS): PurchaseLease => ({ owner, forMs });

const newOrder = (): NewPurchase => ({
  orderId: `order_${randomUUID()}`,
  cartId: `cart_${randomUUID()}`,
  attemptId: randomUUID(),
  totalCents: cents(7498),
  currency: "EUR",
  remainderCents: cents(2498),
  plan: "7498.card",
  lines: [
    { id: "ticket", quantity: 2, totalCents: cents(6998) },
    { id: "shipping", quantity: 1, totalCents: cents(500) },
  ],
});

/** Makes a refund of one ticket. */
const newRefund = (number: number): NewRefund => ({
  ...{ id: `refund_${randomUUID()}`, number, rule: "as-paid", lines: { ticket: 1 } },
  ...{ amountCents: 3499, remainderCents: 1249, references: ["gc_1", "gc_2"] },
});
