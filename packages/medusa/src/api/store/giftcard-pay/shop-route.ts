import { type CartSummary, type CartView, CheckoutError, createHandler } from "@giftcard-pay/checkout";
import { toNodeListener } from "@giftcard-pay/checkout/node";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../../../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../../../names.js";
import { shopperAddress } from "../../../shopper-address.js";
import { providersOfCart, readCartPayment } from "../../../workflows/cart-payment.js";
import { dropStaleSessions, refusePaid } from "../../../workflows/sessions.js";

/**
 * Every route below `/store/giftcard-pay`: those of any shop, on Medusa's carts. Medusa itself says which pages may call
 * (`storeCors`), and knows a cart by its id alone.
 */
export function shopRoute(req: MedusaRequest, res: MedusaResponse): Promise<void> {
  const { engine, settings } = req.scope.resolve<GiftcardService>(GIFTCARD_MODULE);
  const handler = createHandler(
    {
      balance: engine.balance,
      list: engine.summary,
      quote: engine.quote,
      apply: (cart, request) => changeCards(req, cart, () => engine.apply(cart, request)),
      remove: (cart, id) => changeCards(req, cart, () => engine.remove(cart, id)),
    },
    {
      path: "/store/giftcard-pay",
      checksOrigin: false,
      cartOf: () => openCart(req),
      addressOf: () => shopperAddress(req, settings.trustedAddressHeader),
      onFailure: (error) => {
        const text = error instanceof Error ? (error.stack ?? error.message) : "unknown failure";
        req.scope.resolve(ContainerRegistrationKeys.LOGGER).error(`giftcard: ${text}`);
      },
    },
  );
  return toNodeListener(handler)(req, res);
}

/** The cart that the path names: there, in euro, and not an order yet. */
async function openCart(req: MedusaRequest): Promise<CartView> {
  const { cart, isCompleted, isEuro } = await readCartPayment(req.scope, String(req.params.cart));
  if (isCompleted) throw new CheckoutError("cart_completed");
  if (!isEuro) throw new CheckoutError("currency_not_supported");
  return cart;
}

/** Changes the applied cards, then drops payment sessions that were made for another remainder. */
async function changeCards(
  req: MedusaRequest,
  cart: CartView,
  change: () => Promise<CartSummary>,
): Promise<CartSummary> {
  const [{ otherSessions }, providerIds] = await Promise.all([
    readCartPayment(req.scope, cart.id),
    providersOfCart(req.scope, cart.id),
  ]);
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
