import { type CartView, CheckoutError, createHandler } from "@giftcard-pay/checkout";
import { toNodeListener } from "@giftcard-pay/checkout/node";
import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { type CartPayment, readCartPayment } from "../../../cart/cart-payment.js";
import { withCartLock } from "../../../cart/cart-turn.js";
import { dropStaleSessions, refusePaid } from "../../../cart/sessions.js";
import { contextOf } from "../../../context/context.js";
import { toMedusaError } from "../../../errors.js";
import { providersOfCart } from "../../../medusa-tables/carts.js";
import { PROVIDER_ID } from "../../../names.js";

/**
 * Handles every route below `/store/giftcard-pay`, on Medusa's carts. Medusa itself decides which pages may call it
 * (`storeCors`), and identifies a cart by its id alone.
 */
export function shopRoute(req: MedusaRequest, res: MedusaResponse): Promise<void> {
  const { engine, settings, addresses } = contextOf(req.scope);
  const handler = createHandler(
    {
      balance: engine.balance,
      list: async (cart) => {
        const summary = await engine.summary(cart);
        // Cards that were applied before the region stopped taking them are shown, so that they can be removed.
        if (summary.cards.length === 0) await refuseRegion(req, cart.id);
        return summary;
      },
      quote: async (cart, request) => {
        addresses.note(cart.id, cart.address);
        await refuseRegion(req, cart.id);
        return engine.quote(cart, request);
      },
      apply: async (cart, request) => {
        addresses.note(cart.id, cart.address);
        await refuseRegion(req, cart.id);
        // Ask the service before taking the lease: it may take seconds.
        const quote = "quoteId" in request ? request : { quoteId: (await engine.quote(cart, request)).quoteId };
        return changeCards(req, cart, (now, also) => engine.apply(now, quote, also));
      },
      remove: (cart, id) => changeCards(req, cart, (now, also) => engine.remove(now, id, also)),
    },
    {
      path: "/store/giftcard-pay",
      checksOrigin: false,
      // The balance of a card needs no cart.
      cartOf: async () => (req.params.cart === undefined ? null : (await openCart(req)).cart),
      onFailure: (error) => {
        toMedusaError(error, contextOf(req.scope).logger);
      },
    },
  );
  return toNodeListener(handler, { addressHeader: settings.addressHeader })(req, res);
}

/** Reads the cart in the path: it must exist, be in euro, and not be an order yet. */
async function openCart(req: MedusaRequest): Promise<CartPayment> {
  const payment = await readCartPayment(req.scope, String(req.params.cart));
  if (payment.isCompleted) throw new CheckoutError("cart_completed");
  if (!payment.isEuro) throw new CheckoutError("currency_not_supported");
  return payment;
}

/** Refuses cards if the cart's region doesn't offer them. @throws {CheckoutError} giftcards_not_accepted */
async function refuseRegion({ scope }: MedusaRequest, cartId: string): Promise<void> {
  const { sql, logger } = contextOf(scope);
  if ((await providersOfCart(sql, cartId)).includes(PROVIDER_ID)) return;
  logger.info(`giftcard: the region of cart ${cartId} takes no gift cards, since it doesn't offer ${PROVIDER_ID}.`);
  throw new CheckoutError("giftcards_not_accepted");
}

type Change = (cart: CartView, also: () => Promise<void>) => Promise<CartSummary>;

/**
 * Changes the applied cards, and deletes payment sessions that were created for other cards: both, or neither if
 * another method already has its money.
 */
function changeCards(req: MedusaRequest, { id, address }: CartView, change: Change): Promise<CartSummary> {
  const { engine } = contextOf(req.scope);
  return withCartLock(req.scope, id, async () => {
    const payment = await openCart(req);
    refusePaid(payment.otherSessions);
    const cart = { ...payment.cart, address };
    return change(cart, async () => dropStaleSessions(req.scope, payment, await engine.plan(cart)));
  });
}
