import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { startFaultProxy } from "../../../test/support/fault-proxy.js";
import { startPlayedStripe } from "../../../test/support/played-stripe.js";
import { openStage } from "./support/stage.js";
import { addStripe, payByStripe } from "./support/stripe.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-vendure-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

test("sells, refunds and cancels in a Vendure on SQLite", { tags: "long" }, async () => {
  const stage = await openStage({ env: { SQLITE_FILE: path.join(folder, "vendure.sqlite") } });
  try {
    const order = await stage.order(7500);
    await order.payByCard();
    await order.payByBank(2498);
    await stage.expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
    const { id } = await stage.paymentOf(order.code, "giftcard");
    await stage.admin().refund(id, 3749);
    await stage.expectHeld(order, { state: "PaymentSettled", cards: 1251, bank: 2498 });
    await stage.admin().cancel(order.id);
    await stage.expectHeld(order, { state: "Cancelled", cards: 0, bank: 0 });
    expect(fs.existsSync(path.join(folder, "vendure.sqlite.giftcards"))).toBe(true);
  } finally {
    await stage.close();
  }
});

test("refunds once at a slow Stripe if an order on SQLite is canceled", { tags: "long" }, async () => {
  const stripe = await startPlayedStripe();
  const proxy = await startFaultProxy(stripe.url);
  const env = { SQLITE_FILE: path.join(folder, "canceled.sqlite"), STRIPE_URL: proxy.url };
  const stage = await openStage({ env });
  try {
    await addStripe(stage, stripe);
    for (let time = 1; time <= 3; time++) {
      const order = await stage.order(7500);
      await order.payByCard();
      await payByStripe(stage, stripe, await order.ask("mutation { createStripePaymentIntent }"));
      await expect.poll(async () => (await stage.admin().look(order.code)).state).toBe("PaymentSettled");
      proxy.set("refunds", "delay");
      await stage.admin().cancel(order.id);
      const state = () => stage.admin().call(`{ giftcardPurchase(orderCode: "${order.code}") { state } }`);
      await expect.poll(state).toEqual({ state: "canceled" });
      expect(await stage.heldByCards(order)).toBe(0);
      const { refunds } = await stage.paymentOf(order.code, "stripe");
      expect(refunds).toEqual([{ state: "Settled", total: 2498 }]);
      expect(proxy.seen.filter(({ operation }) => operation === "refunds")).toHaveLength(time);
    }
  } finally {
    await stage.close();
    await proxy.stop();
    await stripe.stop();
  }
});

test("a worker process reverses the cards of an order whose remainder stays unpaid", { tags: "long" }, async () => {
  const stage = await openStage({ hasWorker: true, env: { PENDING_REMAINDER_MS: "10000" } });
  try {
    const order = await stage.order(7500);
    await order.payByCard();
    await stage.expectHeld(order, { state: "ArrangingPayment", cards: 5000, bank: 0 });
    await stage.expectHeld(order, { state: "ArrangingPayment", cards: 0, bank: 0 });
  } finally {
    await stage.close();
  }
});

test("orders that are paid at once end, although the pool has fewer connections than orders", {
  tags: "long",
}, async () => {
  const stage = await openStage({ env: { POOL_MAX: "3" } });
  try {
    const orders = await Promise.all([1, 2, 3, 4, 5, 6].map(() => stage.order(5000)));
    for (const order of orders) await order.payByCard();
    const paid = await Promise.all(orders.map((order) => order.payByBank(2498)));
    expect(paid.map(({ state }) => state)).toEqual(orders.map(() => "PaymentSettled"));
    for (const order of orders) await stage.expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  } finally {
    await stage.close();
  }
});
