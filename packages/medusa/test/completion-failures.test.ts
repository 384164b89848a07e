import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { livingAmountsOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(() => shop.proxy.clear());
afterAll(() => database?.end());

/** Returns the card's balance after recovery has run. */
async function recoveredCents(card: Card): Promise<number> {
  await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  return shop.balanceCents(card);
}

/** A cart for 74.98 with a card of 75.00 and a session for the remainder. */
async function readyCart(data?: Record<string, unknown>) {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  expect((await storefront.initiate(cartId, "pp_bank_bank", data)).status).toBe(200);
  return { card, cartId };
}

/** Expects no order and no money moved, and that restarting the payment succeeds. */
async function expectWhole({ card, cartId }: Awaited<ReturnType<typeof readyCart>>) {
  const { storefront } = shop;
  expect(await shop.balanceCents(card)).toBe(7500);
  const { orders } = await storefront.ok("GET", `/admin/orders?fields=id,cart.id&limit=100&order=-created_at`);
  expect(orders.filter((order: { cart?: { id: string } }) => order.cart?.id === cartId)).toEqual([]);
  expect((await storefront.ok("GET", `/store/carts/${cartId}`)).cart.completed_at).toBeFalsy();
}

async function expectRetrySucceeds({ card, cartId }: Awaited<ReturnType<typeof readyCart>>) {
  const { storefront } = shop;
  expect((await storefront.initiate(cartId)).body.payment_collection.payment_sessions).toMatchObject([
    { amount: 24.98 },
  ]);
  const completed = await storefront.complete(cartId);
  expect(completed.body.type).toBe("order");
  const order = await storefront.order(completed.body.order.id);
  expect(livingAmountsOf(order)).toEqual([50, 24.98]);
  expect(order.payment_status).toBe("authorized");
  expect(await shop.balanceCents(card)).toBe(2500);
}

describe("the card", () => {
  test("blocked after it was applied: the completion fails with its code, and no money moves", async () => {
    const ready = await readyCart();
    await shop.service.command("card", "block", ready.card.cardNumber);
    expect(await shop.storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: { code: "card_blocked" },
    });
    // The page may not see the response: production builds of Next.js hide it. So the cart tells it too.
    const cart = await shop.storefront.ok("GET", `/store/giftcard-pay/carts/${ready.cartId}`);
    expect(cart.cards).toMatchObject([{ state: "applied", refusal: "card_blocked" }]);
    await expectWhole(ready);
    await shop.service.command("card", "unblock", ready.card.cardNumber);
    await expectRetrySucceeds(ready);
  });

  test("holding less by now: the charge is reversed, and the page learns the new balance", async () => {
    const ready = await readyCart();
    const elsewhere = await readyCart();
    // The same card pays for another cart first.
    const other = await shop.storefront.createCart();
    await shop.storefront.apply(other, ready.card);
    await shop.storefront.initiate(other);
    expect((await shop.storefront.complete(other)).body.type).toBe("order");
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    expect(await shop.storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: { code: "balance_changed" },
    });
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    expect(await shop.balanceCents(elsewhere.card)).toBe(7500);
  });

  test("second of two fails: the first is reversed", { tags: "long" }, async () => {
    const { storefront, service } = shop;
    const [first, second] = [
      await service.issueCard({ balanceCents: 7500 }),
      await service.issueCard({ balanceCents: 3000 }),
    ];
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, first);
    await storefront.apply(cartId, second);
    await service.command("card", "block", second.cardNumber);
    expect(await storefront.complete(cartId)).toMatchObject({ status: 400, body: { code: "card_blocked" } });
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([7500, 3000]);
    await service.command("card", "unblock", second.cardNumber);
    expect((await storefront.complete(cartId)).body.type).toBe("order");
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([2500, 502]);
  });
});

describe("the service", () => {
  test("unreachable: no money moves", async () => {
    const ready = await readyCart();
    shop.proxy.set("devalue", "cut-before", 1);
    expect(await shop.storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: { code: "service_unavailable" },
    });
    await expectWhole(ready);
    await expectRetrySucceeds(ready);
  });

  for (const fault of ["cut-after", "garbage", "error"] as const)
    test(`takes the money and its response is lost (${fault}): resolved by the idempotency key`, {
      tags: fault === "cut-after" ? [] : "long",
    }, async () => {
      const ready = await readyCart();
      shop.proxy.set("devalue", fault, 1);
      expect(await shop.storefront.complete(ready.cartId)).toMatchObject({
        status: 400,
        body: { code: "service_unavailable" },
      });
      await expectWhole(ready);
      await expectRetrySucceeds(ready);
    });

  test("unreachable midway for longer: the page learns it, another method pays, and recovery reverses the card", {
    tags: "long",
  }, async () => {
    const { storefront, proxy } = shop;
    const ready = await readyCart();
    proxy.set("devalue", "cut-after", 1);
    proxy.set("canceldevalue", "cut-before");
    expect(await storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: { code: "outcome_unknown" },
    });
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    const summary = await storefront.send("GET", `/store/giftcard-pay/carts/${ready.cartId}`);
    expect(summary.body).toMatchObject({
      coveredCents: 0,
      remainderCents: 7498,
      cards: [{ state: "settling" }],
    });
    expect((await storefront.initiate(ready.cartId)).body.payment_collection.payment_sessions).toMatchObject([
      { amount: 74.98 },
    ]);
    const completed = await storefront.complete(ready.cartId);
    expect(completed.body.type).toBe("order");
    expect(paymentsOf(await storefront.order(completed.body.order.id)).amounts).toEqual([74.98]);
    proxy.clear();
    await shop.passTime(60_000);
    await expect.poll(() => recoveredCents(ready.card)).toBe(7500);
  });

  test("down when an order is canceled: the reversal is retried later", async () => {
    const { storefront, proxy } = shop;
    const ready = await readyCart();
    const { order } = (await storefront.complete(ready.cartId)).body;
    proxy.set("canceldevalue", "cut-before");
    await storefront.ok("POST", `/admin/orders/${order.id}/cancel`, {});
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    expect(paymentsOf(await storefront.order(order.id)).gifts[0].data.state).toBe("reversing");
    proxy.clear();
    await shop.passTime(60_000);
    await expect.poll(() => recoveredCents(ready.card)).toBe(7500);
  });
});

describe("the remainder", () => {
  test("declined: the card is reversed", { tags: "long" }, async () => {
    const ready = await readyCart({ behaviour: "error" });
    const answer = await shop.storefront.complete(ready.cartId);
    expect(answer.body).toMatchObject({ type: "cart", error: { type: "payment_authorization_error" } });
    await expectWhole(ready);
    await expectRetrySucceeds(ready);
  });

  test("requires an action: the card is reversed, and the next completion charges it again", {
    tags: "long",
  }, async () => {
    const ready = await readyCart({ behaviour: "requires_more" });
    const answer = await shop.storefront.complete(ready.cartId);
    expect(answer.body).toMatchObject({ type: "cart", error: { type: "payment_requires_more_error" } });
    await expectWhole(ready);
    await expectRetrySucceeds(ready);
  });

  test("requires an action and continues in the same session: the card is charged again, once", {
    tags: "long",
  }, async () => {
    const { storefront } = shop;
    const ready = await readyCart({ behaviour: "asks" });
    const asked = await storefront.complete(ready.cartId);
    expect(asked.body).toMatchObject({ type: "cart", error: { type: "payment_requires_more_error" } });
    await expectWhole(ready);
    const { body } = await storefront.complete(ready.cartId);
    expect(body, JSON.stringify(body)).toMatchObject({ type: "order" });
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    expect(livingAmountsOf(await storefront.order(body.order.id))).toEqual([50, 24.98]);
  });

  const settlesLater = {
    type: "cart",
    error: { type: "payment_authorization_error", message: expect.stringContaining("settles later") },
  };

  test("turns out to settle later: rejected, and the card is reversed", { tags: "long" }, async () => {
    const ready = await readyCart({ behaviour: "pending_authorization" });
    expect((await shop.storefront.complete(ready.cartId)).body).toMatchObject(settlesLater);
    await expectWhole(ready);
    // The session is also closed at the bank, so that nobody can pay for a missing order.
    expect((await shop.storefront.complete(ready.cartId)).status).toBe(400);
    await expectRetrySucceeds(ready);
  });

  test("known to settle later: rejected before the card is charged", { tags: "long" }, async () => {
    const ready = await readyCart({ initially: "pending_authorization" });
    const devalues = shop.proxy.seen.filter((call) => call.operation === "devalue").length;
    expect((await shop.storefront.complete(ready.cartId)).body).toMatchObject(settlesLater);
    expect(shop.proxy.seen.filter((call) => call.operation === "devalue")).toHaveLength(devalues);
    await expectWhole(ready);
    await expectRetrySucceeds(ready);
  });
});

describe("the bank's webhook completes the cart without a page", () => {
  const say = async (body: object) => {
    const response = await fetch(`${shop.medusa.url}/hooks/payment/bank_bank`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "captured", ...body }),
    });
    expect(response.status).toBe(200);
  };
  const webhook = async (cartId: string) => {
    const { cart } = await shop.storefront.ok(
      "GET",
      `/store/carts/${cartId}?fields=*payment_collection.payment_sessions`,
    );
    const [session] = cart.payment_collection.payment_sessions;
    await say({ session_id: session.id, amount: session.amount });
  };
  const orderOf = async (cartId: string) => {
    const { orders } = await shop.storefront.ok("GET", "/admin/orders?fields=id,cart.id&limit=100&order=-created_at");
    return orders.find((order: { cart?: { id: string } }) => order.cart?.id === cartId)?.id;
  };

  test("and charges the card", async () => {
    const ready = await readyCart();
    await webhook(ready.cartId);
    await expect.poll(() => orderOf(ready.cartId)).toBeTruthy();
    await expect.poll(() => shop.balanceCents(ready.card)).toBe(2500);
    const order = await shop.storefront.order(await orderOf(ready.cartId));
    expect(paymentsOf(order).amounts).toEqual([50, 24.98]);
    const summary = async () => (await shop.storefront.order(order.id)).summary;
    await expect.poll(summary).toMatchObject({ paid_total: 24.98, pending_difference: 50 });
  });

  test("but not if it names no session", { tags: "long" }, async () => {
    const ready = await readyCart();
    await say({ amount: 24.98 });
    const heard = async () => (await shop.storefront.ok("GET", "/store-events")).heard;
    await expect.poll(heard).toContainEqual({ action: "captured", amount: 24.98 });
    await sleep(1000);
    expect(await orderOf(ready.cartId)).toBeUndefined();
    await expectWhole(ready);
  });

  test("and if the card can't be charged, places no order and returns the bank's money", { tags: "long" }, async () => {
    const { storefront, service } = shop;
    const ready = await readyCart();
    await service.command("card", "block", ready.card.cardNumber);
    await webhook(ready.cartId);
    const refunds = async () => {
      const { payments } = await storefront.ok(
        "GET",
        "/admin/payments?fields=amount,refunds.amount,*payment_session&limit=200&order=-created_at",
      );
      return payments
        .filter((p: { refunds: unknown[] }) => p.refunds?.length > 0)
        .map((p: { refunds: { amount: number }[] }) => p.refunds[0]?.amount);
    };
    await expect.poll(refunds).toEqual([24.98]);
    await expectWhole(ready);
    await service.command("card", "unblock", ready.card.cardNumber);
    // Medusa recreated the session for the full total, which is too much with the card applied.
    expect(await storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    expect(await shop.balanceCents(ready.card)).toBe(7500);
    await storefront.initiate(ready.cartId);
    expect((await storefront.complete(ready.cartId)).body.type).toBe("order");
    expect(await shop.balanceCents(ready.card)).toBe(2500);
  });
});

describe("a manipulated request", () => {
  test("cannot start a gift card payment with its own state, token or amount", async () => {
    const { storefront } = shop;
    const victim = await readyCart();
    const { order } = (await storefront.complete(victim.cartId)).body;
    const [gift] = paymentsOf(await storefront.order(order.id)).gifts;
    const cartId = await storefront.createCart();
    for (const data of [
      gift.data,
      { ...gift.data, amount_cents: 7498 },
      { state: "captured", amount: 74.98 },
      { session_id: gift.data.session_id },
    ]) {
      const forged = await storefront.initiate(cartId, "pp_giftcard_giftcard", data);
      expect(forged).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect((await storefront.complete(cartId)).status).toBe(400);
    }
    expect(await shop.balanceCents(victim.card)).toBe(2500);
    const { cart } = await storefront.ok("GET", `/store/carts/${cartId}`);
    expect(cart.completed_at).toBeFalsy();
  });

  test("cannot complete with a session for less than the remainder", { tags: "long" }, async () => {
    const { storefront } = shop;
    const ready = await readyCart();
    // Another page of the same shopper removes the card while this one has a session for 24.98.
    const { body } = await storefront.send("GET", `/store/giftcard-pay/carts/${ready.cartId}`);
    await storefront.send("DELETE", `/store/giftcard-pay/carts/${ready.cartId}/cards/${body.cards[0].id}`);
    expect((await storefront.complete(ready.cartId)).status).toBe(400);
    await expectWhole(ready);
  });
});

describe("checks after the cards", () => {
  test("find missing stock before any money moves", async () => {
    const { storefront } = shop;
    const ready = await readyCart();
    const { inventory_items } = await storefront.ok(
      "GET",
      "/admin/inventory-items?sku=SUMMER-NIGHT-2&fields=id,location_levels.*",
    );
    const [item] = inventory_items;
    const level = `/admin/inventory-items/${item.id}/location-levels/${item.location_levels[0].location_id}`;
    const { stocked_quantity, reserved_quantity } = item.location_levels[0];
    await storefront.ok("POST", level, { stocked_quantity: reserved_quantity });
    const devalues = shop.proxy.seen.filter((call) => call.operation === "devalue").length;
    const countOrders = async () => (await storefront.ok("GET", "/admin/orders?limit=1&fields=id")).count;
    const orders = await countOrders();
    expect(await storefront.complete(ready.cartId)).toMatchObject({
      status: 400,
      body: {
        code: "insufficient_inventory",
        message: "“Summer Night Festival, Two tickets” is sold out. No order was placed.",
      },
    });
    expect(await countOrders()).toBe(orders);
    expect(shop.proxy.seen.filter((call) => call.operation === "devalue")).toHaveLength(devalues);
    await expectWhole(ready);
    // One is left. Once this cart has it, the shop is sold out, and the page is still told of its order.
    await storefront.ok("POST", level, { stocked_quantity: reserved_quantity + 1 });
    const { body } = await storefront.complete(ready.cartId);
    expect(body.type).toBe("order");
    expect((await storefront.complete(ready.cartId)).body.order.id).toBe(body.order.id);
    expect(await shop.balanceCents(ready.card)).toBe(2500);
    await storefront.ok("POST", level, { stocked_quantity });
  });

  test("finish when the process ends, while a page that waits is told to call again", {
    tags: "long",
    timeout: 60_000,
  }, async () => {
    const { medusa, storefront } = await shop.startPeer();
    const { cartId, card } = await readyCart({ takesMs: 3000 });
    const charges = () => shop.proxy.seen.filter(({ operation }) => operation === "devalue").length;
    const before = charges();
    const running = storefront.complete(cartId);
    await expect.poll(charges, { timeout: 20_000 }).toBe(before + 1);
    const waiting = storefront.complete(cartId);
    await storefront.ok("GET", `/store/carts/${cartId}`);
    const stopped = medusa.stop();
    expect(await waiting).toMatchObject({ status: 409, body: { code: "payment_in_progress" } });
    expect((await running).body.type).toBe("order");
    await stopped;
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("refuse a seat that another process has sold too, although Medusa's level has one left", async () => {
    const { storefront } = shop;
    const ready = await readyCart();
    const { inventory_items } = await storefront.ok(
      "GET",
      "/admin/inventory-items?sku=SUMMER-NIGHT-2&fields=id,location_levels.*",
    );
    const [{ id, location_levels }] = inventory_items;
    const [{ location_id, stocked_quantity, reserved_quantity }] = location_levels;
    const level = `/admin/inventory-items/${id}/location-levels/${location_id}`;
    await storefront.ok("POST", level, { stocked_quantity: reserved_quantity + 1 });
    // The other process has reserved the last seat, and Medusa has lost the update of its level.
    await database.query(
      `insert into reservation_item (id, inventory_item_id, location_id, quantity, raw_quantity)
       values ('resitem_other', $1, $2, 1, '{"value": "1"}')`,
      [id, location_id],
    );
    const sold = { status: 400, body: { code: "insufficient_inventory" } };
    expect(await storefront.complete(ready.cartId)).toMatchObject(sold);
    await expectWhole(ready);
    // If the other process reserves while this one does, the order is undone.
    const devalues = shop.proxy.seen.filter((call) => call.operation === "devalue").length;
    await database.query("update reservation_item set allow_backorder = true where id = 'resitem_other'");
    await database.query(
      `create function other_process() returns trigger language plpgsql as $$ begin
         update reservation_item set allow_backorder = false where id = 'resitem_other'; return null; end $$;
       create trigger other_process after insert on reservation_item execute function other_process()`,
    );
    expect(await storefront.complete(ready.cartId)).toMatchObject({
      status: 409,
      body: { code: "payment_in_progress" },
    });
    await database.query("drop trigger other_process on reservation_item; drop function other_process()");
    expect(shop.proxy.seen.filter((call) => call.operation === "devalue")).toHaveLength(devalues);
    await expectWhole(ready);
    expect(await storefront.complete(ready.cartId)).toMatchObject(sold);
    await database.query("delete from reservation_item where id = 'resitem_other'");
    expect((await storefront.complete(ready.cartId)).body.type).toBe("order");
    await storefront.ok("POST", level, { stocked_quantity });
  });
});
