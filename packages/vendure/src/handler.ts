import { CheckoutError } from "@giftcard-pay/checkout";
import {
  type Injector,
  LanguageCode,
  type OrderProcess,
  PaymentMethodHandler,
  type PaymentProcess,
  type RuntimeVendureConfig,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { HANDLER_CODE } from "./constants.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";
import { CardPayments } from "./payments.js";
import { CardRefunds } from "./refunds.js";
import { Settlement } from "./settlement.js";
import { StripeWebhookInterceptor } from "./stripe-webhook.js";

/** Vendure doesn't export this type. */
type RefundProcess = NonNullable<RuntimeVendureConfig["paymentOptions"]["refundProcess"]>[number];

/** Makes the payment method of all cards of an order. */
export function createHandler({ paymentMethodCode }: Settings): PaymentMethodHandler {
  let injector: Injector;
  return new PaymentMethodHandler({
    code: HANDLER_CODE,
    description: [
      { languageCode: LanguageCode.en, value: "Gift cards" },
      { languageCode: LanguageCode.nl, value: "Cadeaukaarten" },
      { languageCode: LanguageCode.de, value: "Geschenkkarten" },
      { languageCode: LanguageCode.fr, value: "Cartes cadeaux" },
    ],
    args: {},
    init: (given) => {
      injector = given;
    },
    async createPayment(ctx, order, _amount, _args, metadata, method) {
      if (method.code !== paymentMethodCode)
        throw new Error(
          `GiftcardPlugin: the payment method's code has to be "${paymentMethodCode}" (paymentMethodCode).`,
        );
      const { totalCents, remainderCents } = metadata ?? {};
      try {
        for (const shown of [totalCents, remainderCents])
          if (shown !== undefined && !Number.isSafeInteger(shown)) throw new CheckoutError("amount_changed");
        return await injector.get(CardPayments).pay(ctx, order, {
          ...(totalCents !== undefined && { expectedTotalCents: totalCents }),
          ...(remainderCents !== undefined && { expectedRemainderCents: remainderCents }),
        });
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error;
        const { code, message } = error;
        // A page can send any text, which may not reach Vendure's tables.
        const shown = Object.entries({ totalCents, remainderCents }).filter(([, cents]) => typeof cents === "number");
        const given =
          code === "amount_changed" ? shown.map(([name, cents]) => ` metadata.${name} was ${cents}.`).join("") : "";
        return { amount: 0, state: "Declined", errorMessage: message + given, metadata: { public: { code } } };
      }
    },
    /** Only the plugin settles the payment, once the remainder is paid. An administrator can't do it earlier. */
    async settlePayment(_ctx, order, { transactionId }) {
      const purchase = await injector.get(GiftcardCheckout).calls.read(order.code);
      if (purchase?.state === "paid" && purchase.attemptId === transactionId) return { success: true };
      return { success: false, state: "Authorized", errorMessage: "The remainder of this order isn't paid yet." };
    },
    async cancelPayment(ctx, { code }, { id, transactionId }) {
      const orders = injector.get(Orders);
      if (orders.isClosing()) return { success: true };
      // Vendure has read the payment without a lock. The order may have been paid and placed since.
      const order = await orders.lock(ctx, code);
      if ((await orders.livePayment(ctx, order.id, id))?.state === "Settled")
        return { success: false, state: "Settled", errorMessage: "Refund the payment, or cancel the order." };
      await orders.within(ctx, code, () => injector.get(GiftcardCheckout).calls.cancel(code, transactionId));
      return { success: true };
    },
    createRefund: (ctx, input, amountCents, order, payment) =>
      injector.get(CardRefunds).refund({
        ...{ ctx, order, payment, amountCents },
        isFirst: String(input.paymentId) === String(payment.id),
      }),
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
      const orders = injector.get(Orders);
      // If an order is overpaid, methods are asked for a negative amount. Vendure counts declined payments in refunds too:
      // a negative one makes it fail after the provider has refunded.
      if (to === "Declined" || to === "Error") payment.amount = Math.max(0, payment.amount);
      const hasPurchase = async () => (await injector.get(GiftcardCheckout).calls.read(code)) !== null;
      if (from !== "Created" || orders.isCard(payment) || !(await hasPurchase())) return undefined;
      // The order is placed after the commit. Until then, a provider's second webhook would add the same payment again.
      const order = await orders.lock(ctx, code);
      // A provider may repeat a webhook long after its payment was refunded.
      const webhooks = injector.get(StripeWebhookInterceptor);
      // Staff may give two manual payments of a placed order the same id.
      const isUnique = webhooks.isAbout(payment.transactionId) || order.orderPlacedAt == null;
      if (isUnique && (await orders.isRecorded(ctx, id, payment))) return "This payment is recorded already.";
      const others = (await orders.livePayments(ctx, id)).filter((one) => one.id !== payment.id);
      if (/^(Settled|Authorized)$/.test(to) && payment.amount <= 0) return "This order has no outstanding amount.";
      const named = webhooks.attemptOf(payment.transactionId);
      const attemptId = await injector.get(Settlement).attemptOfNew(order, others, payment, named);
      if (attemptId) payment.metadata = { ...payment.metadata, giftcardAttemptId: attemptId };
      return undefined;
    },
  };
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
      if (to !== "PaymentAuthorized" && to !== "PaymentSettled") return undefined;
      return injector.get(Settlement).refusalOf(ctx, order);
    },
  };
}
