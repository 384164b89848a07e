/** Orders that a card pays in full, and their refunds in Medusa's admin. Medusa's releases differ in these. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt, balanceOf, fillCart, placeOrder, readOrder, readPayments } from "../demo/purchase.mjs";

const POLL_MS = 250;
const RUN_TIMEOUT_MS = 60_000;

/**
 * Buys two tickets of 20.00, each in its own order, with a card of 75.00 alone. The payment session is for 0. Refunds one
 * by its payment, beyond what the order owes, so that Medusa writes a credit line. Refunds the other by a bulk refund.
 *
 * @param {import("../shops/whole-shop.mjs").WholeShop} shop
 * @param {import("../shops/whole-shop.mjs").IssuedCard} card
 * @param {(text: string) => void} say
 * @throws if a call fails or an amount is wrong
 */
export async function coverAndRefund({ store, service }, card, say) {
  const balance = balanceOf(service, card);
  const storeApi = apiAt(store.url, { "x-publishable-api-key": store.publishableKey });
  const adminApi = apiAt(store.url, { authorization: `Bearer ${store.admin.token}` });
  const buy = async () => {
    const cart = await fillCart(storeApi, { "open-air-cinema": 1 });
    const body = { cardNumber: card.cardnumber, pin: card.pin };
    await storeApi("POST", `/store/giftcard-pay/carts/${cart.id}/cards`, body);
    const { id } = await placeOrder(storeApi, cart.id);
    assert.deepEqual(await readOrder(adminApi, id), { total: "20.00", giftcard: "20.00", bank: "0.00" });
    const [payment] = await readPayments(adminApi, id);
    await adminApi("POST", `/admin/payments/${payment.id}/capture`, {});
    return { id, paymentId: payment.id, productId: cart.items[0].product_id };
  };
  const [returned, off] = [await buy(), await buy()];
  assert.equal(await balance(), 3500);

  await adminApi("POST", `/admin/payments/${returned.paymentId}/refund`, { amount: 20 });
  const fields = "fields=credit_line_total,*summary";
  const { order } = await adminApi("GET", `/admin/orders/${returned.id}?${fields}`);
  const { pending_difference: owed, refunded_total: refunded } = order.summary;
  assert.deepEqual([order.credit_line_total, owed, refunded, await balance()], [20, 0, 20, 5500]);
  say("an order paid by card alone is refunded by its payment: card balance 35.00 -> 55.00, credit line 20.00");

  const routes = "/admin/giftcard-pay";
  const { plan } = await adminApi("POST", `${routes}/refund-plan`, { productId: off.productId });
  const { bulkRefund } = await adminApi("POST", `${routes}/bulk-refunds`, plan);
  const giveUpAt = Date.now() + RUN_TIMEOUT_MS;
  const read = async () => (await adminApi("GET", `${routes}/bulk-refunds/${bulkRefund.id}`)).bulkRefund;
  while ((await read()).open > 0 && Date.now() < giveUpAt) await sleep(POLL_MS);
  const { done, doneCents, waiting } = await read();
  assert.deepEqual([done, doneCents, waiting, await balance()], [1, 2000, [], 7500]);
  say("another order is refunded by a bulk refund: card balance 55.00 -> 75.00");
}
