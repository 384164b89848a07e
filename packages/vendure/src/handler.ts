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
      const expected = metadata?.remainderCents;
      try {
        return await injector
          .get(CardPayments)
          .pay(ctx, order, Number.isSafeInteger(expected) ? Number(expected) : undefined);
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
    async cancelPayment(ctx, order) {
      const orders = injector.get(Orders);
      if (!orders.isClosing())
        await orders.within(ctx, order.code, () => injector.get(GiftcardCheckout).calls.cancel(order.code));
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
    async onTransitionStart(from, _to, { ctx, payment, order }) {
      const orders = injector.get(Orders);
      if (from !== "Created" || orders.isCard(payment)) return undefined;
      const card = await orders.liveCard(ctx, order.id);
      const attemptId = card?.transactionId ?? (await injector.get(Settlement).lateAttemptOf(order, payment.amount));
      if (!attemptId) return undefined;
      payment.metadata = { ...payment.metadata, giftcardAttemptId: attemptId };
      // The order is placed after the commit. Until then, a provider's second webhook would add the same payment again.
      if (orders.isInTransaction(ctx)) await orders.lock(ctx, order.code);
      const isKnown = (await orders.livePayments(ctx, order.id)).some(
        ({ id, method, transactionId }) =>
          id !== payment.id && method === payment.method && transactionId && transactionId === payment.transactionId,
      );
      return isKnown ? "This payment is recorded already." : undefined;
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
    async onTransitionStart(_from, to, { ctx, order }) {
      if (to !== "PaymentAuthorized" && to !== "PaymentSettled") return undefined;
      return injector.get(Settlement).refusalOf(ctx, order);
    },
  };
}
