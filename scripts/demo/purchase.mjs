import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@giftcard-pay/client";

const CARD_RELOAD_TIMEOUT_MS = 15_000;

/** @param {number} cents */
const inEuro = (cents) => (cents / 100).toFixed(2);
/** @param {number} amount in euro, as Medusa gives it */
const inCents = (amount) => Math.round(amount * 100);

/**
 * Buys two festival tickets for 74.98 with a card of 75.00 and the bank through the shop's public API, then cancels
 * the order. Says each step and checks each figure.
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
  say(
    `order ${order.display_id} placed: total ${placed.total} = gift card ${placed.giftcard} + ${placed.bank}`,
  );
  const after = await balance();
  say(`card balance ${inEuro(before)} -> ${inEuro(after)}`);
  assert.deepEqual(placed, { total: "74.98", giftcard: "50.00", bank: "24.98" });
  assert.deepEqual([before, after], [7500, 2500]);

  await adminApi("POST", `/admin/orders/${order.id}/cancel`);
  const giveUpAt = Date.now() + CARD_RELOAD_TIMEOUT_MS;
  while ((await balance()) !== before && Date.now() < giveUpAt) await sleep(250);
  const reloaded = await balance();
  say(`order ${order.display_id} canceled: card balance ${inEuro(after)} -> ${inEuro(reloaded)}`);
  assert.equal(reloaded, 7500);
}

/** @typedef {(method: string, path: string, body?: unknown) => Promise<any>} Api */

/** A cart with the festival, an address and free delivery. @param {Api} api */
export async function fillCart(api) {
  const { regions } = await api("GET", "/store/regions");
  const { products } = await api("GET", "/store/products?handle=summer-night-festival&fields=*variants");
  const { cart } = await api("POST", "/store/carts", { region_id: regions[0].id });
  await api("POST", `/store/carts/${cart.id}/line-items`, {
    variant_id: products[0].variants[0].id,
    quantity: 1,
  });
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

/** Has the bank pay the rest, and completes the cart. @param {Api} api @param {string} cartId */
async function placeOrder(api, cartId) {
  const { payment_collection } = await api("POST", "/store/payment-collections", { cart_id: cartId });
  await api("POST", `/store/payment-collections/${payment_collection.id}/payment-sessions`, {
    provider_id: "pp_system_default",
  });
  const result = await api("POST", `/store/carts/${cartId}/complete`);
  if (result.type !== "order") throw new Error(`The order was not placed: ${result.error?.message}`);
  return result.order;
}

/** What the shop's admin shows of an order. @param {Api} api @param {string} id */
async function readOrder(api, id) {
  const { order } = await api("GET", `/admin/orders/${id}?fields=total,*payment_collections.payments`);
  const payments = order.payment_collections.flatMap((/** @type {any} */ collection) => collection.payments);
  const sumOf = (/** @type {boolean} */ giftcard) =>
    payments
      .filter((/** @type {any} */ payment) => payment.provider_id.startsWith("pp_giftcard") === giftcard)
      .reduce((/** @type {number} */ sum, /** @type {any} */ payment) => sum + inCents(payment.amount), 0);
  return { total: inEuro(inCents(order.total)), giftcard: inEuro(sumOf(true)), bank: inEuro(sumOf(false)) };
}

/**
 * Asks the service itself.
 * @param {import("../shops/whole-shop.mjs").GiftcardService} service
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @returns {() => Promise<number>} the balance in cents
 */
function balanceOf({ url, apiKey, companyId }, { cardnumber, pin }) {
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
      throw new Error(
        `${method} ${path.split("?")[0]} answered ${response.status}: ${await response.text()}`,
      );
    }
    return response.json();
  };
}
