/** A payment method in Vendure for the simulated bank. It works with and without gift cards. */
import { GiftcardOrders, outstandingOf } from "@giftcard-pay/vendure";
import { LanguageCode, PaymentMethodHandler, UserInputError } from "@vendure/core";

const BANK_TIMEOUT_MS = 5_000;
const TRIES = 3;

/** @param {string} bankUrl */
export function openBank(bankUrl) {
  /**
   * Repeats a call whose answer is lost. Every call names its payment, so the bank does it once.
   * @param {string} method @param {string} path @param {object} [body]
   * @returns {Promise<boolean>}
   */
  async function ask(method, path, body, triesLeft = TRIES) {
    try {
      return await askOnce(method, path, body);
    } catch (error) {
      if (triesLeft === 1) throw error;
      return ask(method, path, body, triesLeft - 1);
    }
  }
  /** @param {string} method @param {string} path @param {object} [body] */
  async function askOnce(method, path, body) {
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
 * Makes the method. Next to gift cards it uses the cards' `attemptId` as the payment's id at the bank, so that the option
 * `closePayment` can close a payment that Vendure never stored.
 * @param {ReturnType<typeof openBank>} bank
 */
export function bankMethod(bank) {
  /** @type {import("@vendure/core").Injector} */
  let injector;
  return new PaymentMethodHandler({
    code: "bank",
    description: [{ languageCode: LanguageCode.en, value: "Bank" }],
    args: {},
    init: (given) => {
      injector = given;
    },
    async createPayment(ctx, order, amount, _args, { amountCents = amount }) {
      const refuse = (/** @type {string} */ errorMessage) =>
        /** @type {const} */ ({ amount, state: "Declined", errorMessage, metadata: {} });
      await injector.get(GiftcardOrders).lock(ctx, order.code);
      const outstanding = await outstandingOf(injector, ctx, order).catch((error) => {
        if (error instanceof UserInputError) return error.message;
        throw error;
      });
      if (typeof outstanding === "string") return refuse(outstanding);
      // The cards may have been reversed after the shopper saw this amount.
      if (amountCents !== outstanding.amountCents) return refuse("There is another amount to pay.");
      const id = outstanding.attemptId ?? order.code;
      if (!(await bank.take(id, { amountCents, orderCode: order.code }))) return refuse("The bank refuses.");
      return { amount: amountCents, state: "Settled", transactionId: id, metadata: {} };
    },
    settlePayment: async () => ({ success: true }),
    async createRefund(ctx, _input, amount, order, payment) {
      const held = await injector.get(GiftcardOrders).lockHeldCents(ctx, order.code, payment.id);
      // The id contains the amount held before, so that a repeated request after a crash is the same refund.
      const part = { id: `${payment.id}:${held}`, amountCents: amount };
      const isDone = amount <= held && (await bank.giveBack(payment.transactionId, part));
      return { state: isDone ? "Settled" : "Failed", transactionId: part.id };
    },
  });
}
