/** Vendure's configuration: two payment methods, and the check before an order is completed. */
import { CheckoutError } from "@giftcard-pay/checkout";
import { LanguageCode, PaymentMethodHandler } from "@vendure/core";
import { GIFT_CARD } from "./orders.js";

const BANK_TIMEOUT_MS = 5_000;
const describe = (/** @type {string} */ value) => [{ languageCode: LanguageCode.en, value }];

/** @param {() => import("./gift-cards.js").GiftCards} giftCards available once Vendure has started */
export function giftCardPayment(giftCards) {
  return new PaymentMethodHandler({
    code: GIFT_CARD,
    description: describe("Gift card"),
    args: {},
    async createPayment(ctx, order, _amount, _args, { remainderCents }) {
      try {
        return await giftCards().pay(ctx, order, remainderCents);
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error;
        return {
          amount: 0,
          state: "Declined",
          errorMessage: error.message,
          metadata: { public: { code: error.code } },
        };
      }
    },
    /** Only this code settles the payment, once the remainder is paid. An admin can't do it earlier. */
    async settlePayment(_ctx, order, { transactionId }) {
      const purchase = await giftCards().checkout.read(order.code);
      if (purchase?.state === "paid" && purchase.attemptId === transactionId) return { success: true };
      return { success: false, state: "Authorized", errorMessage: "The rest of this order isn't paid yet." };
    },
    async cancelPayment(ctx, order) {
      const { checkout, orders } = giftCards();
      if (!orders.isClosing()) await orders.within(ctx, order.code, () => checkout.cancel(order.code));
      return { success: true };
    },
    /** The service reverses a charge only as a whole. */
    async createRefund(ctx, _input, amount, order, payment) {
      const { checkout, orders } = giftCards();
      if (orders.isClosing()) return { state: "Settled", transactionId: payment.transactionId };
      if (amount !== (await orders.lockHeldCents(ctx, order.code, payment.id))) {
        const message = "Only all of it can go back to the cards, and once.";
        return { state: "Failed", transactionId: payment.transactionId, metadata: { message } };
      }
      const back = await orders.within(ctx, order.code, () => checkout.refundCards(order.code));
      const isBack = back.every(({ state }) => state === "reversed" || state === "refused");
      return { state: isBack ? "Settled" : "Pending", transactionId: payment.transactionId };
    },
  });
}

/** @param {string} bankUrl */
export function openBank(bankUrl) {
  /** @param {string} method @param {string} path @param {object} [body] */
  async function ask(method, path, body) {
    const response = await fetch(`${bankUrl}/payments/${path}`, {
      ...{ method, body: JSON.stringify(body), signal: AbortSignal.timeout(BANK_TIMEOUT_MS) },
    });
    if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
    return /** @type {{ isDone: boolean }} */ (await response.json()).isDone;
  }
  return {
    /** @param {string} id @param {{ amountCents: number, orderCode: string }} payment */
    take: (id, payment) => ask("PUT", id, payment),
    /** @param {string} id @param {{ id: string, amountCents: number }} part */
    giveBack: (id, part) => ask("POST", `${id}/refunds`, part),
    /** Refunds all of it, and blocks later captures. @param {string} id */
    close: (id) => ask("DELETE", id),
  };
}

/**
 * Any other method. Next to gift cards it uses the cards' `attemptId` as the payment's id at the bank, so that the bank
 * can close a payment that Vendure never stored.
 * @param {() => import("./gift-cards.js").GiftCards} giftCards
 * @param {ReturnType<typeof openBank>} bank
 */
export function bankPayment(giftCards, bank) {
  return new PaymentMethodHandler({
    code: "bank",
    description: describe("Bank"),
    args: {},
    async createPayment(ctx, order, amount, _args, { amountCents = amount }) {
      const { orders } = giftCards();
      await orders.lock(ctx, order.code);
      const payments = await orders.livePayments(ctx, order.id);
      const id = payments.find(({ method }) => method === GIFT_CARD)?.transactionId ?? order.code;
      const refuse = (/** @type {string} */ errorMessage) =>
        /** @type {const} */ ({ amount, state: "Declined", errorMessage, metadata: {} });
      if (payments.some((one) => one.method === "bank" && one.transactionId === id)) return refuse("It is paid.");
      // The cards may have been reversed after the shopper saw this amount.
      if (amountCents !== amount) return refuse("There is another amount to pay.");
      if (!(await bank.take(id, { amountCents: amount, orderCode: order.code }))) return refuse("The bank refuses.");
      return { amount, state: "Settled", transactionId: id, metadata: {} };
    },
    settlePayment: async () => ({ success: true }),
    async createRefund(ctx, _input, amount, order, payment) {
      const held = await giftCards().orders.lockHeldCents(ctx, order.code, payment.id);
      // The id contains the amount held before, so that a repeated request after a crash is the same refund.
      const part = { id: `${payment.id}:${held}`, amountCents: amount };
      const isDone = amount <= held && (await bank.giveBack(payment.transactionId, part));
      return { state: isDone ? "Settled" : "Failed", transactionId: part.id };
    },
  });
}

/**
 * Stores the cards' attempt in every payment that is made next to gift cards, whatever its method.
 * @param {() => import("./gift-cards.js").GiftCards} giftCards
 * @returns {import("@vendure/core").PaymentProcess<any>}
 */
export const besideGiftCards = (giftCards) => ({
  async onTransitionStart(from, _to, { ctx, payment, order }) {
    if (from !== "Created" || payment.method === GIFT_CARD) return;
    const card = await giftCards().orders.liveCard(ctx, order.id);
    if (card) payment.metadata = { ...payment.metadata, giftCardAttemptId: card.transactionId };
  },
});

/**
 * Completes an order only if its cards can no longer be reversed.
 * @param {() => import("./gift-cards.js").GiftCards} giftCards
 * @returns {import("@vendure/core").OrderProcess<any>}
 */
export const onlyPaidOrders = (giftCards) => ({
  async onTransitionStart(_from, to, { ctx, order }) {
    if (to === "PaymentAuthorized" || to === "PaymentSettled") return giftCards().refusalOf(ctx, order);
  },
});
