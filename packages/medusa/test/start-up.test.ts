import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import type { TestCompany } from "../../../test/support/service.js";
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

describe("if both hooks are taken", () => {
  const both = { TEST_TAKE_HOOKS: "beforePaymentAuthorization,validate" };

  test("Medusa exits at start-up with the reason", async () => {
    await expect(startShop(both)).rejects.toThrow(
      /ended \(1\) before it was ready[\s\S]*both hooks of completeCartWorkflow/,
    );
  });

  test("the shop can call the handler itself", { tags: "long" }, async () => {
    shop = await startShop({ ...both, TEST_CALLING_HOOK: "beforePaymentAuthorization" }, { callsHandlerItself: true });
    const { card, cartId } = await readyCart(shop);
    expect((await shop.storefront.complete(cartId)).body.type).toBe("order");
    expect(await shop.balanceCents(card)).toBe(2500);
    const declined = await readyCart(shop, { behaviour: "error" });
    expect((await shop.storefront.complete(declined.cartId)).body.type).toBe("cart");
    expect(await shop.balanceCents(declined.card)).toBe(7500);
  });
});

test("starts with both addresses and with email and password, and not with tables of a newer release", {
  tags: "long",
}, async () => {
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
  for (const name of ["environment", "companyId", "maxCards", "apikey", "baseUrl"]) expect(error).toContain(name);
  expect(error).not.toContain(secret);
});
