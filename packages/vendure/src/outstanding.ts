import { type Injector, type Order, type RequestContext, UserInputError } from "@vendure/core";
import { Gates, type Outstanding } from "./gates.js";

/**
 * Returns the amount that a payment provider may ask for: the total without what gift cards and other payments have paid.
 * Call it before the provider is asked.
 *
 * @throws {UserInputError} if nothing is outstanding, if money of an earlier attempt is being returned, if the order has changed
 *   since its cards were charged, or if gift cards are applied and not charged yet, or being charged
 */
export async function outstandingOf(injector: Injector, ctx: RequestContext, order: Order): Promise<Outstanding> {
  const outstanding = await injector.get(Gates).outstanding(ctx, order);
  if (typeof outstanding === "string") throw new UserInputError(outstanding);
  return outstanding;
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
