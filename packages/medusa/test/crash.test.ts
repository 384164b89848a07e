import { afterEach, expect, test } from "vitest";
import { paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";

/** A delay that keeps all devalues in flight until Medusa is killed. */
const timeouts = { timeoutMs: 10_000, leaseMs: 12_000 };
/** The time that Medusa locks a cart during completion. */
const MEDUSA_LOCK_MS = 120_000;
/** Recovery's interval of a minute, with a margin. */
const RECOVERY_MS = 120_000;

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

test("killed during devalues and while the remainder is authorized: every card is reversed", async () => {
  // Medusa's own lock is a row in the database, which outlives a crashed process.
  shop = await startShop({ TEST_SHARED_LOCK: "yes" }, timeouts);
  const { proxy, storefront } = shop;
  const inRemainder = await readyCart(shop, { behaviour: "hangs" });
  const answered = await readyCart(shop);
  const late = await readyCart(shop);
  const calls: Promise<unknown>[] = [storefront.complete(inRemainder.cartId).catch(() => {})];
  await expect.poll(() => shop?.balanceCents(inRemainder.card)).toBe(2500);
  proxy.set("devalue", "hold", 2);
  for (const { cartId } of [answered, late]) calls.push(storefront.complete(cartId).catch(() => {}));
  const devalues = () => proxy.seen.filter((call) => call.operation === "devalue").length;
  await expect.poll(devalues).toBe(3);
  await shop.crash();
  await Promise.all(calls);
  // The service performs the devalue, but the caller is gone.
  await proxy.release();
  expect(await shop.balanceCents(answered.card)).toBe(2500);

  await shop.passTime(MEDUSA_LOCK_MS);
  await shop.restart();
  for (const { card } of [inRemainder, answered, late]) {
    await expect.poll(() => shop?.balanceCents(card), { timeout: RECOVERY_MS, interval: 500 }).toBe(7500);
  }
  // Medusa created the orders before payment. They are unpaid, so recovery cancels them before anyone ships.
  const orders = async () => {
    const found = await (shop as TestShop).storefront.ok("GET", "/admin/orders?fields=id,status");
    return found.orders.map(({ status }: { status: string }) => status);
  };
  await expect.poll(orders, { timeout: RECOVERY_MS, interval: 500 }).toEqual(Array(3).fill("canceled"));
  for (const { cartId } of [inRemainder, answered, late]) {
    const again = await shop.storefront.complete(cartId);
    expect(again).toMatchObject({ status: 400, body: { code: "cart_completed" } });
  }
}, 180_000);

test("killed after the order was placed and paid, before the card was committed: the order keeps it", async () => {
  shop = await startShop(
    {
      TEST_TAKE_HOOKS: "beforePaymentAuthorization,orderCreated",
      TEST_HANGING_HOOK: "orderCreated",
      TEST_RECOVER_OFTEN: "yes",
    },
    timeouts,
  );
  const { card, cartId } = await readyCart(shop);
  const call = shop.storefront.complete(cartId).catch(() => {});
  const authorizedBoth = async () => {
    const { orders } = await (shop as TestShop).storefront.ok(
      "GET",
      "/admin/orders?fields=id,payment_status",
    );
    return orders[0]?.payment_status;
  };
  await expect.poll(authorizedBoth).toBe("authorized");
  await shop.crash();
  await call;
  await shop.passTime(timeouts.leaseMs);
  await shop.restart();
  const { orders } = await shop.storefront.ok("GET", "/admin/orders?fields=id");
  const { gifts, amounts } = paymentsOf(await shop.storefront.order(orders[0].id));
  expect(amounts).toEqual([50, 24.98]);
  // The journal accepts the capture after recovery committed the charge to the order.
  const captured = async () =>
    (await (shop as TestShop).storefront.send("POST", `/admin/payments/${gifts[0].id}/capture`, {})).status;
  await expect.poll(captured, { interval: 1000 }).toBe(200);
  expect(await shop.balanceCents(card)).toBe(2500);
}, 180_000);

test("killed before the remainder was paid, after an earlier attempt was paid and refunded: the order is canceled", async () => {
  shop = await startShop({ TEST_RECOVER_OFTEN: "yes" }, timeouts);
  const { service, storefront } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  const { body } = await storefront.initiate(cartId);
  const [session] = body.payment_collection.payment_sessions;
  await service.command("card", "block", card.cardNumber);
  await fetch(`${shop.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action: "captured", session_id: session.id, amount: session.amount }),
  });
  const refunds = async () => {
    const { payments } = await storefront.ok("GET", "/admin/payments?fields=refunds.amount");
    return payments.flatMap((p: { refunds: { amount: number }[] }) => p.refunds.map(({ amount }) => amount));
  };
  await expect.poll(refunds).toEqual([24.98]);
  await service.command("card", "unblock", card.cardNumber);

  await storefront.initiate(cartId, "pp_bank_bank", { behaviour: "hangs" });
  const call = storefront.complete(cartId).catch(() => {});
  const asked = () => shop?.medusa.logs().includes("the bank takes its time");
  await expect.poll(asked, { interval: 50 }).toBe(true);
  await shop.crash();
  await call;
  await shop.passTime(timeouts.leaseMs);
  await shop.restart();
  const statuses = async () => {
    const { orders } = await (shop as TestShop).storefront.ok("GET", "/admin/orders?fields=id,status");
    return orders.map(({ status }: { status: string }) => status);
  };
  await expect.poll(statuses).toEqual(["canceled"]);
  await expect.poll(() => (shop as TestShop).balanceCents(card)).toBe(7500);
}, 240_000);
