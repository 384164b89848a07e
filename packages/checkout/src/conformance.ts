import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createKit, firstKey, type Kit, secondKey } from "./conformance-kit.js";
import type { Attempt, AttemptFilter, Journal, Move } from "./journal.js";
import { createSealer } from "./seal.js";

export { purchaseConformance } from "./purchase-conformance.js";

/** One thing that a store must do. */
export interface ConformanceCase {
  readonly name: string;
  /** Tries it; throws an AssertionError where the store doesn't do it. */
  readonly run: () => Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * What every journal must do, for the tests of a store of your own. The cases may share one journal, and run in any
 * order; those about time wait for a second or two, so that a slow machine does no harm.
 *
 * @param open gives the journal to be tried
 */
export function journalConformance(open: () => Journal | Promise<Journal>): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const must = (name: string, run: (kit: Kit) => Promise<void>) =>
    cases.push({ name, run: async () => run(createKit(await open())) });

  must("apply a quote once, in time, and on its own cart", async ({ journal, quote, newId }) => {
    const cart = newId("cart");
    const { id } = await quote(cart);
    assert.equal(await journal.applyQuote(newId("cart"), id, MINUTE_MS), "gone");
    assert.equal(await journal.applyQuote(cart, newId("tender"), MINUTE_MS), "gone");
    const results = await Promise.all([1, 2, 3].map(() => journal.applyQuote(cart, id, MINUTE_MS)));
    assert.deepEqual(results, ["applied", "applied", "applied"]);
    const late = await quote(cart);
    await sleep(50);
    assert.equal(await journal.applyQuote(cart, late.id, 20), "gone");
    assert.deepEqual(
      (await journal.tenders(cart)).map((t) => t.id),
      [id],
    );
  });

  must("hold a card once per cart, and let an expired one give way", async ({ journal, quote, newId }) => {
    const cart = newId("cart");
    const fingerprint = newId("fingerprint");
    const [first, second] = [
      await quote(cart, { fingerprint, lifeMs: 1500 }),
      await quote(cart, { fingerprint }),
    ];
    assert.equal(await journal.applyQuote(cart, first.id, MINUTE_MS), "applied");
    assert.equal(await journal.applyQuote(cart, second.id, MINUTE_MS), "duplicate");
    assert.equal(await journal.holdsCard(cart, ["other", fingerprint]), true);
    await sleep(1600);
    assert.equal(await journal.holdsCard(cart, [fingerprint]), false);
    assert.equal((await journal.tenders(cart))[0]?.expired, true);
    assert.equal(await journal.applyQuote(cart, second.id, MINUTE_MS), "applied");
    assert.deepEqual(
      (await journal.tenders(cart)).map((t) => t.id),
      [second.id],
    );
  });

  must("decide between charging and removing a card", async ({ journal, applied, begin }) => {
    for (let round = 0; round < 5; round++) {
      const tender = await applied();
      const [one, two, removed] = await Promise.all([
        begin(tender, "a"),
        begin(tender, "b"),
        journal.removeTender(tender.cartId, tender.id),
      ]);
      assert.equal([one, two, removed === "removed" || null].filter((won) => won !== null).length, 1);
    }
  });

  must(
    "begin no attempt on an expired card, or under a payment that was used",
    async ({ applied, begin, journal }) => {
      const short = await applied({ lifeMs: 500 });
      await sleep(550);
      assert.equal(await begin(short, "a"), null);
      const [first, second] = [await applied(), await applied()];
      const attempt = await begin(first, "a");
      assert.ok(attempt);
      assert.equal(await begin(second, "a", attempt.externalId), null);
      assert.equal((await journal.tenders(second.cartId))[0]?.state, "applied");
      assert.equal((await journal.attemptByExternalId(attempt.externalId))?.reference, attempt.reference);
    },
  );

  must("change a state by compare-and-set, once among many", async ({ journal, begun }) => {
    const { reference } = await begun("a");
    const send: Move = { from: ["intent"], to: "sent", owner: "a" };
    assert.equal(await journal.move(reference, { ...send, owner: "b" }), null);
    const results = await Promise.all(Array.from({ length: 8 }, () => journal.move(reference, send)));
    assert.equal(results.filter(Boolean).length, 1);
    assert.ok((await journal.attempt(reference))?.sentAt);
    assert.equal(await journal.move("gc_unknown", send), null);
  });

  must("let the tender follow its attempt", async ({ journal, begun, charged }) => {
    const states = async (attempt: Attempt) => (await journal.tenders(attempt.cartId)).map((t) => t.state);
    const refused = await begun("a");
    assert.deepEqual(await states(refused), ["charging"]);
    await journal.move(refused.reference, { from: ["intent"], to: "refused", sealedCard: null });
    assert.deepEqual(await states(refused), ["applied"]);
    const bought = await charged("a");
    await journal.move(bought.reference, {
      from: ["devalued"],
      to: "committed",
      orderId: "order-1",
      lease: null,
    });
    assert.deepEqual(await states(bought), []);
    const less = await charged("a", 900);
    await journal.move(less.reference, { from: ["devalued"], to: "reversed" });
    assert.equal((await journal.tenders(less.cartId))[0]?.balanceCents, 900);
  });

  must("keep a token, and refuse a charge without one", async ({ journal, begun }) => {
    const { reference } = await begun("a");
    await assert.rejects(journal.move(reference, { from: ["intent"], to: "devalued" }));
    assert.equal((await journal.attempt(reference))?.state, "intent");
  });

  must("lease an attempt to one at a time, by the store's clock", async ({ journal, begun, newId }) => {
    const owner = newId("owner");
    const { reference, cartId } = await begun(owner, 500);
    assert.deepEqual(await journal.claim({ owner: "b", forMs: MINUTE_MS }, 9, cartId), []);
    assert.equal(await journal.renew(owner, 1500), 1);
    await sleep(700);
    assert.deepEqual(await journal.claim({ owner: "b", forMs: MINUTE_MS }, 9, cartId), []);
    await sleep(1000);
    const claims = await Promise.all(
      ["b", "c", "d"].map((owner) => journal.claim({ owner, forMs: MINUTE_MS }, 9, cartId)),
    );
    assert.deepEqual(
      claims.flat().map((a) => a.reference),
      [reference],
    );
    assert.equal(await journal.renew(owner, MINUTE_MS), 0);
  });

  must("come back no sooner than it is told, unless the cart asks", async ({ journal, begun }) => {
    const { reference, cartId } = await begun("a");
    await journal.move(reference, { from: ["intent"], to: "unknown", lease: null, retryInMs: MINUTE_MS });
    const due = await journal.claim({ owner: "b", forMs: 1 }, 1000);
    assert.ok(!due.some((a) => a.reference === reference));
    assert.equal((await journal.attempt(reference))?.tries, 1);
    assert.equal((await journal.claim({ owner: "b", forMs: 1 }, 9, cartId)).length, 1);
  });

  must("list and count, and write down what people did", async ({ journal, begun }) => {
    const { reference } = await begun("a");
    await journal.move(reference, {
      from: ["intent"],
      to: "needs_attention",
      reason: "outcome_unknown",
      lease: null,
    });
    const { attempts, count } = await journal.list({ states: ["needs_attention"], limit: 1000 });
    assert.ok(attempts.some((a) => a.reference === reference) && count >= 1);
    assert.ok(((await journal.countByState()).needs_attention ?? 0) >= 1);
    const settle: Move = { from: ["needs_attention"], to: "taken", lease: null };
    const by = { action: "mark_taken", actor: "ada" } as const;
    const results = await Promise.all([1, 2].map(() => journal.act(reference, settle, by)));
    assert.equal(results.filter(Boolean).length, 1);
    const [record, ...more] = await journal.actions(reference);
    assert.deepEqual(
      [record?.actor, record?.fromState, record?.toState],
      ["ada", "needs_attention", "taken"],
    );
    assert.equal(more.length, 0);
    assert.deepEqual(
      (await journal.attemptsOfCard(reference)).map((a) => a.reference),
      [reference],
    );
  });

  must("read each attempt once, page by page, while others come and change", async (kit) => {
    const { journal, begun, charged, newId } = kit;
    const orderId = newId("order");
    const mine: string[] = [];
    for (let i = 0; i < 7; i++) mine.push((await begun("a", undefined, orderId)).reference);
    const filter = { orderIds: [newId("order"), orderId], states: ["intent", "needs_attention"] } as const;
    const read: string[] = [];
    for (let after = ""; ; ) {
      const page = await journal.readPage(filter, after, 3);
      read.push(...page.map((attempt) => attempt.reference));
      if (page.length < 3) break;
      after = page.at(-1)?.reference ?? "";
      // What a list that is cut by places would slip by.
      const [reference] = read;
      await journal.move(reference ?? "", { from: ["intent"], to: "needs_attention", lease: null });
      await charged("b");
    }
    assert.deepEqual(read.toSorted(), mine.toSorted());
    assert.deepEqual(await journal.readPage({ orderIds: [newId("order")] }, "", 3), []);
  });

  must("find what took money or gave it back within a time, and of one service", async (kit) => {
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
    const found = async (from: Date, to: Date, filter: AttemptFilter = {}) => {
      const { attempts } = await journal.list({ ...filter, moved: { from, to }, limit: 10_000 });
      return [idle, taken].map(({ reference }) => attempts.some((a) => a.reference === reference));
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

  must("say of which order an attempt is, as soon as it is told, and how long it is held", async (kit) => {
    const { journal, begun, newId } = kit;
    const orderId = newId("order");
    const early = await begun("a", undefined, orderId);
    assert.equal((await journal.attempt(early.reference))?.orderId, orderId);
    const leftMs = (early.leaseUntil?.getTime() ?? 0) - (await journal.now()).getTime();
    assert.ok(leftMs > 0 && leftMs <= MINUTE_MS, `${leftMs}`);
    const late = await begun("a");
    assert.equal(late.orderId, null);
    const freed = await journal.move(late.reference, { from: ["intent"], to: "refused", lease: null });
    assert.equal(freed?.leaseUntil, null);
  });

  must("count guesses exactly, and forget them when their window ends", async ({ journal, newId }) => {
    const limits = [{ key: newId("guess"), max: 3 }];
    const waits = await Promise.all(Array.from({ length: 10 }, () => journal.takeGuess(limits, MINUTE_MS)));
    assert.equal(waits.filter((seconds) => seconds === 0).length, 3);
    assert.ok(waits.every((seconds) => seconds <= 60));
    for (let i = 0; i < 8; i++) await journal.returnGuess(limits);
    assert.equal(await journal.takeGuess(limits, MINUTE_MS), 0);
    const short = [{ key: newId("guess"), max: 1 }];
    assert.equal(await journal.takeGuess(short, 800), 0);
    assert.equal(await journal.takeGuess(short, 800), 1);
    await sleep(900);
    assert.equal(await journal.takeGuess(short, 800), 0);
  });

  must("find what is sealed under an old key, and replace it", async ({ journal, charged }) => {
    const { reference } = await charged("a");
    const sealer = createSealer({ keys: [secondKey, firstKey] });
    assert.ok(((await journal.sealCounts())[firstKey.id] ?? 0) >= 1);
    const value = (await journal.sealedUnderOther(secondKey.id, 10_000)).find((v) => v.id === reference);
    assert.ok(value);
    assert.equal(value.column, "sealed_token");
    const sealed = await sealer.reseal(value.sealed);
    assert.equal(await journal.replaceSealed(value, sealed), true);
    assert.equal(await journal.replaceSealed(value, sealed), false);
    assert.equal((await journal.attempt(reference))?.sealedToken, sealed);
  });

  must("forget sealed cards whose time has run out", async ({ journal, applied }) => {
    const tender = await applied({ lifeMs: 500 });
    await sleep(550);
    await journal.purge();
    assert.equal((await journal.tenders(tender.cartId))[0]?.sealedCard, null);
  });

  return cases;
}
