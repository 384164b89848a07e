import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { networkOf, publicAddress } from "../src/engine/addresses.js";
import { type Checkout, createCheckout, createHandler } from "../src/index.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });
/** Returns a new number each time, because the service locks cards after wrong guesses. */
const wrong = () => ({ cardNumber: `60643663${randomInt(1e10, 9e10)}`, pin: "0000" });

let shop: Shop;
let store: TestStore;
let checkout: Checkout;
beforeAll(async () => {
  shop = await startShop();
  store = (await stores.SQLite?.()) as TestStore;
  const guessLimits = { perCart: 10, perAddress: 5, perShop: 20 };
  checkout = createCheckout({ issuer: shop.client, environment: "sandbox", store, sealingKeys, guessLimits });
});
afterAll(async () => {
  await store.close();
  await shop.stop();
});

describe("an attacker who guesses cards", () => {
  it("without a cart or an address is refused, and uses up no limit", async () => {
    const handler = createHandler(checkout, { cartOf: () => null });
    const headers = { "content-type": "application/json" };
    for (let time = 0; time < 30; time++) {
      const body = JSON.stringify(wrong());
      const ask = new Request("https://shop.example/giftcards/balance", { method: "POST", headers, body });
      expect((await handler(ask)).status).toBe(404);
    }
    await expect(checkout.balance(wrong(), {})).rejects.toThrow(TypeError);
    // The shop's limit is unused: 20 wrong guesses from as many carts.
    for (let time = 0; time < 2; time++) {
      const cart = newCart(7498);
      for (let each = 0; each < 5; each++)
        await expect(checkout.quote(cart, wrong())).rejects.toEqual(refusal("invalid_card"));
    }
  });

  it("with many carts doesn't lock out others, and has a fifth of the guesses", async () => {
    const guesses = async (cart = newCart(7498), address?: string) => {
      let judged = 0;
      const from = address === undefined ? cart : { ...cart, address };
      for (let time = 0; time < 12; time++) {
        const error = await checkout.quote(from, wrong()).catch((refused: unknown) => refused);
        if ((error as { code: string }).code === "invalid_card") judged++;
      }
      return judged;
    };
    // Ten of the twenty are used; one cart uses the others.
    expect(await guesses()).toBe(10);
    expect(await guesses()).toBe(2);
    expect(await guesses(newCart(7498), "203.0.113.7")).toBe(1);
    expect(await guesses(newCart(7498), "203.0.113.7")).toBe(0);
    const honest = newCart(7498);
    await expect(checkout.quote(honest, wrong())).rejects.toEqual(refusal("invalid_card"));
    expect(await checkout.quote(honest, await shop.card(7500))).toMatchObject({ usableCents: 5000 });
    expect(await checkout.balance(await shop.card(7500), { cartId: honest.id })).toMatchObject({
      balanceCents: 7500,
    });
  });

  it("can't use up the shop's calls with their own card, and locks out nobody", async () => {
    const own = await shop.card(0);
    const ask = (card: TestCard) =>
      checkout.balance(card, { cartId: newCart(7498).id }).catch((refused: unknown) => refused);
    const seen = shop.proxy.seen.length;
    for (let time = 0; time < 35; time++) await ask(own);
    expect(await ask(own)).toEqual(refusal("too_many_attempts"));
    expect(shop.proxy.seen.length - seen).toBe(30);
    const other = await shop.card(7500);
    expect(await ask(other)).toMatchObject({ balanceCents: 7500 });
  });

  it("is recognized by the network of an IPv6 customer", () => {
    expect(networkOf("2001:db8::1")).toBe("2001:db8:0:0::/64");
    expect(networkOf("2001:DB8:0:0:1:2:3:4")).toBe("2001:db8:0:0::/64");
    expect(networkOf("2001:db8:0:1::1")).toBe("2001:db8:0:1::/64");
    expect(networkOf("203.0.113.7")).toBe("203.0.113.7");
    // With the connection's port, as some proxies write it.
    for (const port of [1024, 65535]) {
      expect(publicAddress(`203.0.113.7:${port}`)).toBe("203.0.113.7");
      expect(publicAddress(`[2001:db8::1]:${port}`)).toBe("2001:db8::1");
    }
    expect(publicAddress("[2001:db8::1]")).toBe("2001:db8::1");
    expect(publicAddress("::ffff:203.0.113.7")).toBe("203.0.113.7");
  });

  it("shares no limit with other shoppers behind the same proxy", async () => {
    for (const proxy of ["127.0.0.1", "::ffff:10.0.0.2", "[fd00::1]:443", "::1", "unknown"]) {
      const carts = Array.from({ length: 7 }, () => ({ ...newCart(7498), address: proxy }));
      for (const cart of carts)
        expect(await checkout.quote(cart, await shop.card(7500))).toMatchObject({ usableCents: 5000 });
      for (const cart of carts) await expect(checkout.quote(cart, wrong())).rejects.toEqual(refusal("invalid_card"));
    }
  });
});
