import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@giftcard-pay/client";
import { inCents } from "../shops/whole-cents.mjs";

const CARD_RELOAD_TIMEOUT_MS = 60_000;

/** @param {number} cents */
export const inEuro = (cents) => (cents / 100).toFixed(2);

/**
 * Buys two festival tickets for 74.98 with a card of 75.00 and the bank through the shop's public API. Then cancels
 * the order. Logs each step and checks each amount.
 *
 * @param {import("../shops/whole-shop.mjs").WholeShop} shop
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @param {(text: string) => void} say
 * @throws when a call fails or a figure is wrong
 */
export async function buyAndCancel({ store, service }, card, say) {
  const balance = balanceOf(service, card);
  const storeApi = apiAt(store.url, { "x-publishable-api-key": store.publishableKey });
  const adminApi = apiAt(store.url, { authorization: `Bearer ${store.admin.token}` });
  const before = await balance();
  say(`gift card ending in ${card.cardnumber.slice(-4)}: balance ${inEuro(before)}`);

  const cart = await fillCart(storeApi);
  say(
    `cart: ${cart.items[0].product_title}, delivery ${inEuro(inCents(cart.shipping_total))}, total ${inEuro(inCents(cart.total))}`,
  );

  const routes = `/store/giftcard-pay/carts/${cart.id}`;
  const quote = await storeApi("POST", `${routes}/quote`, { cardNumber: card.cardnumber, pin: card.pin });
  say(`quote: balance ${inEuro(quote.balanceCents)}, usable for this order ${inEuro(quote.usableCents)}`);
  const applied = await storeApi("POST", `${routes}/cards`, { quoteId: quote.quoteId });
  say(`applied: gift card ${inEuro(applied.coveredCents)}, left to pay ${inEuro(applied.remainderCents)}`);
  assert.equal(await balance(), before, "applying a card must not charge it");

  const order = await placeOrder(storeApi, cart.id);
  const placed = await readOrder(adminApi, order.id);
  say(`order ${order.display_id} placed: total ${placed.total} = gift card ${placed.giftcard} + ${placed.bank}`);
  const after = await balance();
  say(`card balance ${inEuro(before)} -> ${inEuro(after)}`);
  assert.deepEqual(placed, { total: "74.98", giftcard: "50.00", bank: "24.98" });
  assert.deepEqual([before, after], [7500, 2500]);

  await adminApi("POST", `/admin/orders/${order.id}/cancel`);
  await reachBalance(balance, before);
  const reloaded = await balance();
  say(`order ${order.display_id} canceled: card balance ${inEuro(after)} -> ${inEuro(reloaded)}`);
  assert.equal(reloaded, 7500);
}

/** @typedef {(method: string, path: string, body?: unknown) => Promise<any>} Api */

/**
 * Buys two tickets of 20.00 with a card of 35.00 and the bank, refunds one of them, and then cancels the order. Logs
 * each step and checks each amount.
 *
 * @param {import("../shops/whole-shop.mjs").WholeShop} shop
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @param {(text: string) => void} say
 * @throws when a call fails or a figure is wrong
 */
export async function returnOneOfTwo({ store, service }, card, say) {
  const balance = balanceOf(service, card);
  const storeApi = apiAt(store.url, { "x-publishable-api-key": store.publishableKey });
  const adminApi = apiAt(store.url, { authorization: `Bearer ${store.admin.token}` });
  const cart = await fillCart(storeApi, { "open-air-cinema": 2 });
  await storeApi("POST", `/store/giftcard-pay/carts/${cart.id}/cards`, {
    cardNumber: card.cardnumber,
    pin: card.pin,
  });
  const order = await placeOrder(storeApi, cart.id);
  const placed = await readOrder(adminApi, order.id);
  say(
    `order ${order.display_id}, two tickets of 20.00, a card of 35.00: ${placed.total} = gift card ${placed.giftcard} + ${placed.bank}`,
  );
  assert.deepEqual(placed, { total: "40.00", giftcard: "35.00", bank: "5.00" });
  assert.equal(await balance(), 0);
  await capture(adminApi, order.id);
  const [item] = (await adminApi("GET", `/admin/orders/${order.id}?fields=items.id`)).order.items;
  await giveOneBack(adminApi, order.id, item.id, 1);
  const refunded = await readRefunds(adminApi, order.id);
  const back = await balance();
  say(
    `one ticket returned: ${refunded.giftcard} to the card, ${refunded.bank} by the bank; card balance 0.00 -> ${inEuro(back)}`,
  );
  assert.deepEqual([refunded, back], [{ giftcard: "15.00", bank: "5.00" }, 1500]);

  await adminApi("POST", `/admin/orders/${order.id}/cancel`);
  await reachBalance(balance, 3500);
  say(`order ${order.display_id} canceled: card balance ${inEuro(back)} -> ${inEuro(await balance())}`);
  assert.equal(await balance(), 3500);
}

/** Captures each payment of an order. @param {Api} api @param {string} orderId */
export async function capture(api, orderId) {
  for (const { id } of await readPayments(api, orderId)) await api("POST", `/admin/payments/${id}/capture`, {});
}

/**
 * Removes a unit from an order, and refunds the amount that the order then owes.
 *
 * @param {Api} api
 * @param {string} orderId
 * @param {string} itemId
 * @param {number} quantity how many of the item remain
 * @returns {Promise<any>} the refund
 */
export async function giveOneBack(api, orderId, itemId, quantity) {
  const edit = `/admin/order-edits/${orderId}`;
  await api("POST", "/admin/order-edits", { order_id: orderId });
  await api("POST", `${edit}/items/item/${itemId}`, { quantity });
  await api("POST", `${edit}/confirm`, {});
  const path = `/admin/giftcard-pay/orders/${orderId}/refund`;
  const { refund } = await api("GET", path);
  await api("POST", path, refund.splits[0]);
  return refund.splits[0];
}

/** Waits for a balance, since a reversal may take a moment. @param {() => Promise<number>} balance @param {number} cents */
export async function reachBalance(balance, cents) {
  const giveUpAt = Date.now() + CARD_RELOAD_TIMEOUT_MS;
  while ((await balance()) !== cents && Date.now() < giveUpAt) await sleep(250);
}

/**
 * Fills a cart, and sets an address and free delivery.
 *
 * @param {Api} api
 * @param {Record<string, number>} [goods] quantities by product handle; of several variants, buys the most expensive
 * @param {string[]} [codes] promotion codes
 * @returns {Promise<any>} the cart
 */
export async function fillCart(api, goods = { "summer-night-festival": 1 }, codes = []) {
  const { regions } = await api("GET", "/store/regions");
  const { cart } = await api("POST", "/store/carts", { region_id: regions[0].id });
  for (const [handle, quantity] of Object.entries(goods)) {
    const query = `handle=${handle}&region_id=${regions[0].id}&fields=*variants.calculated_price`;
    const { products } = await api("GET", `/store/products?${query}`);
    const [dearest] = products[0].variants.toSorted(
      (/** @type {any} */ a, /** @type {any} */ b) =>
        b.calculated_price.calculated_amount - a.calculated_price.calculated_amount,
    );
    await api("POST", `/store/carts/${cart.id}/line-items`, { variant_id: dearest.id, quantity });
  }
  if (codes.length > 0) await api("POST", `/store/carts/${cart.id}/promotions`, { promo_codes: codes });
  const address = {
    first_name: "Noor",
    last_name: "de Vries",
    address_1: "Keizersgracht 1",
    postal_code: "1015 CC",
  };
  await api("POST", `/store/carts/${cart.id}`, {
    email: "noor@example.com",
    shipping_address: { ...address, city: "Amsterdam", country_code: "nl" },
  });
  const { shipping_options } = await api("GET", `/store/shipping-options?cart_id=${cart.id}`);
  const free = shipping_options.find((/** @type {{ amount: number }} */ option) => option.amount === 0);
  return (await api("POST", `/store/carts/${cart.id}/shipping-methods`, { option_id: free.id })).cart;
}

/** Pays the remainder by the bank, and completes the cart. @param {Api} api @param {string} cartId */
export async function placeOrder(api, cartId) {
  const { payment_collection } = await api("POST", "/store/payment-collections", { cart_id: cartId });
  await api("POST", `/store/payment-collections/${payment_collection.id}/payment-sessions`, {
    provider_id: "pp_system_default",
  });
  const result = await api("POST", `/store/carts/${cartId}/complete`);
  if (result.type !== "order") throw new Error(`The order was not placed: ${result.error?.message}`);
  return result.order;
}

/** @param {Api} api @param {string} id @returns {Promise<any[]>} */
export async function readPayments(api, id) {
  const fields = "*payment_collections.payments,*payment_collections.payments.refunds";
  const { order } = await api("GET", `/admin/orders/${id}?fields=${fields}`);
  return order.payment_collections.flatMap((/** @type {any} */ collection) => collection.payments);
}

/**
 * Returns the amounts by card and by bank, in euro.
 * @param {any[]} payments
 * @param {(payment: any) => number} centsOf
 */
function byMethod(payments, centsOf) {
  const sumOf = (/** @type {boolean} */ giftcard) =>
    payments
      .filter(({ provider_id }) => provider_id.startsWith("pp_giftcard") === giftcard)
      .reduce((sum, payment) => sum + centsOf(payment), 0);
  return { giftcard: inEuro(sumOf(true)), bank: inEuro(sumOf(false)) };
}

/** Reads an order's payments as the shop's admin shows them. @param {Api} api @param {string} id */
export async function readOrder(api, id) {
  const { order } = await api("GET", `/admin/orders/${id}?fields=total`);
  const payments = await readPayments(api, id);
  return { total: inEuro(inCents(order.total)), ...byMethod(payments, ({ amount }) => inCents(amount)) };
}

/** Reads the refunded amounts of an order. @param {Api} api @param {string} id */
export async function readRefunds(api, id) {
  return byMethod(await readPayments(api, id), ({ refunds }) =>
    refunds.reduce((/** @type {number} */ sum, /** @type {any} */ { amount }) => sum + inCents(amount), 0),
  );
}

/**
 * Reads a card's balance from the service directly.
 * @param {import("../shops/whole-shop.mjs").GiftcardService} service
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @returns {() => Promise<number>} the balance in cents
 */
export function balanceOf({ url, apiKey, companyId }, { cardnumber, pin }) {
  const client = createClient({ baseUrl: url, apiKey, companyId });
  return async () => (await client.balance({ cardNumber: cardnumber, pin })).balanceCents;
}

/** @param {string} url @param {Record<string, string>} headers @returns {Api} */
export function apiAt(url, headers) {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw new Error(`${method} ${path.split("?")[0]} answered ${response.status}: ${await response.text()}`);
    }
    return response.json();
  };
}
