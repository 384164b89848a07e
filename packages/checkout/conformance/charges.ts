import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { cents } from "@giftcard-pay/client";
import type { Charge, Move } from "../src/store/charge.js";
import { limits, MINUTE_MS, type Must } from "./kit.js";
import { atAnyPace } from "./pace.js";

/** The cases for payments of several charges. */
function paymentCases(must: Must): void {
  const committed = { from: ["devalued"], to: "committed", orderId: "order-1", lease: null } as const;
  const owed = { from: ["devalued", "committed"], to: "reversing" } as const;
  const back = { from: ["reversing"], to: "reversed", lease: null } as const;

  must("begin the charges of a payment together, in their order", async ({ journal, applied, beginPayment }) => {
    const tender = await applied();
    const charges = await beginPayment(tender, "a", [1000, 1000, 500]);
    assert.deepEqual(
      charges.map(({ position, amountCents, pieces }) => [position, amountCents, pieces]),
      [1000, 1000, 500].map((cents, index) => [index + 1, cents, [{ line: "ticket", unit: index + 1, cents }]]),
    );
    const [{ externalId } = charges[0] as Charge] = charges;
    assert.deepEqual(await journal.chargesOfPayment(externalId), charges);
    assert.deepEqual(await journal.chargesOfCart(tender.cartId), charges.toReversed());
    assert.deepEqual(await beginPayment(await applied(), "a", [700, 800], { externalId }), []);
    assert.deepEqual(await journal.chargesOfPayment(externalId), charges);
  });

  must("change all charges of a payment or none, even if one of them changes concurrently", async (kit) => {
    const { journal, applied, beginPayment, devalue } = kit;
    for (let round = 0; round < 5; round++) {
      const charges = await beginPayment(await applied(), "a", [1000, 900, 800]);
      await devalue(charges);
      const references = charges.map(({ reference }) => reference);
      const [, second] = references as [string, string];
      const [all, one] = await Promise.all([
        journal.moveAll(references, committed),
        journal.move(second, { from: ["devalued"], to: "reversing" }),
      ]);
      const states = (await journal.chargesOfPayment(charges[0]?.externalId ?? "")).map(({ state }) => state);
      assert.notEqual(all === null, one === null);
      const [each, its] = all ? ["committed", "committed"] : ["devalued", "reversing"];
      assert.deepEqual(states, [each, its, each]);
      if (all)
        assert.deepEqual(
          all.map(({ position }) => position),
          [1, 2, 3],
        );
    }
  });

  must("show a card as charging until all charges of its payment are settled", async (kit) => {
    const { journal, applied, beginPayment, begin, devalue } = kit;
    const tender = await applied();
    const charges = await beginPayment(tender, "a", [1000, 900, 800]);
    await devalue(charges);
    for (const { reference } of charges.toReversed()) {
      assert.equal((await journal.tenders(tender.cartId))[0]?.state, "charging");
      assert.equal((await journal.tender(tender.id))?.state, "charging");
      assert.equal(await journal.removeTender(tender.cartId, tender.id), "charging");
      assert.equal(await begin(tender, "b"), null);
      await journal.move(reference, owed);
      await journal.move(reference, back);
    }
    assert.equal((await journal.tenders(tender.cartId))[0]?.state, "applied");
    assert.ok(await begin(tender, "b"));
  });

  must("show the balance of a card that had less than its charges, once all are reversed", async (kit) => {
    const { journal, applied, beginPayment, devalue } = kit;
    const balanceOf = async (id: string) => (await journal.tender(id))?.balanceCents;
    const [short, empty] = [await applied(), await applied()];
    const ofShort = await beginPayment(short, "a", [1000, 900, 800]);
    await devalue(ofShort, 300);
    await journal.move(ofShort[2]?.reference ?? "", back);
    assert.equal(await balanceOf(short.id), 2400);
    const ofEmpty = await beginPayment(empty, "a", [1000, 900, 800]);
    await devalue(ofEmpty.slice(0, 2));
    const refused = { from: ["intent"], to: "refused", reason: "card_no_balance" } as const;
    await journal.move(ofEmpty[2]?.reference ?? "", refused);
    assert.equal(await balanceOf(empty.id), 1900);
    for (const { reference } of [...ofShort, ...ofEmpty]) {
      await journal.move(reference, owed);
      await journal.move(reference, back);
    }
    assert.deepEqual([await balanceOf(short.id), await balanceOf(empty.id)], [2400, 1900]);
  });

  must("put a card that several charges spent back on the cart", async (kit) => {
    const { journal, applied, beginPayment, devalue } = kit;
    const tender = await applied();
    const charges = await beginPayment(tender, "a", [1000, 900]);
    await devalue(charges);
    assert.equal(
      (
        await journal.moveAll(
          charges.map(({ reference }) => reference),
          committed,
        )
      )?.length,
      2,
    );
    assert.equal((await journal.tender(tender.id))?.state, "spent");
    for (const { reference } of charges) {
      await journal.move(reference, { ...owed, restore: limits });
      assert.equal((await journal.tender(tender.id))?.state, "charging");
      await journal.move(reference, back);
    }
    assert.equal((await journal.tender(tender.id))?.state, "applied");
  });

  must("store which refund has reversed a charge", async ({ journal, applied, beginPayment, devalue }) => {
    const [first, second] = (await beginPayment(await applied(), "a", [1000, 900])) as [Charge, Charge];
    await devalue([first, second]);
    const refunded = await journal.moveAll([second.reference], { ...owed, refundId: "refund-1" });
    assert.deepEqual(
      refunded?.map(({ refundId }) => refundId),
      ["refund-1"],
    );
    assert.equal((await journal.move(second.reference, back))?.refundId, "refund-1");
    assert.equal((await journal.charge(first.reference))?.refundId, null);
  });
}

/** The cases for charges, their tenders and their leases. */
export function chargeCases(must: Must): void {
  must("begin no charge of an expired card, or with the id of an earlier payment", ({ applied, begin, journal }) =>
    atAnyPace(async ({ ms, wait }) => {
      const short = await applied({ lifeMs: ms(500) });
      await wait(550);
      assert.equal(await begin(short, "a"), null);
      const [first, second] = [await applied(), await applied()];
      const charge = await begin(first, "a");
      assert.ok(charge);
      assert.equal(await begin(second, "a", charge.externalId), null);
      assert.equal((await journal.tenders(second.cartId))[0]?.state, "applied");
      assert.deepEqual(await journal.chargesOfPayment(charge.externalId), [charge]);
    }),
  );

  must("begin no charge of a card that has an open charge", async ({ journal, applied, begin }) => {
    const { id, cartId } = await applied();
    const before = await journal.tender(id);
    assert.ok(before);
    assert.ok(await begin({ id, cartId }, "a"));
    // The cart shows the card as applied again, while its charge is still open.
    assert.equal(await journal.putBack(before, "charging", limits.maxCards), true);
    assert.equal(await begin({ id, cartId }, "a"), null);
    assert.equal((await journal.tender(id))?.state, "charging");
    assert.equal((await journal.chargesOfCart(cartId)).length, 1);
  });

  paymentCases(must);

  must("keep a card's balance when its charge is committed, whatever its reason", async (kit) => {
    const { reference, tenderId } = await kit.charged("a");
    const before = await kit.journal.tender(tenderId);
    assert.notEqual(before?.balanceCents, 0);
    const commit = { from: ["devalued"], to: "committed", reason: "card_no_balance" } as const;
    assert.ok(await kit.journal.move(reference, commit));
    assert.equal((await kit.journal.tender(tenderId))?.balanceCents, before?.balanceCents);
  });

  must("change a state by compare-and-set, once among many", async ({ journal, begun }) => {
    const { reference } = await begun("a");
    const send: Move = { from: ["intent"], to: "sent", owner: "a" };
    assert.equal(await journal.move(reference, { ...send, owner: "b" }), null);
    const results = await Promise.all(Array.from({ length: 8 }, () => journal.move(reference, send)));
    assert.equal(results.filter(Boolean).length, 1);
    assert.ok((await journal.charge(reference))?.sentAt);
    assert.equal(await journal.move("gc_unknown", send), null);
  });

  must("change the tender with its charge", async ({ journal, begun, sent, taken, charged }) => {
    const states = async (charge: Charge) => (await journal.tenders(charge.cartId)).map((t) => t.state);
    const refused = await begun("a");
    assert.deepEqual(await states(refused), ["charging"]);
    await journal.move(refused.reference, { from: ["intent"], to: "refused", sealedCard: null });
    assert.deepEqual(await states(refused), ["applied"]);
    const bought = await charged("a");
    const commit = { from: ["devalued"], to: "committed", orderId: "order-1", lease: null } as const;
    assert.equal((await journal.move(bought.reference, commit))?.orderId, "order-1");
    assert.deepEqual(await states(bought), []);
    const less = await sent("a");
    const owed = { from: ["sent"], to: "reversing", ...(await taken(less.reference, 900)) } as const;
    await journal.move(less.reference, owed);
    await journal.move(less.reference, { from: ["reversing"], to: "reversed" });
    assert.equal((await journal.tenders(less.cartId))[0]?.balanceCents, 900);
  });

  must("keep a charge's sealed card until a change deletes it", async ({ journal, sent }) => {
    const { reference } = await sent("a");
    const unknown = await journal.move(reference, { from: ["sent"], to: "unknown", lease: null });
    assert.ok(unknown?.sealedCard);
    const forget = { from: ["unknown"], to: "refused", sealedCard: null } as const;
    assert.equal((await journal.move(reference, forget))?.sealedCard, null);
  });

  must("show the last known balance of a card", async ({ journal, begun, sent }) => {
    const empty = await begun("a");
    const none = { from: ["intent"], to: "refused", reason: "card_no_balance" } as const;
    await journal.move(empty.reference, none);
    const [tender] = await journal.tenders(empty.cartId);
    assert.deepEqual([tender?.state, tender?.balanceCents], ["applied", 0]);
    const { reference } = await sent("a");
    const ask = { from: ["sent"], to: "needs_attention" } as const;
    const asked = await journal.move(reference, { ...ask, balanceAfterCents: cents(6500) });
    assert.equal(asked?.balanceAfterCents, 6500);
    assert.ok(asked.balanceAfterAt);
    // Without a new balance, the last one is unchanged.
    const again = await journal.move(reference, { from: ["needs_attention"], to: "needs_attention" });
    assert.deepEqual([again?.balanceAfterCents, again?.balanceAfterAt], [6500, asked.balanceAfterAt]);
  });

  must("refuse a charge without a token, or of less than the requested amount", async ({ journal, sent, taken }) => {
    const { reference } = await sent("a");
    const devalue = { from: ["sent"], to: "devalued" } as const;
    await assert.rejects(journal.move(reference, devalue));
    await assert.rejects(journal.move(reference, { ...devalue, ...(await taken(reference, 999)) }));
    assert.equal((await journal.charge(reference))?.state, "sent");
    assert.ok(await journal.move(reference, { ...devalue, ...(await taken(reference)) }));
  });

  must("keep the sealed card of a spent tender until it is captured, or a person decides", async (kit) => {
    const { journal, charged } = kit;
    const commit = { from: ["devalued"], to: "committed", lease: null } as const;
    for (const end of ["captured", "taken"] as const) {
      const { reference, tenderId } = await charged("a");
      if (end === "captured") {
        await journal.move(reference, commit);
        assert.ok((await journal.tender(tenderId))?.sealedCard);
      }
      await journal.move(reference, { from: ["devalued", "committed"], to: end });
      const { state, sealedCard } = (await journal.tender(tenderId)) ?? {};
      assert.deepEqual([state, sealedCard], ["spent", null]);
    }
  });

  must("put a spent tender back on the cart, with its sealed card", async ({ journal, charged, begin, taken }) => {
    const { reference, tenderId, cartId } = await charged("a");
    await journal.move(reference, { from: ["devalued"], to: "committed", orderId: "order-1", lease: null });
    const voiding = { to: "reversing", orderId: null, restore: limits } as const;
    assert.equal((await journal.move(reference, { from: ["committed"], ...voiding }))?.orderId, null);
    assert.equal((await journal.tenders(cartId))[0]?.state, "charging");
    await journal.move(reference, { from: ["reversing"], to: "reversed", lease: null });
    assert.equal((await journal.tenders(cartId))[0]?.state, "applied");
    const again = await begin({ id: tenderId, cartId }, "b");
    assert.ok(again);
    // A late change of a charge doesn't change the tender if a later charge used it.
    const paid = { from: ["intent"], to: "committed", ...(await taken(again.reference)) } as const;
    assert.ok(await journal.move(again.reference, paid));
    assert.ok(await journal.move(reference, { from: ["reversed"], to: "reversed", restore: limits }));
    assert.deepEqual(await journal.tenders(cartId), []);
  });

  must("put a spent tender back on the cart although it has expired, unless an order was paid with it", (kit) =>
    atAnyPace(async ({ ms, wait }) => {
      const { journal, applied, charged } = kit;
      const lifeMs = ms(500);
      const dying = async () => charged("a", await applied({ lifeMs }));
      const [voided, captured, taken] = [await dying(), await dying(), await dying()];
      const commit = { from: ["devalued"], to: "committed", lease: null } as const;
      for (const { reference } of [voided, captured]) await journal.move(reference, commit);
      await journal.move(captured.reference, { from: ["committed"], to: "captured" });
      await journal.move(taken.reference, { from: ["devalued"], to: "taken", lease: null });
      await wait(550);
      await journal.purge();
      await journal.move(voided.reference, { from: ["committed"], to: "reversed", restore: limits });
      const [tender] = await journal.tenders(voided.cartId);
      assert.deepEqual([tender?.state, tender?.expired, tender?.sealedCard], ["applied", true, null]);
      for (const [to, { reference, tenderId }] of Object.entries({ captured, taken })) {
        const stays = to as "captured" | "taken";
        await journal.move(reference, { from: [stays], to: stays, restore: limits });
        assert.equal((await journal.tender(tenderId))?.state, "spent", to);
      }
    }),
  );

  must("not put back a card that was removed from the cart", (kit) =>
    atAnyPace(async ({ ms, wait }) => {
      const { journal, applied, begin } = kit;
      const tender = await applied({ lifeMs: ms(500) });
      const charge = await begin(tender, "a");
      assert.ok(charge);
      await journal.move(charge.reference, { from: ["intent"], to: "refused", lease: null });
      assert.equal(await journal.removeTender(tender.cartId, tender.id), "removed");
      await wait(550);
      await journal.move(charge.reference, { from: ["refused"], to: "refused", restore: limits });
      assert.equal((await journal.tender(tender.id))?.state, "removed");
    }),
  );

  must("keep the time at which a state was first reached", async ({ journal, charged }) => {
    const { reference } = await charged("a");
    const reversed = await journal.move(reference, { from: ["devalued"], to: "reversed" });
    assert.ok(reversed?.devaluedAt && reversed.reversedAt);
    await sleep(20);
    const again = await journal.move(reference, { from: ["reversed"], to: "reversed", restore: limits });
    assert.deepEqual(again?.reversedAt, reversed.reversedAt);
  });

  must("write a reversal even if its tender can't be put back", async (kit) => {
    const { journal, quote, applied, charged, newId } = kit;
    const commit = { from: ["devalued"], to: "committed", lease: null } as const;
    const voiding = { from: ["committed"], to: "reversed" } as const;
    for (const stands of ["same card", "full cart", "no card", "nothing"] as const) {
      const fingerprint = newId("fingerprint");
      const { reference, tenderId, cartId } = await charged("a", await applied({ fingerprint }));
      await journal.move(reference, commit);
      if (stands === "no card") await journal.move(reference, { from: ["committed"], to: "captured" });
      else {
        const other = stands === "same card" ? { fingerprint } : {};
        const { id } = await quote(cartId, other);
        assert.equal(await journal.applyQuote(cartId, id, limits), "applied");
      }
      const restore = { maxCards: stands === "full cart" ? 1 : 5 };
      assert.ok(await journal.move(reference, { ...voiding, from: ["committed", "captured"], restore }), stands);
      const state = stands === "nothing" ? "applied" : "spent";
      assert.equal((await journal.tender(tenderId))?.state, state, stands);
    }
    const all = Array.from({ length: 4 }, async () => {
      const fingerprint = newId("fingerprint");
      const { reference, cartId } = await charged("a", await applied({ fingerprint }));
      await journal.move(reference, commit);
      const { id } = await quote(cartId, { fingerprint });
      const [voided, outcome] = await Promise.all([
        journal.move(reference, { ...voiding, restore: limits }),
        journal.applyQuote(cartId, id, limits),
      ]);
      assert.ok(voided);
      assert.ok(outcome === "applied" || outcome === "duplicate", outcome);
      assert.equal((await journal.tenders(cartId)).length, 1);
    });
    await Promise.all(all);
  });

  must("lease a charge to one owner at a time, by the store's clock", ({ journal, begun, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const owner = newId("owner");
      const { reference, cartId } = await begun(owner, ms(500));
      const claim = (owner: string) => journal.claim(reference, { owner, forMs: MINUTE_MS });
      assert.equal(await claim("b"), null);
      assert.equal(await journal.nextDue("", cartId), null);
      assert.equal(await journal.renew(owner, ms(1500)), 1);
      await wait(700);
      assert.equal(await claim("b"), null);
      await wait(1000);
      assert.equal((await journal.nextDue("", cartId))?.reference, reference);
      assert.equal((await journal.charge(reference))?.leaseOwner, owner);
      const claims = await Promise.all(["b", "c", "d"].map(claim));
      assert.equal(claims.filter(Boolean).length, 1);
      assert.equal((await journal.charge(reference))?.leaseOwner, claims.find(Boolean)?.leaseOwner);
      assert.equal(await journal.renew(owner, MINUTE_MS), 0);
      assert.equal(await journal.nextDue("", cartId), null);
    }),
  );

  must("renew a lease that has run out, unless another owner has taken it", async ({ journal, begun, newId }) => {
    const owner = newId("owner");
    const { reference } = await begun(owner, 1);
    await sleep(50);
    assert.equal(await journal.renew(owner, MINUTE_MS), 1);
    assert.equal(await journal.claim(reference, { owner: "b", forMs: MINUTE_MS }), null);
  });

  must("lease a charge only in the given states, and release it only for its owner", async (kit) => {
    const { journal, charged } = kit;
    const { reference } = await charged("a");
    await journal.move(reference, { from: ["devalued"], to: "committed", lease: null });
    const claim = (owner: string) => journal.claim(reference, { owner, forMs: MINUTE_MS }, ["committed"]);
    assert.equal((await claim("b"))?.leaseOwner, "b");
    assert.equal(await claim("c"), null);
    await journal.release(reference, "c");
    assert.equal(await claim("c"), null);
    await journal.release(reference, "b");
    assert.equal((await journal.charge(reference))?.leaseUntil, null);
    assert.equal((await claim("c"))?.leaseOwner, "c");
  });

  must("claim no charge that is settled, or belongs to an order", async ({ journal, begun, charged }) => {
    const lease = { owner: "b", forMs: MINUTE_MS };
    const refused = await begun("a");
    await journal.move(refused.reference, { from: ["intent"], to: "refused", lease: null });
    const committed = await charged("a");
    await journal.move(committed.reference, { from: ["devalued"], to: "committed", lease: null });
    for (const { reference, cartId } of [refused, committed]) {
      assert.equal(await journal.claim(reference, lease), null);
      assert.equal(await journal.nextDue("", cartId), null);
    }
  });

  must("visit each due charge once, and not before its next attempt", async ({ journal, begun }) => {
    const mine = [await begun("a"), await begun("a"), await begun("a")];
    const lease = null;
    for (const { reference } of mine) await journal.move(reference, { from: ["intent"], to: "unknown", lease });
    const [{ reference, cartId } = mine[0] as Charge, ...others] = mine;
    const failed = { retryInMs: MINUTE_MS, lastError: "timeout" };
    await journal.move(reference, { from: ["unknown"], to: "unknown", lease, ...failed });
    const due: string[] = [];
    for (let next = await journal.nextDue(""); next; next = await journal.nextDue(next.reference))
      due.push(next.reference);
    assert.deepEqual(
      due.filter((one) => mine.some((charge) => charge.reference === one)),
      others.map((charge) => charge.reference).toSorted(),
    );
    // A completion of the same cart doesn't wait.
    assert.equal((await journal.nextDue("", cartId))?.reference, reference);
    const held = await journal.move(reference, { from: ["unknown"], to: "unknown", lease });
    assert.deepEqual([held?.tries, held?.lastError], [1, "timeout"]);
    const ended = await journal.move(reference, { from: ["unknown"], to: "refused", lease });
    assert.deepEqual([ended?.tries, ended?.lastError], [1, null]);
  });
}
