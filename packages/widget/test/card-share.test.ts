import { type Cents, createClient } from "@giftcard-pay/client";
import fc from "fast-check";
import type { ReactiveController } from "lit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createEngine } from "../../checkout/src/engine/create-engine.js";
import type { CartView } from "../../checkout/src/engine/engine.js";
import { createSealer } from "../../checkout/src/sealing/seal.js";
import { createSqliteStore } from "../../checkout/src/store/sqlite/store.js";
import { Calls } from "../src/calls.js";
import { CartCards } from "../src/cart-cards.js";
import type { Transport } from "../src/shop-api.js";

let store: Awaited<ReturnType<typeof createSqliteStore>>;
beforeAll(async () => {
  store = await createSqliteStore({ file: ":memory:" });
});
afterAll(() => store.close());

class Host extends EventTarget {
  readonly updateComplete = Promise.resolve(true);
  readonly endpoint = "/gift-cards";
  readonly publishableKey = "";
  readonly headers = {};
  transport: Transport | undefined;

  constructor(readonly cart: string) {
    super();
  }

  addController(_: ReactiveController): void {}
  removeController(_: ReactiveController): void {}
  requestUpdate(): void {}
}

const cents = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(1, 4999, 5000, 5001, 7498, 9999, 10_000));
const carts = fc.record({
  balances: fc.array(cents, { maxLength: 4 }),
  balanceCents: cents,
  totalCents: cents,
  notByCardShare: fc.constantFrom(0, 0, 0.3, 1),
});

let count = 0;

it("shows the same share of a quoted card as the checkout library charges, after any change of the cart", async () => {
  const engine = createEngine({
    // Never called: applied cards and shares are read from the journal.
    issuer: createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key", companyId: 1 }),
    environment: "sandbox",
    journal: store.journal,
    sealer: createSealer({ keys: [{ id: "test", key: Buffer.alloc(32, 7).toString("base64") }] }),
  });

  async function addQuote(cartId: string, balanceCents: number): Promise<string> {
    const id = `tender_${++count}`;
    const card = {
      lastFour: "6789",
      fingerprint: id,
      balanceCents: balanceCents as never,
      expiryDate: "",
      sealedCard: "sealed",
    };
    await store.journal.addQuote({ id, cartId, ...card }, 60_000);
    return id;
  }

  async function apply(cartId: string, balanceCents: number): Promise<void> {
    const limits = { quoteLifeMs: 60_000, maxCards: 5 };
    const id = await addQuote(cartId, balanceCents);
    expect(await store.journal.applyQuote(cartId, id, limits)).toBe("applied");
  }

  await fc.assert(
    fc.asyncProperty(carts, async ({ balances, balanceCents, totalCents, notByCardShare }) => {
      const id = `cart_${++count}`;
      const notByCardCents = Math.round(totalCents * notByCardShare);
      const cart: CartView = {
        id,
        totalCents: totalCents as Cents,
        notByCardCents: notByCardCents as Cents,
        currency: "EUR",
      };
      for (const balance of balances) await apply(id, balance);

      const host = new Host(id);
      host.transport = async () => Response.json(await engine.summary(cart));
      const shown = new CartCards(host, new Calls(host, () => {}));
      // The figures of a quote from before the change.
      const before = { usableCents: 1, limitedBy: "order", remainderCents: 1 } as const;
      shown.quote = { lastFour: "6789", balanceCents, expiryDate: "", ...before };
      await shown.load();

      await apply(id, balanceCents);
      const { cards, remainderCents } = await engine.summary(cart);
      const charged = cards.at(-1);
      const expected =
        charged?.amountCents === 0
          ? undefined
          : { usableCents: charged?.amountCents, limitedBy: charged?.limitedBy, remainderCents };
      const { usableCents, limitedBy, remainderCents: leftCents } = shown.quote ?? {};
      const seen = shown.quote && { usableCents, limitedBy, remainderCents: leftCents };
      expect(seen).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
