import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { startShop, type TestShop } from "./support/shop.js";

let shop: TestShop | undefined;
afterEach(async () => {
  await shop?.stop();
  shop = undefined;
});

test("exits at start-up if both hooks are taken", { tags: "long" }, async () => {
  await expect(startShop({ TEST_TAKE_HOOKS: "beforePaymentAuthorization,validate" })).rejects.toThrow(
    /ended \(1\) before it was ready[\s\S]*both hooks of completeCartWorkflow/,
  );
});

test("doesn't start with tables of a newer release", { tags: "long" }, async () => {
  shop = await startShop();
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
