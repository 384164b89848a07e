// @module-tag long

import pg from "pg";
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

/** The bank's webhook: it has taken the remainder. */
const capturedByBank = ({ medusa }: TestShop, { id, amount }: { id: string; amount: number }) =>
  fetch(`${medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action: "captured", session_id: id, amount }),
  });

/** A cart whose remainder was paid while its card was blocked, and refunded. Now the bank hangs. */
async function refundedCart(shop: TestShop) {
  const { service, storefront } = shop;
  const cart = await readyCart(shop);
  await service.command("card", "block", cart.card.cardNumber);
  await capturedByBank(shop, cart.session);
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

/** Keeps Medusa from linking orders to these carts and to these payment collections. */
const neverLinks = (cartIds: readonly string[], collectionIds: readonly string[]) => {
  const trigger = (table: string, column: string, ids: readonly string[]) => `
    create trigger never_linked before insert on ${table} for each row
      when (new.${column} in (${ids.map((id) => `'${id}'`).join(", ")})) execute function never_linked();`;
  return `create function never_linked() returns trigger language plpgsql as $$
      begin perform pg_sleep(10); raise exception 'never linked'; end $$;
    ${trigger("order_cart", "cart_id", cartIds)} ${trigger("order_payment_collection", "payment_collection_id", collectionIds)}`;
};

test("killed before its links were written: recovery cancels the orders whose cart is known", {
  tags: "long",
  timeout: 240_000,
}, async () => {
  shop = await startShop({ TEST_RECOVER_OFTEN: "yes" }, timeouts);
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const column = async (statement: string, values: unknown[] = []) =>
    (await database.query({ text: statement, values, rowMode: "array" })).rows.map(([value]) => value as string);
  const ids = (table: string) => column(`select id from "${table}" where deleted_at is null`);
  try {
    const carts = [await readyCart(shop), await readyCart(shop), await readyCart(shop), await readyCart(shop)] as const;
    // `charged` loses the link to its payment collection, `linked` the link to its cart, and the others both.
    const [charged, linked, unlinked, late] = carts;
    const collectionOf = ({ session }: Awaited<ReturnType<typeof readyCart>>) =>
      session.payment_collection_id as string;
    await database.query(
      neverLinks(
        [linked, unlinked, late].map(({ cartId }) => cartId),
        [charged, unlinked, late].map(collectionOf),
      ),
    );
    const orders = new Map<string, string>();
    const calls = [];
    for (const cart of carts) {
      // The bank has taken the remainder of the first cart, and its webhook completes the cart.
      const call = cart === charged ? capturedByBank(shop, cart.session) : shop.storefront.complete(cart.cartId);
      calls.push(call.catch(() => {}));
      const placed = async () => (await ids("order")).filter((id) => ![...orders.values()].includes(id));
      await expect.poll(placed, { interval: 50 }).toHaveLength(1);
      orders.set(cart.cartId, String((await placed())[0]));
    }
    const closed = async () => (await column("select id from cart where completed_at is not null")).sort();
    await expect.poll(closed, { interval: 50 }).toHaveLength(4);
    await expect.poll(() => ids("reservation_item"), { interval: 50 }).toHaveLength(4);
    const links = async () => [
      await column("select cart_id from order_cart"),
      await column("select payment_collection_id from order_payment_collection"),
    ];
    await expect.poll(links, { interval: 50 }).toEqual([[charged.cartId], [collectionOf(linked)]]);
    await shop.crash();
    await Promise.all(calls);
    await database.query("drop function never_linked cascade");
    await shop.passTime(MEDUSA_LOCK_MS);
    await shop.restart();
    const { storefront } = shop;
    const orderOf = ({ cartId }: { cartId: string }) => String(orders.get(cartId));
    const within = { timeout: RECOVERY_MS, interval: 500 };
    const statusOf = async (cart: { cartId: string }) => (await storefront.order(orderOf(cart))).status;
    for (const cart of [charged, linked]) await expect.poll(() => statusOf(cart), within).toBe("canceled");
    const refunds = () => column("select amount::float8 from refund");
    await expect.poll(refunds, within).toEqual([24.98]);
    expect(await ids("reservation_item")).toHaveLength(2);
    expect(await storefront.complete(linked.cartId)).toMatchObject({ status: 400, body: { code: "cart_completed" } });

    // The other carts are open again, so that their shoppers can order.
    await expect.poll(closed, within).toEqual([charged.cartId, linked.cartId].sort());
    const { body } = await storefront.complete(unlinked.cartId);
    expect(body).toMatchObject({ type: "order" });
    await storefront.ok("POST", `/admin/orders/${orderOf(unlinked)}/cancel`, {});
    expect((await storefront.order(body.order.id)).payment_status).toBe("authorized");

    // A link that was still being written appears, and the order's cart becomes certain.
    await database.query(
      "insert into order_payment_collection (id, order_id, payment_collection_id) values ('ordpay_late', $1, $2)",
      [orderOf(late), collectionOf(late)],
    );
    await expect.poll(() => statusOf(late), within).toBe("canceled");
    const health = async () => (await storefront.ok("GET", "/admin/giftcard-pay/health")).failingJobs;
    await expect.poll(health, within).toBe(0);
    const balances = [];
    for (const { card } of carts) balances.push(await shop.balanceCents(card));
    expect(balances).toEqual([7500, 7500, 2500, 7500]);
    // Only that of the order that was placed again.
    expect(await ids("reservation_item")).toHaveLength(1);
  } finally {
    await database.end();
  }
});
