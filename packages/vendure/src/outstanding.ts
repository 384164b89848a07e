import { cartStates } from "@giftcard-pay/checkout/store";
import { type Injector, type Order, type RequestContext, UserInputError } from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { cartOf } from "./lines.js";
import { heldCentsOf, Orders } from "./orders.js";

/** The amount that other methods still have to pay for an order. */
export interface Outstanding {
  /** Above 0. */
  readonly amountCents: number;
  /**
   * The attempt of the gift cards that were charged, or undefined if there are none. If the payment's name at the provider
   * contains it, the option `closePayment` can find a payment that Vendure never stored.
   */
  readonly attemptId: string | undefined;
}

/**
 * Returns the amount that a payment provider may ask for: the total without what gift cards and other payments have paid.
 * Call it before the provider is asked.
 *
 * @throws {UserInputError} if nothing is outstanding, if money of an earlier attempt is being returned, or if gift cards are
 *   applied and not charged yet, or being charged
 */
export async function outstandingOf(injector: Injector, ctx: RequestContext, order: Order): Promise<Outstanding> {
  const orders = injector.get(Orders);
  const payments = await orders.livePayments(ctx, order.id);
  const card = payments.find(orders.isCard);
  if (orders.hasOld(payments, card?.transactionId)) throw new UserInputError("Money of this order is being returned.");
  if (!card) {
    const { calls } = injector.get(GiftcardCheckout);
    // The cards are charged before Vendure stores their payment.
    const purchase = await calls.read(order.code);
    if (purchase && cartStates.includes(purchase.state))
      throw new UserInputError("The gift cards of this order are being charged. Try again in a moment.");
    if ((await calls.list(cartOf(order))).coveredCents > 0)
      throw new UserInputError("Gift cards are applied to this order. Charge them first, or remove them.");
  }
  const amountCents = order.totalWithTax - heldCentsOf(payments);
  if (amountCents <= 0) throw new UserInputError("This order has no outstanding amount.");
  return { amountCents, attemptId: card?.transactionId };
}

/** The options of Vendure's StripePlugin that the plugin completes. */
interface StripeOptions {
  paymentIntentCreateParams?: (injector: Injector, ctx: RequestContext, order: Order) => unknown;
  requestOptions?: (injector: Injector, ctx: RequestContext, order: Order) => unknown;
}

const aware = Symbol.for("giftcard-pay.outstanding");

/** Whether options of StripePlugin charge the outstanding amount. */
export const isOutstandingAware = (options: object | undefined): boolean => options !== undefined && aware in options;

/**
 * Completes the options of Vendure's StripePlugin, so that it charges an order's outstanding amount. By itself it charges
 * the total, even if gift cards have paid a part of it.
 *
 * @param options the shop's own options of StripePlugin
 */
export function outstandingByStripe<Options extends object>(options: Options = {} as Options): Options {
  const own: StripeOptions = options;
  const completed: StripeOptions & { [aware]: true } = {
    ...own,
    paymentIntentCreateParams: async (injector, ctx, order) => {
      const { amountCents, attemptId } = await outstandingOf(injector, ctx, order);
      const params = Object(await own.paymentIntentCreateParams?.(injector, ctx, order));
      const metadata = { ...params.metadata, ...(attemptId && { giftcardAttemptId: attemptId }) };
      return { ...params, metadata, amount: amountCents };
    },
    // A new amount or new cards need a new intent. StripePlugin's own key depends on the total only.
    requestOptions: async (injector, ctx, order) => {
      const { amountCents, attemptId } = await outstandingOf(injector, ctx, order);
      const request = Object(await own.requestOptions?.(injector, ctx, order));
      return { ...request, idempotencyKey: [order.code, amountCents, attemptId].filter(Boolean).join("_") };
    },
    [aware]: true,
  };
  return completed as unknown as Options;
}
