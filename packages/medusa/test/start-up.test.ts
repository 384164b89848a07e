import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import type { TestCompany } from "../../../test/support/service.js";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";

let shop: TestShop | undefined;
afterEach(async () => {
  await shop?.stop();
  shop = undefined;
});

/** A cart for 74.98 with a card of 75.00 and a session for the remainder. */
async function readyCart({ service, storefront }: TestShop, data?: Record<string, unknown>) {
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId, "pp_bank_bank", data);
  return { card, cartId };
}

describe("if another plugin has taken the hook beforePaymentAuthorization", () => {
  test("cards are charged in validate: an order can be paid, captured and canceled", async () => {
    shop = await startShop({ TEST_TAKE_HOOKS: "beforePaymentAuthorization" });
    const { storefront } = shop;
    const { card, cartId } = await readyCart(shop);
    const completed = await storefront.complete(cartId);
    expect(completed.body.type).toBe("order");
    expect(await shop.balanceCents(card)).toBe(2500);
    const orderId = completed.body.order.id;
    const order = await storefront.order(orderId);
    expect(figuresOf(order)).toMatchObject({
      total: 74.98,
      paid: 0,
      outstanding: 74.98,
      payment_status: "authorized",
    });
    expect(paymentsOf(order).amounts).toEqual([50, 24.98]);
    for (const { id } of order.payment_collections[0].payments)
      await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({
      paid: 74.98,
      outstanding: 0,
      payment_status: "captured",
    });
    expect((await storefront.complete(cartId)).body).toMatchObject({ type: "order", order: { id: orderId } });
    await storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
    expect(await shop.balanceCents(card)).toBe(7500);

    const declined = await readyCart(shop, { behaviour: "error" });
    expect((await storefront.complete(declined.cartId)).body.type).not.toBe("order");
    expect(await shop.balanceCents(declined.card)).toBe(7500);
    await storefront.initiate(declined.cartId);
    expect((await storefront.complete(declined.cartId)).body.type).toBe("order");
    expect(await shop.balanceCents(declined.card)).toBe(2500);

    const covered = await storefront.createCart("open-air-cinema");
    await storefront.apply(covered, declined.card);
    expect((await storefront.complete(covered)).body.type).toBe("order");
    expect(await shop.balanceCents(declined.card)).toBe(500);
  });

  test("and fails there, the card is reversed", async () => {
    shop = await startShop({
      TEST_TAKE_HOOKS: "beforePaymentAuthorization",
      TEST_FAILING_HOOK: "beforePaymentAuthorization",
    });
    const { card, cartId } = await readyCart(shop);
    expect(await shop.storefront.complete(cartId)).toMatchObject({
      status: 400,
      body: { message: "Another plugin said no." },
    });
    expect(await shop.balanceCents(card)).toBe(7500);
  });
});

test("if another plugin fails after authorization, everything is voided, and the next attempt pays", async () => {
  shop = await startShop({ TEST_TAKE_HOOKS: "orderCreated", TEST_FAILING_HOOK: "orderCreated" });
  const { storefront } = shop;
  for (const behaviour of ["authorized", "captured"]) {
    const { card, cartId } = await readyCart(shop, { behaviour });
    for (const _ of [1, 2]) {
      await storefront.initiate(cartId, "pp_bank_bank", { behaviour });
      expect(await storefront.complete(cartId)).toMatchObject({
        status: 400,
        body: { message: "Another plugin said no." },
      });
      expect(await shop.balanceCents(card)).toBe(7500);
      const { cart } = await storefront.ok(
        "GET",
        `/store/carts/${cartId}?fields=+completed_at,*payment_collection.payment_sessions`,
      );
      expect(cart.completed_at).toBeFalsy();
    }
  }
});

describe("if both hooks are taken", () => {
  const both = { TEST_TAKE_HOOKS: "beforePaymentAuthorization,validate" };

  test("Medusa exits at start-up with the reason", async () => {
    await expect(startShop(both)).rejects.toThrow(
      /ended \(1\) before it was ready[\s\S]*both hooks of completeCartWorkflow/,
    );
  });

  test("the shop can call the handler itself", async () => {
    shop = await startShop(
      { ...both, TEST_CALLING_HOOK: "beforePaymentAuthorization" },
      { callsHandlerItself: true },
    );
    const { card, cartId } = await readyCart(shop);
    expect((await shop.storefront.complete(cartId)).body.type).toBe("order");
    expect(await shop.balanceCents(card)).toBe(2500);
    const declined = await readyCart(shop, { behaviour: "error" });
    expect((await shop.storefront.complete(declined.cartId)).body.type).toBe("cart");
    expect(await shop.balanceCents(declined.card)).toBe(7500);
  });
});

test("starts with both addresses and with email and password, and not with tables of a newer release", async () => {
  shop = await startShop({}, ({ email, password }: TestCompany, sandbox: string) => ({
    ...{ apiKey: null, credentials: { email, password } },
    ...{ baseUrl: null, baseUrls: { live: "http://127.0.0.1:1", sandbox } },
  }));
  const { card, cartId } = await readyCart(shop);
  expect((await shop.storefront.complete(cartId)).body.type).toBe("order");
  expect(await shop.balanceCents(card)).toBe(2500);
  // The same shop, after a newer release changed its tables.
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const later = "insert into giftcard_medusa_migration (number, release) values (99, 'next')";
  await database.query(later).finally(() => database.end());
  await shop.crash();
  await expect(shop.restart()).rejects.toThrow(
    /ended \(1\) before it was ready[\s\S]*made by a newer release: upgrade @giftcard-pay\/medusa/,
  );
});

test("exits at start-up for wrong options, naming each without its value", async () => {
  const secret = "not-32-bytes-of-base64";
  const start = startShop(
    {},
    {
      environment: "test",
      companyId: "many",
      sealingKeys: [{ id: "a", key: secret }],
      maxCards: 0,
      apikey: secret,
      baseUrl: "ftp://x",
    },
  );
  const error = await start.then(
    () => "started",
    (reason: Error) => reason.message,
  );
  expect(error).toContain("ended (1) before it was ready");
  for (const name of ["environment", "companyId", "maxCards", "apikey", "baseUrl"])
    expect(error).toContain(name);
  expect(error).not.toContain(secret);
});

test("exits at start-up if options' environment variables are not set, and says so", async () => {
  const unset = { environment: "", apiKey: "", companyId: "", sealingKeys: [{ id: "a" }] };
  const error = await startShop({}, unset).then(
    () => "started",
    (reason: Error) => reason.message,
  );
  for (const name of ["environment", "apiKey", "companyId", "sealingKeys.0.key"])
    expect(error).toContain(`${name}: is not set. If it comes from an environment variable`);
});

test("exits at start-up if a sealing key is too short", async () => {
  await expect(startShop({}, { sealingKeys: [{ id: "a", key: "c2hvcnQ=" }] })).rejects.toThrow(
    /Sealing key \\?"a\\?" is not 32 bytes/,
  );
});
