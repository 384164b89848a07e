import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { limits, type Must } from "./kit.js";
import { atAnyPace } from "./pace.js";

/** The cases for the cards of a cart. */
export function tenderCases(must: Must): void {
  must("apply a quote only once, before it expires, and on its own cart", async ({ journal, quote, newId }) => {
    const cart = newId("cart");
    const { id } = await quote(cart);
    assert.equal(await journal.applyQuote(newId("cart"), id, limits), "gone");
    assert.equal(await journal.applyQuote(cart, newId("tender"), limits), "gone");
    const results = await Promise.all([1, 2, 3].map(() => journal.applyQuote(cart, id, limits)));
    assert.deepEqual(results, ["applied", "applied", "applied"]);
    const late = await quote(cart);
    await sleep(50);
    assert.equal(await journal.applyQuote(cart, late.id, { ...limits, quoteLifeMs: 20 }), "gone");
    assert.deepEqual(
      (await journal.tenders(cart)).map((t) => [t.id, t.balanceCents, t.expiryDate]),
      [[id, 7500, "2027-05-31"]],
    );
  });

  must("have a card only once on a cart, and replace an expired one", ({ journal, quote, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const cart = newId("cart");
      const fingerprint = newId("fingerprint");
      const [first, second] = [
        await quote(cart, { fingerprint, lifeMs: ms(1500) }),
        await quote(cart, { fingerprint }),
      ];
      assert.equal(await journal.applyQuote(cart, first.id, limits), "applied");
      assert.equal(await journal.applyQuote(cart, second.id, limits), "duplicate");
      assert.equal(await journal.holdsCard(cart, fingerprint), true);
      await wait(1600);
      assert.equal(await journal.holdsCard(cart, fingerprint), false);
      assert.equal((await journal.tenders(cart))[0]?.expired, true);
      assert.equal(await journal.applyQuote(cart, second.id, limits), "applied");
      assert.deepEqual(
        (await journal.tenders(cart)).map((t) => t.id),
        [second.id],
      );
    }),
  );

  must("either charge or remove a card, if both are tried concurrently", async ({ journal, applied, begin }) => {
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

  must("remove only cards that are quoted or applied", async ({ journal, quote, applied, begin, newId }) => {
    const remove = ({ id, cartId }: { id: string; cartId: string }) => journal.removeTender(cartId, id);
    for (const tender of [await quote(newId("cart")), await applied()]) {
      assert.equal(await remove({ ...tender, cartId: newId("cart") }), "gone");
      assert.equal(await remove(tender), "removed");
      assert.equal((await journal.tender(tender.id))?.sealedCard, null);
      assert.equal(await remove(tender), "gone");
    }
    const charging = await applied();
    const charge = await begin(charging, "a");
    assert.equal(await remove(charging), "charging");
    await journal.move(charge?.reference ?? "", { from: ["intent"], to: "taken" });
    assert.equal(await remove(charging), "gone");
    assert.equal(await remove({ id: newId("tender"), cartId: newId("cart") }), "gone");
  });

  must("have no more cards on a cart than allowed, even if many are applied concurrently", async (kit) => {
    const { journal, quote, newId } = kit;
    const cart = newId("cart");
    const few = { ...limits, maxCards: 3 };
    const quotes = await Promise.all(Array.from({ length: 8 }, () => quote(cart)));
    const outcomes = await Promise.all(quotes.map(({ id }) => journal.applyQuote(cart, id, few)));
    assert.deepEqual(outcomes.toSorted(), [...Array(3).fill("applied"), ...Array(5).fill("full")]);
    const [first] = await journal.tenders(cart);
    await journal.removeTender(cart, first?.id ?? "");
    const last = quotes[outcomes.indexOf("full")]?.id ?? "";
    assert.equal(await journal.applyQuote(cart, last, few), "applied");
    assert.equal((await journal.tenders(cart)).length, 3);
  });

  must("apply no quote that was removed, or is being charged", async ({ journal, applied, begin }) => {
    const [removed, charging] = [await applied(), await applied()];
    await journal.removeTender(removed.cartId, removed.id);
    await begin(charging, "a");
    for (const { cartId, id } of [removed, charging])
      assert.equal(await journal.applyQuote(cartId, id, limits), "gone");
  });

  must("keep a card that is being charged although it has expired", ({ journal, quote, begin, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const [cartId, fingerprint] = [newId("cart"), newId("fingerprint")];
      const charged = await quote(cartId, { fingerprint, lifeMs: ms(1500) });
      assert.equal(await journal.applyQuote(cartId, charged.id, limits), "applied");
      assert.ok(await begin(charged, "a"));
      await wait(1600);
      const same = await quote(cartId, { fingerprint });
      assert.equal(await journal.applyQuote(cartId, same.id, limits), "duplicate");
      const { id } = await quote(cartId);
      assert.equal(await journal.applyQuote(cartId, id, { ...limits, maxCards: 1 }), "full");
    }),
  );

  must("not count an expired card", ({ journal, quote, applied, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const cartId = newId("cart");
      const one = { ...limits, maxCards: 1 };
      const late = await applied({ cartId, lifeMs: ms(500) });
      assert.equal((await journal.tender(late.id))?.expired, false);
      await wait(550);
      assert.equal((await journal.tender(late.id))?.expired, true);
      const { id } = await quote(cartId);
      assert.equal(await journal.applyQuote(cartId, id, one), "applied");
      assert.equal(await journal.applyQuote(cartId, (await quote(cartId)).id, one), "full");
    }),
  );

  must("leave an expired card on its cart, unless a quote takes its place", (kit) =>
    atAnyPace(async ({ ms, wait }) => {
      const { journal, quote, applied, newId } = kit;
      const [cartId, fingerprint] = [newId("cart"), newId("fingerprint")];
      const late = await applied({ cartId, fingerprint, lifeMs: ms(500) });
      const { id } = await quote(cartId, { fingerprint });
      await wait(550);
      const stateOf = async () => (await journal.tender(late.id))?.state;
      assert.equal(await journal.applyQuote(cartId, id, { ...limits, quoteLifeMs: ms(100) }), "gone");
      assert.equal(await journal.applyQuote(cartId, id, { ...limits, maxCards: 0 }), "full");
      assert.equal(await stateOf(), "applied");
      assert.equal(await journal.applyQuote(cartId, id, limits), "applied");
      assert.equal(await stateOf(), "removed");
    }),
  );

  must("restore a tender", async ({ journal, quote, newId }) => {
    const cart = newId("cart");
    const { id, fingerprint } = await quote(cart);
    const read = async () => {
      const tender = await journal.tender(id);
      assert.ok(tender);
      return tender;
    };
    const quoted = await read();
    await journal.applyQuote(cart, id, limits);
    const applied = await read();
    assert.equal(await journal.putBack(quoted, "applied", 5), true);
    assert.deepEqual(await read(), quoted);
    assert.equal(await journal.putBack(quoted, "applied", 5), false);
    assert.equal(await journal.applyQuote(cart, id, limits), "applied");
    assert.equal(await journal.removeTender(cart, id), "removed");
    assert.equal((await read()).sealedCard, null);
    assert.equal(await journal.putBack(applied, "removed", 5), true);
    assert.deepEqual(await read(), applied);
    await journal.removeTender(cart, id);
    await journal.applyQuote(cart, (await quote(cart)).id, limits);
    assert.equal(await journal.putBack(applied, "removed", 1), false);
    assert.equal(await journal.putBack(applied, "removed", 5), true);
    await journal.removeTender(cart, id);
    const again = await quote(cart, { fingerprint });
    assert.equal(await journal.applyQuote(cart, again.id, limits), "applied");
    assert.equal(await journal.putBack(applied, "removed", 5), false);
  });

  must("apply no quote whose card has expired", ({ journal, quote, newId }) =>
    atAnyPace(async ({ ms, wait }) => {
      const cart = newId("cart");
      const { id } = await quote(cart, { lifeMs: ms(500) });
      await wait(550);
      assert.equal(await journal.applyQuote(cart, id, limits), "gone");
    }),
  );

  must("delete expired sealed cards", ({ journal, applied }) =>
    atAnyPace(async ({ ms, wait }) => {
      const tender = await applied({ lifeMs: ms(500) });
      await wait(550);
      await journal.purge();
      assert.equal((await journal.tenders(tender.cartId))[0]?.sealedCard, null);
    }),
  );

  must("delete unused quotes, except those that were charged and put back", (kit) =>
    atAnyPace(async ({ ms, wait }) => {
      const { journal, quote, begin, newId } = kit;
      const cartId = newId("cart");
      const [idle, { id }] = [await quote(cartId, { lifeMs: ms(500) }), await quote(cartId, { lifeMs: ms(500) })];
      const quoted = await journal.tender(id);
      assert.ok(quoted);
      assert.equal(await journal.applyQuote(cartId, id, limits), "applied");
      const charge = await begin({ id, cartId }, "a");
      assert.ok(charge);
      await journal.move(charge.reference, {
        from: ["intent"],
        to: "refused",
        sealedCard: null,
        lease: null,
      });
      assert.equal(await journal.putBack(quoted, "applied", limits.maxCards), true);
      await wait(550);
      await journal.purge();
      assert.equal(await journal.tender(idle.id), null);
      assert.equal((await journal.tender(id))?.sealedCard, null);
      assert.equal((await journal.charge(charge.reference))?.tenderId, id);
    }),
  );
}
