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
  const { body } = await storefront.initiate(cartId, "pp_bank_bank", data);
  return { card, cartId, session: body.payment_collection.payment_sessions[0] };
}

/** A cart whose remainder was paid while its card was blocked, and refunded. Now the bank hangs. */
async function refundedCart(shop: TestShop) {
  const { medusa, service, storefront } = shop;
  const cart = await readyCart(shop);
  await service.command("card", "block", cart.card.cardNumber);
  await fetch(`${medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action: "captured", session_id: cart.session.id, amount: cart.session.amount }),
  });
  const refunds = async () => {
    const { payments } = await storefront.ok("GET", "/admin/payments?fields=refunds.amount");
    return payments.flatMap((p: { refunds: { amount: number }[] }) => p.refunds.map(({ amount }) => amount));
  };
  await expect.poll(refunds).toEqual([24.98]);
  await service.command("card", "unblock", cart.card.cardNumber);
  await storefront.initiate(cart.cartId, "pp_bank_bank", { behaviour: "hangs" });
  return cart;
}

test("killed during devalues and while remainders are authorized: every card is reversed", {
  tags: "long",
  timeout: 240_000,
}, async () => {
  // Medusa's own lock is a row in the database, which outlives a crashed process.
  shop = await startShop({ TEST_LOCK: "postgres", TEST_RECOVER_OFTEN: "yes" }, timeouts);
  const { proxy, storefront } = shop;
  const inRemainder = [await refundedCart(shop), await readyCart(shop, { behaviour: "hangs" })];
  const inDevalue = [await readyCart(shop), await readyCart(shop)];
  const complete = ({ cartId }: { cartId: string }) => storefront.complete(cartId).catch(() => {});
  const calls = inRemainder.map(complete);
  const asked = () => shop?.medusa.logs().split("the bank takes its time").length;
  await expect.poll(asked).toBe(3);
  const since = proxy.seen.length;
  proxy.set("devalue", "hold", 2);
  calls.push(...inDevalue.map(complete));
  const devalues = () => proxy.seen.slice(since).filter((call) => call.operation === "devalue").length;
  await expect.poll(devalues).toBe(2);
  await shop.crash();
  await Promise.all(calls);
  // The service performs the devalues, but the caller is gone.
  await proxy.release();
  const carts = [...inRemainder, ...inDevalue];
  for (const { card } of carts) expect(await shop.balanceCents(card)).toBe(2500);

  await shop.passTime(MEDUSA_LOCK_MS);
  await shop.restart();
  for (const { card } of carts)
    await expect.poll(() => shop?.balanceCents(card), { timeout: RECOVERY_MS, interval: 500 }).toBe(7500);
  // Medusa created the orders before payment. They are unpaid, so recovery cancels them before anyone ships.
  const orders = async () => {
    const found = await (shop as TestShop).storefront.ok("GET", "/admin/orders?fields=id,status");
    return found.orders.map(({ status }: { status: string }) => status);
  };
  await expect.poll(orders, { timeout: RECOVERY_MS, interval: 500 }).toEqual(Array(4).fill("canceled"));
  for (const { cartId } of carts) {
    const again = await shop.storefront.complete(cartId);
    expect(again).toMatchObject({ status: 400, body: { code: "cart_completed" } });
  }
});

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
    const { orders } = await (shop as TestShop).storefront.ok("GET", "/admin/orders?fields=id,payment_status");
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
