import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import type { Charge } from "../src/store/index.js";
import { beginCharge, newCart, type Shop, startShop } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

for (const [name, open] of Object.entries(stores)) {
  describe(`a purge on ${name}`, () => {
    let store: TestStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const HOUR_MS = 60 * 60_000;
    const ago = (hours: number) =>
      name === "SQLite" ? String(Date.now() - hours * HOUR_MS) : `now() - interval '${hours} hours'`;
    const engine = () => shop.engine({ journal: store.journal });

    it("deletes quotes whose card can't be charged any more", async () => {
      const cart = newCart(5000);
      const late = await engine().quote(cart, await shop.card(1000));
      const inTime = await engine().quote(cart, await shop.card(1000));
      await store.sql(`update giftcard_tender set expires_at = ${ago(1)} where id = '${late.quoteId}'`);
      await engine().recover();
      expect(await store.journal.tender(late.quoteId)).toBeNull();
      expect(await store.journal.tender(inTime.quoteId)).toMatchObject({
        ...{ state: "quoted", sealedCard: expect.any(String) },
      });
    });

    it("removes a card from a cart that was left a month ago, and not before", async () => {
      for (const [days, states] of Object.entries({ 29: ["applied"], 31: [] })) {
        const cart = newCart(5000);
        await engine().apply(cart, await shop.card(1000));
        await store.sql(
          `update giftcard_tender set expires_at = ${ago(24 * Number(days))} where cart_id = '${cart.id}'`,
        );
        await engine().recover();
        expect((await store.journal.tenders(cart.id)).map((tender) => tender.state)).toEqual(states);
      }
    });

    it("deletes the card of a charge after a day, and not before", async () => {
      for (const hours of [23, 25]) {
        const owner = randomUUID();
        const { reference } = await beginCharge(engine(), newCart(1000), await shop.card(1000), owner);
        const set = `created_at = ${ago(hours)}`;
        await store.sql(`update giftcard_charge set ${set} where reference = '${reference}'`);
        await engine().recover();
        expect((await store.journal.charge(reference))?.sealedCard).toEqual(hours === 23 ? expect.any(String) : null);
      }
    });

    // The statement is for PostgreSQL.
    it.runIf(name === "PostgreSQL")("erases old fingerprints by docs/privacy.md, and still refunds", async () => {
      const own = engine();
      const card = await shop.card(1000);
      const [settled, open, recent] = [newCart(500), newCart(300), newCart(200)];
      const charges = new Map<string, Charge>();
      for (const cart of [settled, open, recent]) {
        const charge = await beginCharge(own, cart, card);
        charges.set(cart.id, charge);
        await own.devalue(charge.reference);
        await own.commit(charge.reference, "completion", `order_${cart.id}`);
        if (cart !== open) await own.capture(charge.externalId);
        if (cart !== recent)
          await store.sql(`update giftcard_tender set updated_at = ${ago(24 * 366)} where id = '${charge.tenderId}'`);
      }
      const cartsOfCard = async (cart: { id: string }) => {
        const ofCard = await store.journal.chargesOfCard(String(charges.get(cart.id)?.reference));
        return ofCard.map((charge) => charge.cartId).sort();
      };
      expect(await cartsOfCard(settled)).toEqual([settled.id, open.id, recent.id].sort());
      await store.sql(await readBlock("docs/privacy.md", "erase-fingerprints.sql"));
      expect(await cartsOfCard(settled)).toEqual([settled.id]);
      expect(await cartsOfCard(open)).toEqual([open.id, recent.id].sort());
      const refunded = { id: "refund_1", amountCents: 500 };
      await own.refund(String(charges.get(settled.id)?.externalId), refunded);
      expect(await card.balanceCents()).toBe(500);
    });
  });
}
