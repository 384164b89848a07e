import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "@giftcard-pay/client";
import { createSealer } from "../src/sealing/seal.js";
import type { ChargeFilter, ChargeMatch, Move } from "../src/store/charge.js";
import type { Journal } from "../src/store/journal.js";
import { chargeCases } from "./charges.js";
import { type ConformanceCase, createKit, firstKey, MINUTE_MS, type Must, secondKey } from "./kit.js";
import { atAnyPace } from "./pace.js";
import { tenderCases } from "./tenders.js";

export { sameAnswers } from "./agreement.js";
export type { PlayedStore } from "./agreement-calls.js";
export { issuerConformance, type TestedIssuer } from "./issuer.js";
export type { ConformanceCase } from "./kit.js";
export { purchaseConformance } from "./purchases.js";

const newSealer = () => createSealer({ keys: [firstKey] });

/**
 * Returns the cases that every journal must pass, for the tests of a store of your own. The cases can share a journal, and
 * run in any order. Those about time wait for a second or two, so that slow machines pass them too.
 *
 * @param open returns the journal to test
 */
export function journalConformance(open: () => Journal | Promise<Journal>): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const must: Must = (name, run) => void cases.push({ name, run: async () => run(createKit(await open())) });

  tenderCases(must);
  chargeCases(must);
  must("list and count charges, and record decisions", async ({ journal, begun }) => {
    const { reference } = await begun("a");
    await journal.move(reference, {
      from: ["intent"],
      to: "needs_attention",
      reason: "outcome_unknown",
      lease: null,
    });
    const { charges, count } = await journal.list({ states: ["needs_attention"], limit: 1000 });
    assert.ok(charges.some((a) => a.reference === reference) && count >= 1);
    assert.ok(((await journal.countByState()).needs_attention ?? 0) >= 1);
    const settle: Move = { from: ["needs_attention"], to: "taken", lease: null };
    const by = { action: "mark_taken", actor: "ada" } as const;
    const results = await Promise.all([1, 2].map(() => journal.act(reference, settle, by)));
    assert.equal(results.filter(Boolean).length, 1);
    const [record, ...more] = await journal.actions(reference);
    assert.deepEqual([record?.actor, record?.fromState, record?.toState], ["ada", "needs_attention", "taken"]);
    assert.equal(more.length, 0);
    assert.deepEqual(
      (await journal.chargesOfCard(reference)).map((a) => a.reference),
      [reference],
    );
  });

  must("read each charge once in pages, while others are added and changed", async (kit) => {
    const { journal, begun, charged, newId } = kit;
    const orderId = newId("order");
    const mine: string[] = [];
    for (let i = 0; i < 7; i++) mine.push((await begun("a", undefined, orderId)).reference);
    const filter = { orderIds: [newId("order"), orderId], states: ["intent", "needs_attention"] } as const;
    const read: string[] = [];
    for (let after = ""; ; ) {
      const page = await journal.readPage(filter, after, 3);
      read.push(...page.map((charge) => charge.reference));
      if (page.length < 3) break;
      after = page.at(-1)?.reference ?? "";
      // A list with offsets would skip one now.
      const [reference] = read;
      await journal.move(reference ?? "", { from: ["intent"], to: "needs_attention", lease: null });
      await charged("b");
    }
    assert.deepEqual(read.toSorted(), mine.toSorted());
    assert.deepEqual(await journal.readPage({ orderIds: [newId("order")] }, "", 3), []);
  });

  must("find charges that took or returned money within a period, and of one service", async (kit) => {
    const { journal, begun, charged } = kit;
    const start = await journal.now();
    assert.ok(Math.abs(start.getTime() - Date.now()) < 10 * MINUTE_MS);
    const idle = await begun("a");
    const taken = await charged("a");
    await sleep(20);
    const between = await journal.now();
    await sleep(20);
    await journal.move(taken.reference, { from: ["devalued"], to: "reversed", lease: null });
    const end = new Date((await journal.now()).getTime() + 1);
    const found = async (from: Date, to: Date, filter: ChargeFilter = {}) => {
      const { charges } = await journal.list({ ...filter, moved: { from, to }, limit: 10_000 });
      return [idle, taken].map(({ reference }) => charges.some((a) => a.reference === reference));
    };
    assert.deepEqual(await found(start, between), [false, true]);
    assert.deepEqual(await found(between, end), [false, true]);
    assert.deepEqual(await found(end, new Date(end.getTime() + MINUTE_MS)), [false, false]);
    assert.deepEqual(await found(start, end, { environment: "live" }), [false, false]);
    assert.deepEqual(await found(start, end, { companyId: 2 }), [false, false]);
    assert.deepEqual(await found(start, end, { environment: "sandbox", companyId: 1 }), [false, true]);
    const tender = await journal.tender(taken.tenderId);
    assert.equal(tender?.cartId, taken.cartId);
    assert.equal(await journal.tender(taken.reference), null);
  });

  must("find charges by card, order, cart, amount and payment, and sort them by time", async (kit) => {
    const { journal, applied, begun, beginPayment, newId } = kit;
    const orderId = newId("order");
    const whole = await begun("a", undefined, orderId);
    const tender = await applied();
    const parts = await beginPayment(tender, "a", [651, 77]);
    const all = [whole, ...parts].map(({ reference }) => reference);
    const found = async (anyOf: ChargeMatch, sort?: "newest" | "oldest") => {
      const { charges, count } = await journal.list({ anyOf, limit: 10_000, ...(sort && { sort }) });
      assert.equal(charges.length, count);
      return charges.map(({ reference }) => reference).filter((reference) => all.includes(reference));
    };
    const references = parts.map(({ reference }) => reference);
    assert.deepEqual(await found({ orderIds: [orderId] }), [whole.reference]);
    assert.deepEqual(await found({ reference: whole.reference, cartIds: [newId("cart")] }), [whole.reference]);
    assert.deepEqual((await found({ cartIds: [tender.cartId] })).toSorted(), references.toSorted());
    assert.deepEqual(await found({ amountCents: 77 }), references.slice(1));
    assert.deepEqual((await found({ amountCents: 728 })).toSorted(), references.toSorted());
    assert.deepEqual(await found({ amountCents: 729 }), []);
    assert.deepEqual(await found({}), []);
    const parted = await journal.list({ anyOf: { amountCents: 77 }, byPayment: true, limit: 1, sort: "oldest" });
    assert.equal(parted.count, 1);
    assert.deepEqual(
      parted.charges.map(({ reference }) => reference),
      references,
    );
    const oldest = await found({ lastFour: whole.lastFour }, "oldest");
    assert.deepEqual(oldest.toSorted(), all.toSorted());
    assert.equal(oldest[0], whole.reference);
    assert.deepEqual(await found({ lastFour: whole.lastFour }, "newest"), oldest.toReversed());
  });

  must("store when a charge reached its state, but not when a retry failed", (kit) =>
    atAnyPace(async ({ wait }) => {
      const { journal, charged } = kit;
      const { reference, createdAt } = await charged("a");
      await wait(50);
      const owed = await journal.move(reference, { from: ["devalued"], to: "reversing", lease: null });
      assert.ok(owed && owed.stateChangedAt > createdAt);
      await wait(50);
      const tried = await journal.move(reference, { from: ["reversing"], to: "reversing", lastError: "timeout" });
      assert.deepEqual(tried?.stateChangedAt, owed.stateChangedAt);
    }),
  );

  must("return a charge's order as soon as it is known, and its lease", async (kit) => {
    const { journal, begun, newId } = kit;
    const orderId = newId("order");
    const early = await begun("a", undefined, orderId);
    assert.equal((await journal.charge(early.reference))?.orderId, orderId);
    const leftMs = (early.leaseUntil?.getTime() ?? 0) - (await journal.now()).getTime();
    assert.ok(leftMs > 0 && leftMs <= MINUTE_MS, `${leftMs}`);
    const late = await begun("a");
    assert.equal(late.orderId, null);
    const freed = await journal.move(late.reference, { from: ["intent"], to: "refused", lease: null });
    assert.equal(freed?.leaseUntil, null);
  });

  must("count guesses exactly, and reset them when their window ends", ({ journal, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const limits = [{ key: newId("guess"), max: 3 }];
      const waits = await Promise.all(Array.from({ length: 10 }, () => journal.takeGuess(limits, MINUTE_MS)));
      assert.equal(waits.filter((seconds) => seconds === 0).length, 3);
      assert.ok(waits.every((seconds) => seconds <= 60));
      for (let i = 0; i < 8; i++) await journal.returnGuess(limits);
      assert.equal(await journal.takeGuess(limits, MINUTE_MS), 0);
      const short = [{ key: newId("guess"), max: 1 }];
      assert.equal(await journal.takeGuess(short, ms(800)), 0);
      const left = await journal.takeGuess(short, ms(800));
      assert.ok(left >= 1 && left <= Math.ceil(ms(800) / 1000));
      await wait(900);
      assert.equal(await journal.takeGuess(short, ms(800)), 0);
    }),
  );

  must("store one secret for each name", async ({ journal, newId }) => {
    const name = newId("secret");
    const sealed = await Promise.all(
      Array.from({ length: 5 }, () => newSealer().sealSecret(new Secret(newId("value")), name)),
    );
    const kept = await Promise.all(sealed.map((one) => journal.keepSecret(name, one)));
    assert.ok(sealed.includes(kept[0] ?? ""));
    assert.equal(new Set(kept).size, 1);
    const value = (await journal.sealedUnderOther(secondKey.id, 10_000)).find((v) => v.id === name);
    assert.deepEqual([value?.table, value?.column, value?.sealed], ["giftcard_secret", "sealed", kept[0]]);
    assert.ok(value);
    const other = await newSealer().sealSecret(new Secret("other"), name);
    assert.equal(await journal.replaceSealed(value, other), true);
    assert.equal(await journal.keepSecret(name, sealed[0] ?? ""), other);
  });

  must("find values that are sealed under an old key, and replace them", async ({ journal, charged }) => {
    const { reference } = await charged("a");
    const sealer = createSealer({ keys: [secondKey, firstKey] });
    assert.ok(((await journal.sealCounts())[firstKey.id] ?? 0) >= 1);
    const value = (await journal.sealedUnderOther(secondKey.id, 10_000)).find((v) => v.id === reference);
    assert.ok(value);
    assert.equal(value.column, "sealed_token");
    const sealed = await sealer.reseal(value.sealed);
    assert.equal(await journal.replaceSealed(value, sealed), true);
    assert.equal(await journal.replaceSealed(value, sealed), false);
    assert.equal((await journal.charge(reference))?.sealedToken, sealed);
  });

  return cases;
}
