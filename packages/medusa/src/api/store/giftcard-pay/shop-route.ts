import {
  type CartSummary,
  type CartView,
  CheckoutError,
  type Engine,
  toCheckoutError,
} from "@giftcard-pay/checkout";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../../../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../../../names.js";
import { shopperAddress } from "../../../shopper-address.js";
import { readCartPayment } from "../../../workflows/cart-payment.js";
import { dropStaleSessions, refusePaid } from "../../../workflows/sessions.js";

/** What each of the routes gets: the flow, the cart, and the request. */
export interface ShopCall {
  readonly engine: Engine;
  readonly cart: CartView;
  readonly req: MedusaRequest;
}

/**
 * Makes a route that answers in the shapes of `@giftcard-pay/checkout/storefront`: what `call` returns, or a ShopError.
 * The cart is there, in euro, and not an order yet.
 */
export function shopRoute<T>(call: (context: ShopCall) => Promise<T>) {
  return cartlessRoute(async ({ engine, req, address }) => {
    const { cart, isCompleted, isEuro } = await readCartPayment(req.scope, String(req.params.cart));
    if (isCompleted) throw new CheckoutError("cart_completed");
    if (!isEuro) throw new CheckoutError("currency_not_supported");
    return call({ engine, cart: { ...cart, address }, req });
  });
}

/** Makes a route as `shopRoute` does, for a page without a cart. */
export function cartlessRoute<T>(
  call: (context: Pick<ShopCall, "engine" | "req"> & { address: string | undefined }) => Promise<T>,
) {
  return async (req: MedusaRequest, res: MedusaResponse): Promise<void> => {
    res.setHeader("Cache-Control", "no-store");
    try {
      const { engine, settings } = req.scope.resolve<GiftcardService>(GIFTCARD_MODULE);
      const address = shopperAddress(req, settings.trustedAddressHeader);
      res.status(200).json(await call({ engine, req, address }));
    } catch (error) {
      answerRefusal(error, req, res);
    }
  };
}

/** Changes the applied cards, then drops payment sessions that were made for another remainder. */
export async function changeCards(
  { cart, req }: ShopCall,
  change: () => Promise<CartSummary>,
): Promise<CartSummary> {
  const { otherSessions, providerIds } = await readCartPayment(req.scope, cart.id);
  refusePaid(otherSessions);
  if (!providerIds.includes(PROVIDER_ID)) {
    const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
    logger.error(`giftcard: enable the payment provider ${PROVIDER_ID} in the cart's region.`);
    throw new CheckoutError("service_unavailable");
  }
  const summary = await change();
  await dropStaleSessions(req.scope, cart.id);
  return summary;
}

function answerRefusal(error: unknown, req: MedusaRequest, res: MedusaResponse): void {
  const refusal = toCheckoutError(error);
  if (refusal.code === "internal") {
    const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
    logger.error(`giftcard: ${error instanceof Error ? (error.stack ?? error.message) : "unknown failure"}`);
  }
  if (refusal.retryAfterSeconds !== undefined)
    res.setHeader("Retry-After", String(refusal.retryAfterSeconds));
  res.status(refusal.status).json(refusal.toJSON());
}
