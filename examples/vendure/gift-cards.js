/** Gift cards in Vendure: the checkout charges the cards, Vendure's payments the remainder, and both are decided together. */
import { CheckoutError, createCheckout, createPostgresStore } from "@giftcard-pay/checkout";
import { createClient } from "@giftcard-pay/client";
import { Logger, Payment, Refund } from "@vendure/core";
import pg from "pg";
import { In, IsNull } from "typeorm";
import { GIFT_CARD, openOrders } from "./orders.js";

const DAY_MS = 24 * 60 * 60_000;
const PAGE_SIZE = 100;
/** States in which everything taken is reversed. A refund of a paid order has other states. */
const reversedStates = ["voiding", "failed", "canceling", "canceled"];

/** @typedef {import("@vendure/core").RequestContext} RequestContext */
/** @typedef {import("@vendure/core").Order} Order */

/** Returns an order as the checkout needs it. @param {Order} order */
export const cartOf = ({ code, totalWithTax, currencyCode }) => ({
  ...{ id: code, totalCents: totalWithTax, currency: currencyCode },
});

const isOrdered = (/** @type {Order} */ { orderPlacedAt, state }) => orderPlacedAt != null && state !== "Cancelled";

/**
 * @param {import("./settings.js").Settings} settings
 * @param {Parameters<typeof openOrders>[0]} injector
 * @param {{ close: (attemptId: string) => Promise<unknown> }} bank
 */
export async function openGiftCards(settings, injector, bank) {
  const { environment, sealingKeys, leaseMs, pendingLifeMs } = settings;
  const pool = new pg.Pool({ connectionString: settings.databaseUrl });
  pool.on("error", ({ message }) => Logger.error(message, "GiftCards")); // an idle connection failed
  const store = createPostgresStore({ pool, schema: "giftcard" });
  await store.migrate();
  const orders = openOrders(injector);
  const { orderService, connection } = orders;

  const checkout = createCheckout({
    ...{
      issuer: createClient({ ...settings.giftcards, environment }),
      environment,
      store,
      sealingKeys,
      leaseMs,
      pendingLifeMs,
    },
    remainder: {
      // Vendure collects it later.
      authorize: async () => ({ status: "pending" }),
      // Counts Vendure's payments that go with these cards. Too much is a fault that a person has to look at.
      status: async ({ orderId, attemptId, remainderCents }) => {
        const amountCents = await orders.collectedCents(orderId, attemptId);
        return amountCents < remainderCents ? { status: "pending" } : { status: "authorized", amountCents };
      },
      // The cards are reversed. Refund what was collected with them, including payments that Vendure never stored.
      cancel: async ({ orderId, attemptId }) => {
        await orders.closePayments(orderId, (other) => other === attemptId);
        await bank.close(attemptId);
      },
    },
    // If the process dies before this has run, `sweep` finds the order.
    onPurchase: ({ orderId, state }) => {
      if (state !== "charging" && state !== "pending") soon(orderId);
    },
    onFailure: (error) => Logger.error(error.message, "GiftCards"),
  });

  /** @param {string} code */
  const soon = (code) => orders.later(() => settle(code).catch(({ message }) => Logger.error(message, "GiftCards")));

  /**
   * Makes an order and its purchase agree, whatever either has missed. It is idempotent, and locks the order.
   * @param {string} code
   */
  async function settle(code) {
    if (!(await checkout.read(code))) return;
    await orders.alone(code, async (ctx, order) => {
      const before = await read(code);
      const isWaiting = order.state === "ArrangingPayment" && order.totalWithTax === before.totalCents;
      const isOpen = before.state === "pending" || before.state === "paid";
      // The order was canceled, or changed after the cards were charged.
      if (isOpen && !isWaiting && !isOrdered(order)) await checkout.cancel(code);
      else if (before.state === "pending") await checkout.confirm(code);
      const { state, attemptId, createdAt } = await read(code);
      await orders.closePayments(code, (other) => other !== attemptId || reversedStates.includes(state));
      if (state !== "paid") return;
      const card = await orders.liveCard(ctx, order.id);
      if (card?.state === "Authorized") await orderService.settlePayment(ctx, card.id);
      // The process died after the purchase was paid and before Vendure stored the payment.
      if (!card && !isOrdered(order) && Date.now() - createdAt.getTime() > leaseMs)
        await orderService.addPaymentToOrder(ctx, order.id, { method: GIFT_CARD, metadata: {} });
    });
  }

  async function read(/** @type {string} */ code) {
    const purchase = await checkout.read(code);
    if (!purchase) throw new Error("The purchase is gone.");
    return purchase;
  }

  /**
   * Charges the order's cards, from inside `addPaymentToOrder`.
   * @returns the payment for Vendure to store: settled if the cards pay everything, else authorized until the remainder is paid
   * @throws {CheckoutError} then no money was taken, or it is being returned
   * @param {RequestContext} ctx @param {Order} order @param {number | undefined} expectedRemainderCents
   */
  async function pay(ctx, order, expectedRemainderCents) {
    const [cart, { code }] = [cartOf(order), order];
    const { coveredCents } = await checkout.list(cart);
    const known = await checkout.read(code);
    // If this is a retry after a lost response, the cards are spent already, and the purchase has the amounts.
    if (coveredCents === 0 && known?.state !== "paid" && known?.state !== "pending")
      throw new CheckoutError("nothing_to_pay");
    const expected = expectedRemainderCents === undefined ? {} : { expectedRemainderCents };
    const { status, cards } = await orders.within(ctx, code, () => checkout.pay({ id: code, cart, ...expected }));
    // Keep the lock until Vendure has stored the payment.
    const now = await orders.lock(ctx, code);
    const { attemptId } = await read(code);
    const isChanged = now.state !== "ArrangingPayment" || now.totalWithTax !== order.totalWithTax;
    if (isChanged) soon(code);
    if (isChanged || (await orders.liveCard(ctx, order.id))) throw new CheckoutError("cart_completed");
    return {
      amount: cards.reduce((sum, { amountCents }) => sum + amountCents, 0),
      state: /** @type {const} */ (status === "paid" ? "Settled" : "Authorized"),
      transactionId: attemptId,
      metadata: { public: { cards } },
    };
  }

  /** Why an order may not be completed yet, or undefined. @param {RequestContext} ctx @param {Order} order */
  async function refusalOf(ctx, order) {
    const payments = await orders.livePayments(ctx, order.id);
    const card = payments.find(({ method }) => method === GIFT_CARD);
    if (orders.hasOld(payments, card?.transactionId)) return "Money of this order is on its way back.";
    if (!card) return undefined;
    try {
      await checkout.assertPaid(order.code, order.totalWithTax);
      return undefined;
    } catch (error) {
      if (error instanceof CheckoutError) return `The gift card doesn't pay this order: ${error.code}.`;
      throw error;
    }
  }

  /** Settles Vendure's pending refunds whose card charges are reversed. */
  async function settleRefunds() {
    const where = /** @type {const} */ ({ state: "Pending", payment: { method: GIFT_CARD } });
    const owed = await connection.rawConnection
      .getRepository(Refund)
      .find({ where, relations: ["payment", "payment.order"], take: PAGE_SIZE });
    for (const { id, payment } of owed) {
      await orders.alone(payment.order.code, async (ctx) => {
        const { charges } = await checkout.operator.charges({ orderIds: [payment.order.code] });
        if (charges.every(({ state }) => ["reversed", "refused"].includes(state)))
          await orderService.settleRefund(ctx, { id, transactionId: payment.transactionId });
      });
    }
  }

  /** Returns orders with payments that are not placed, or are canceled. */
  async function openOrderCodes() {
    const state = In(["Authorized", "Settled"]);
    const where = [
      { state, order: { orderPlacedAt: IsNull() } },
      { state, method: GIFT_CARD, order: { state: "Cancelled" }, refunds: { id: IsNull() } },
    ];
    const found = await connection.rawConnection
      .getRepository(Payment)
      .find({ where, relations: ["order", "refunds"] });
    return found.map(({ order }) => order.code);
  }

  /** Returns orders that cards have paid recently, which Vendure may not have stored. @param {Date} from */
  async function paidOrderCodes(from) {
    const codes = [];
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const { charges } = await checkout.operator.charges({ states: ["committed"], from, limit: PAGE_SIZE, offset });
      codes.push(...charges.map(({ orderId }) => String(orderId)));
      if (charges.length < PAGE_SIZE) return codes;
    }
  }

  let sweptUntil = Date.now() - DAY_MS;

  /** Runs the checkout's recovery, then `settle` for each order that a crash may have left inconsistent. */
  async function sweep() {
    const startedAt = Date.now();
    await checkout.recover();
    const codes = [...(await openOrderCodes()), ...(await paidOrderCodes(new Date(sweptUntil - 3 * leaseMs)))];
    for (const code of new Set(codes)) await settle(code).catch(({ message }) => Logger.error(message, "GiftCards"));
    await settleRefunds();
    sweptUntil = startedAt;
  }

  return { checkout, orders, pay, refusalOf, settle, soon, sweep, close: () => pool.end() };
}

/** @typedef {Awaited<ReturnType<typeof openGiftCards>>} GiftCards */
