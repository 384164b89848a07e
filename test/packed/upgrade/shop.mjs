/** A shop whose database survives an upgrade: "pay" pays an order, and "reverse" cancels it. */
import assert from "node:assert/strict";
import { createCheckout } from "@giftcard-pay/checkout";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import { cents, createClient } from "@giftcard-pay/client";

const { GIFTCARD_BASE_URL: baseUrl = "", GIFTCARD_API_KEY: apiKey = "", GIFTCARD_COMPANY_ID: companyId } = process.env;
const { SEALING_KEY: key = "", CARD = "{}" } = process.env;
const client = createClient({ baseUrl, apiKey, companyId: Number(companyId) });
const store = await createSqliteStore({ file: "shop.db" });
const authorized = async () => /** @type {const} */ ({ status: "authorized" });
const remainder = { authorize: authorized, status: authorized, cancel: async () => {} };
const sealingKeys = [{ id: "1", key }];
const checkout = createCheckout({ issuer: client, environment: "sandbox", store, sealingKeys, remainder });
const card = JSON.parse(CARD);
const cart = { id: "cart-1", totalCents: cents(7498), currency: "EUR" };
const order = { id: "order-1", cart };

if (process.argv[2] === "pay") {
  const { plan } = await checkout.apply(cart, card);
  const paid = await checkout.pay({ ...order, plan });
  assert.deepEqual([paid.status, paid.remainderCents], ["paid", 2498]);
  assert.equal((await client.balance(card)).balanceCents, 2500);
} else {
  assert.equal((await client.balance(card)).balanceCents, 2500);
  assert.equal((await checkout.read(order.id))?.state, "paid");
  await checkout.cancel(order.id);
  assert.equal((await client.balance(card)).balanceCents, 7500);
}
store.close();
