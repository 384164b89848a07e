// @module-tag long
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFaultProxy } from "../../../test/support/fault-proxy.js";
import { startShop, type TestShop } from "./support/shop.js";

const key = (id: string) => ({ id, key: randomBytes(32).toString("base64") });
const [old, fresh] = [key("2026-11"), key("2026-12")];

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_OFTEN: "yes" }, { sealingKeys: [old], leaseMs: 4000, timeoutMs: 2000 });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

async function buy() {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { order } = (await storefront.complete(cartId)).body;
  expect(await shop.balanceCents(card)).toBe(2500);
  return { card, cartId, orderId: order.id as string };
}

const cli = path.resolve(import.meta.dirname, "../bin/giftcard-medusa.js");

/** Runs the command line in a folder that is no shop. */
function giftcardMedusa(args: string[], keys: { id: string; key: string }[]) {
  const env = {
    ...process.env,
    DATABASE_URL: shop.databaseUrl,
    GIFTCARD_SEALING_KEYS: keys.map(({ id, key }) => `${id}:${key}`).join(","),
  };
  return new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [cli, ...args], { env, cwd: import.meta.dirname }, (error, stdout, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

test("last month's order can be canceled after the sealing key was rotated and the old one removed", async () => {
  const bought = await buy();
  const waiting = await shop.storefront.createCart();
  const waitingCard = await shop.service.issueCard({ balanceCents: 7500 });
  await shop.storefront.apply(waiting, waitingCard);
  for (const change of [
    "update giftcard_charge set created_at = created_at - interval '31 days', devalued_at = devalued_at - interval '31 days'",
    `update "order" set created_at = created_at - interval '31 days'`,
  ]) {
    await database.query(change);
  }

  // The token, the paid order's card, the waiting card, and the key of the fingerprints.
  // Without the old key, Medusa exits at start-up and says how many values it can't open.
  await shop.crash();
  await expect(shop.restart({ sealingKeys: [fresh] })).rejects.toThrow(
    /4 cards and cancel tokens are sealed under keys that are not configured: 2026-11/,
  );
  const refused = await giftcardMedusa(["reseal", "--json"], [fresh]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("4 values") });

  await shop.restart({ sealingKeys: [fresh, old] });
  const resealed = await giftcardMedusa(["reseal", "--json"], [fresh, old]);
  expect(resealed.exitCode).toBe(0);
  expect(JSON.parse(resealed.stdout)).toEqual({ key: "2026-12", resealed: 4, sealed: { "2026-12": 4 } });
  expect(JSON.stringify(resealed)).not.toContain(old.key);
  const again = await giftcardMedusa(["reseal"], [fresh, old]);
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("resealed 0") });

  await shop.crash();
  await shop.restart({ sealingKeys: [fresh] });
  await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
  expect(await shop.balanceCents(bought.card)).toBe(7500);
  // The purchase that had begun can be completed.
  await shop.storefront.initiate(waiting);
  expect((await shop.storefront.complete(waiting)).body.type).toBe("order");
  expect(await shop.balanceCents(waitingCard)).toBe(2500);
}, 240_000);

test("after a switch to the live service, open charges are not sent to the wrong service", async () => {
  const { storefront, service, proxy } = shop;
  const bought = await buy();
  // One charge with a lost response that can't be resolved, and one card that is only applied.
  const lost = {
    card: await service.issueCard({ balanceCents: 7500 }),
    cartId: await storefront.createCart(),
  };
  await storefront.apply(lost.cartId, lost.card);
  await storefront.initiate(lost.cartId);
  proxy.set("devalue", "cut-after", 1);
  proxy.set("canceldevalue", "cut-before");
  expect((await storefront.complete(lost.cartId)).body).toMatchObject({ code: "outcome_unknown" });
  const applied = await storefront.createCart();
  await storefront.apply(applied, await service.issueCard({ balanceCents: 7500 }));
  await storefront.initiate(applied);

  await shop.crash();
  const live = await startFaultProxy(service.url);
  try {
    await shop.restart({ environment: "live", baseUrl: live.url });
    const stateOf = async (cartId: string) =>
      (await database.query("select state, reason from giftcard_charge where cart_id = $1", [cartId])).rows;
    const toPerson = [{ state: "needs_attention", reason: "service_not_configured" }];
    await expect.poll(() => stateOf(lost.cartId), { interval: 500 }).toEqual(toPerson);
    await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    await expect.poll(() => stateOf(bought.cartId), { interval: 500 }).toEqual(toPerson);
    expect((await shop.storefront.complete(applied)).body).toMatchObject({ code: "applied_card_expired" });
    expect(live.seen).toEqual([]);
    // Back at its own service, a person's retry resolves both.
    proxy.clear();
    await shop.crash();
    await shop.restart({ environment: "sandbox", baseUrl: proxy.url });
    for (const cartId of [lost.cartId, bought.cartId]) {
      const { rows } = await database.query("select reference from giftcard_charge where cart_id = $1", [cartId]);
      await shop.storefront.ok("POST", `/admin/giftcard-pay/charges/${rows[0].reference}/retry`, {});
    }
    expect(await shop.balanceCents(lost.card)).toBe(7500);
    expect(await shop.balanceCents(bought.card)).toBe(7500);
  } finally {
    await live.stop();
  }
}, 240_000);
