import { CheckoutError } from "@giftcard-pay/checkout";
import { reversedStates } from "@giftcard-pay/checkout/store";
import {
  ConfigService,
  type Injector,
  type LanguageCode,
  type OrderProcess,
  type Payment,
  PaymentMethodHandler,
  type PaymentProcess,
  type RequestContext,
  type RuntimeVendureConfig,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { HANDLER_CODE } from "./constants.js";
import { Gates } from "./gates.js";
import { heldCents, liveStates, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";
import { CardPayments } from "./payments.js";
import { CardRefunds } from "./refunds.js";
import { Settlement } from "./settlement.js";
import { StripeWebhookInterceptor } from "./stripe-webhook.js";

type RefundProcess = NonNullable<RuntimeVendureConfig["paymentOptions"]["refundProcess"]>[number];

const NAMES = { en: "Gift cards", nl: "Cadeaukaarten", de: "Geschenkkarten", fr: "Cartes cadeaux" };

/** Makes the payment method of all cards of an order. */
export function createHandler({ paymentMethodCode }: Settings): PaymentMethodHandler {
  let injector: Injector;
  return new PaymentMethodHandler({
    code: HANDLER_CODE,
    description: Object.entries(NAMES).map(([code, value]) => ({ languageCode: code as LanguageCode, value })),
    args: {},
    init: (given) => {
      injector = given;
    },
    async createPayment(ctx, order, _amount, _args, metadata, method) {
      if (method.code !== paymentMethodCode)
        throw new Error(
          `GiftcardPlugin: the payment method's code has to be "${paymentMethodCode}" (paymentMethodCode).`,
        );
      try {
        return await injector.get(CardPayments).pay(ctx, order, metadata?.plan);
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error;
        const { code, message: errorMessage } = error;
        return { amount: 0, state: "Declined", errorMessage, metadata: { public: { code } } };
      }
    },
    /** Only the plugin settles the payment, once the remainder is paid. An administrator can't do it earlier. */
    async settlePayment(_ctx, order, { transactionId }) {
      const purchase = await injector.get(GiftcardCheckout).calls.read(order.code);
      if (purchase?.state === "paid" && purchase.attemptId === transactionId) return { success: true };
      return { success: false, state: "Authorized", errorMessage: "The remainder of this order isn't paid yet." };
    },
    async cancelPayment(ctx, { code }, { id, transactionId }) {
      // Vendure has read the payment without a lock. The order may have been paid and placed since.
      const orders = injector.get(Orders);
      const order = await orders.lock(ctx, code);
      const refuse = (state: "Settled" | "Authorized", errorMessage: string) =>
        ({ success: false, state, errorMessage }) as const;
      if ((await orders.lockPayment(ctx, order.id, id))?.state === "Settled")
        return refuse("Settled", "Refund the payment, or cancel the order.");
      const checkout = injector.get(GiftcardCheckout);
      const purchase = await checkout.read(code);
      const isOver = purchase.attemptId !== transactionId || reversedStates.includes(purchase.state);
      // The cards are reversed after the commit.
      if (isOver || (await checkout.beginReversal(purchase))) return { success: true };
      return refuse("Authorized", "The gift cards are being charged or refunded. Try again in a moment.");
    },
    createRefund: (ctx, input, amountCents, order, payment) =>
      injector.get(CardRefunds).refund(ctx, input, amountCents, order, payment),
  });
}

/** Makes the process that stores the cards' attempt in every payment that is made next to gift cards. */
export function createPaymentProcess(): PaymentProcess<never> {
  let injector: Injector;
  return {
    init: (given) => {
      injector = given;
    },
    async onTransitionStart(from, to, { ctx, payment, order: { code, id } }) {
      const [orders, money] = [injector.get(Orders), injector.get(Money)];
      // If an order is overpaid, Vendure asks methods for a negative amount. It counts declined payments in refunds too: a
      // negative one makes it fail after the provider has refunded.
      if (to === "Declined" || to === "Error") payment.amount = Math.max(0, payment.amount);
      const hasPurchase = async () => (await injector.get(GiftcardCheckout).calls.read(code)) !== null;
      if (from !== "Created" || money.isCard(payment) || !(await hasPurchase())) return undefined;
      // The order is placed after the commit. Until then, a provider's second webhook would add the same payment again.
      const order = await orders.lock(ctx, code);
      const others = (await money.payments(ctx, id)).filter((one) => one.id !== payment.id);
      const webhooks = injector.get(StripeWebhookInterceptor);
      if (/^(Settled|Authorized)$/.test(to)) {
        if (payment.amount < 0) return "This order has no outstanding amount.";
        const isStripe = webhooks.isAbout(payment.transactionId);
        const repeated = others.find((one) => isRepeated(one, payment, ctx, isStripe, orders.wasPlaced(order)));
        // A webhook is often repeated. A shopper may have paid again, by a provider whose ids repeat.
        const isSame = repeated?.amount === payment.amount && heldCents(repeated) > 0;
        if (repeated && !isStripe && (ctx.apiType === "shop" || !isSame)) {
          const what = `${payment.method} has reported the payment ${payment.transactionId} again.`;
          injector.get(Settlement).noteSoon(code, `${what} If it was paid again, refund it at its provider.`);
        }
        if (repeated) return "This payment is recorded already.";
      }
      const named = webhooks.attemptOf(payment.transactionId);
      const live = others.filter(({ state }) => liveStates.includes(state));
      const attemptId = await injector.get(Gates).attemptOfNew(order, live, payment, named);
      if (attemptId) payment.metadata = { ...payment.metadata, giftcardAttemptId: attemptId };
      return undefined;
    },
  };
}

/**
 * Whether a payment was recorded before. Ids may repeat: the provider of a shopper's call has just taken the money, unless it
 * answers a repeated request with a payment that holds the same amount. A webhook may be repeated long after its payment was
 * refunded. Staff may give two manual payments of a placed order the same id; a webhook has no user.
 */
function isRepeated(one: Payment, made: Payment, ctx: RequestContext, isStripe: boolean, wasPlaced: boolean): boolean {
  if (!made.transactionId || one.method !== made.method || one.transactionId !== made.transactionId) return false;
  const isHeld = heldCents(one) > 0;
  if (isStripe) return isHeld || /^(Settled|Authorized|Cancelled)$/.test(one.state);
  if (wasPlaced && (ctx.apiType === "shop" || ctx.activeUserId)) return false;
  if (ctx.apiType === "shop") return isHeld && one.amount === made.amount;
  return /^(Settled|Authorized|Cancelled)$/.test(one.state);
}

/** Lets a refund stay pending. By itself, Vendure reports an error if a payment method returns a pending refund. */
export const refundProcess: RefundProcess = { transitions: { Pending: { to: ["Pending"] } } };

/** Makes the process that completes an order only if its cards can no longer be reversed. */
export function createOrderProcess(): OrderProcess<never> {
  let injector: Injector;
  return {
    init: (given) => {
      injector = given;
    },
    async onTransitionStart(from, to, { ctx, order }) {
      if (!(await injector.get(GiftcardCheckout).calls.read(order.code))) return undefined;
      const orders = injector.get(Orders);
      const now = await orders.lock(ctx, order.code);
      if (now.state !== from) return "The order has changed meanwhile. Load it again.";
      // Vendure saves the order with the payments that it has read before, and detaches any that were added since.
      order.payments = await orders.service.getOrderPayments(ctx, order.id);
      const { orderPlacedStrategy } = injector.get(ConfigService).orderOptions;
      const isPaying = to === "PaymentAuthorized" || to === "PaymentSettled";
      // A shop may place its orders in another state.
      const isPlacing =
        isPaying || (order.active && (await orderPlacedStrategy.shouldSetAsPlaced(ctx, from, to, order)));
      return isPlacing ? injector.get(Gates).refusalOf(ctx, order) : undefined;
    },
  };
}
