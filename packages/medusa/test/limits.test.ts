// @module-tag long

import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startShop, type TestShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

let shop: TestShop;
beforeAll(async () => {
  shop = await startShop(
    {},
    {
      addressHeader: "X-Forwarded-For",
      guessLimits: { windowMs: 600_000, perCart: 3, perAddress: 5, perShop: 12 },
    },
  );
});
afterAll(() => shop?.stop());

/** Returns a new number each time, because the service locks a number after wrong PINs. */
const wrong = () => ({ cardNumber: `60643663${randomInt(1e10, 9e10)}`, pin: "0000" });

/** Guesses from an address that the shop's proxy appends to the header, behind what the shopper sent. */
const guess = (cartId: string, address: string, entry: Card = wrong()) =>
  shop.storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/quote`, entry, {
    "x-forwarded-for": `10.9.8.${Math.floor(Math.random() * 255)}, ${address}`,
  });

function expectLimited(answer: Awaited<ReturnType<typeof guess>>) {
  expect(answer).toMatchObject({ status: 429, body: { code: "too_many_attempts" } });
  const seconds = Number(answer.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(600);
  expect(answer.body.retryAfterSeconds).toBe(seconds);
}

describe("guesses of card number and PIN are limited", () => {
  test("per cart and per address; above the shop's limit, each has a fifth while the shop keeps selling", async () => {
    const { storefront, service } = shop;
    const [card, unused] = [
      await service.issueCard({ balanceCents: 7500 }),
      await service.issueCard({ balanceCents: 7500 }),
    ];
    const [sold, plain, attacked, second] = [
      await storefront.createCart(),
      await storefront.createCart(),
      await storefront.createCart(),
      await storefront.createCart(),
    ];
    expect((await storefront.apply(sold, card)).status).toBe(200);

    for (let tries = 0; tries < 3; tries += 1) {
      expect(await guess(attacked, "192.0.2.1")).toMatchObject({
        status: 400,
        body: { code: "invalid_card" },
      });
    }
    const before = shop.proxy.seen.length;
    expectLimited(await guess(attacked, "192.0.2.1"));
    // Above the limit even a correct PIN is not checked, and the service is not called.
    expectLimited(await guess(attacked, "192.0.2.1", unused));
    expect(shop.proxy.seen).toHaveLength(before);

    // Using another cart does not raise the address's limit of five.
    for (let tries = 0; tries < 2; tries += 1) expect((await guess(second, "192.0.2.1")).status).toBe(400);
    expectLimited(await guess(second, "192.0.2.1"));
    // An address that the shopper put in front is ignored; a different real address counts.
    expect((await guess(second, "192.0.2.2")).status).toBe(400);

    let tries = 6;
    for (let n = 3; tries < 12; n += 1) {
      const cartId = await storefront.createCart();
      for (let each = 0; each < 3 && tries < 12; each += 1, tries += 1) {
        expect((await guess(cartId, `192.0.2.${n}`)).status).toBe(400);
      }
    }
    const fresh = await storefront.createCart();
    expect((await guess(fresh, "192.0.2.200")).status).toBe(400);
    expectLimited(await guess(fresh, "192.0.2.200", unused));
    // A shopper without wrong guesses is not blocked.
    expect((await guess(await storefront.createCart(), "192.0.2.202", unused)).status).toBe(200);

    // Orders can still be placed, with a card applied earlier or without any.
    await storefront.initiate(sold);
    expect((await storefront.complete(sold)).body.type).toBe("order");
    expect(await shop.balanceCents(card)).toBe(2500);
    await storefront.initiate(plain);
    expect((await storefront.complete(plain)).body.type).toBe("order");
    expect((await storefront.send("GET", `/store/giftcard-pay/carts/${fresh}`)).status).toBe(200);
  });

  test("in the database: another process or a restart does not reset them", { tags: "long" }, async () => {
    const peer = await shop.startPeer();
    const cartId = await peer.storefront.createCart();
    const again = () =>
      peer.storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/quote`, wrong(), {
        "x-forwarded-for": "192.0.2.201",
      });
    expect((await again()).status).toBe(400);
    expectLimited(await again());
  });
});
