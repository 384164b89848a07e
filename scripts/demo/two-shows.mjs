import assert from "node:assert/strict";
import { inCents } from "../shops/whole-cents.mjs";
import {
  apiAt,
  balanceOf,
  capture,
  fillCart,
  giveOneBack,
  inEuro,
  placeOrder,
  reachBalance,
  readOrder,
  readRefunds,
} from "./purchase.mjs";

const TICKET = "late-night-comedy";

/**
 * Buys tickets for two shows with VAT included and 10 % off. The total has half a cent: 62.865. A card of 75.00 and the
 * bank pay 62.87. Then one ticket is returned, and the order is canceled. Logs and checks each amount.
 *
 * @param {import("../shops/whole-shop.mjs").WholeShop} shop
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @param {(text: string) => void} say
 * @throws if a call fails or an amount is wrong
 */
export async function buyTwoShows({ store, service }, card, say) {
  const balance = balanceOf(service, card);
  const storeApi = apiAt(store.url, { "x-publishable-api-key": store.publishableKey });
  const adminApi = apiAt(store.url, { authorization: `Bearer ${store.admin.token}` });
  const cart = await fillCart(storeApi, { [TICKET]: 2, "jazz-in-the-orangery": 1 }, ["TEN"]);
  const applied = await storeApi("POST", `/store/giftcard-pay/carts/${cart.id}/cards`, {
    cardNumber: card.cardnumber,
    pin: card.pin,
  });
  const order = await placeOrder(storeApi, cart.id);
  const placed = await readOrder(adminApi, order.id);
  const sold = (await adminApi("GET", `/admin/orders/${order.id}?fields=*items,tax_total`)).order;
  say(
    `order ${order.display_id}, two tickets of 24.95 and one of 19.95, less 10 %, ` +
      `VAT ${inEuro(inCents(sold.tax_total))} included: ${placed.total} = gift card ${placed.giftcard} + ${placed.bank}`,
  );
  assert.deepEqual(placed, { total: "62.87", giftcard: "50.00", bank: "12.87" });
  assert.deepEqual([applied.totalCents, applied.coveredCents, applied.remainderCents], [6287, 5000, 1287]);
  assert.deepEqual([inCents(sold.tax_total), await balance()], [519, 2500]);
  await capture(adminApi, order.id);

  const item = sold.items.find((/** @type {any} */ { product_handle }) => product_handle === TICKET);
  const { amountCents } = await giveOneBack(adminApi, order.id, item.id, 1);
  const first = await readRefunds(adminApi, order.id);
  const back = await balance();
  say(
    `one ticket of 24.95 returned, ${inEuro(amountCents)} were paid for it: ${first.giftcard} to the card, ${first.bank} by the bank; ` +
      `card balance 25.00 -> ${inEuro(back)}`,
  );
  // Two tickets cost 44.91, so one of them costs a cent more.
  assert.ok(amountCents === 2245 || amountCents === 2246, `${amountCents} cents came back for a ticket`);
  assert.equal(back - 2500 + inCents(Number(first.bank)), amountCents);

  await adminApi("POST", `/admin/orders/${order.id}/cancel`);
  await reachBalance(balance, 7500);
  const all = await readRefunds(adminApi, order.id);
  say(
    `order ${order.display_id} canceled: ${all.giftcard} are back on the card and ${all.bank} at the bank; ` +
      `card balance ${inEuro(back)} -> ${inEuro(await balance())}`,
  );
  assert.deepEqual([all, await balance()], [{ giftcard: "50.00", bank: "12.87" }, 7500]);
}
