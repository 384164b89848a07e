import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { fromCents } from "../../amount.js";
import { readCartPayment } from "../../cart/cart-payment.js";
import { withCartLock } from "../../cart/cart-turn.js";
import { createRemainderSessionWorkflow } from "../../cart/remainder-session.js";
import { createEmptySession, isCovered, planMetadata, refusePaid } from "../../cart/sessions.js";
import { settleCart } from "../../completion/paid-orders.js";
import { contextOf } from "../../context/context.js";
import { toRefusalOfMethod } from "../../errors.js";
import { providersOfCart } from "../../medusa-tables/carts.js";
import { readCollection } from "../../medusa-tables/payments.js";
import { PROVIDER_ID } from "../../names.js";
import { explainNoSession } from "../../providers/giftcard/provider.js";

type Body = { provider_id: string; data?: Record<string, unknown> };
type Request = MedusaRequest & { auth_context?: { actor_id?: string } };

const bodyOf = (req: MedusaRequest) => req.body as Body;

/**
 * Makes Medusa's "initialize payment session" route create the session for what the cards leave to pay, or a session
 * for 0.00 if they leave nothing. A page calls it as usual. A cart that never had a gift card is passed on to Medusa,
 * unless it is a paid order: Medusa would delete the session that holds the order's money, and so refund it.
 */
export async function createRemainderSession(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const collectionId = String(req.params.id);
  if (bodyOf(req).provider_id === PROVIDER_ID) throw await explainNoSession(contextOf(req.scope).sql, collectionId);
  const { cartId, hadCards, paysOrder } = await readCollection(contextOf(req.scope).sql, collectionId);
  if (paysOrder) throw new CheckoutError("cart_completed");
  if (!cartId || !hadCards) return next();
  if (!(await withCartLock(req.scope, cartId, () => makeSession(req, cartId)))) return next();
  const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment_collection",
    fields: req.queryConfig.fields,
    filters: { id: req.params.id },
  });
  res.status(200).json({ payment_collection: data[0] });
}

/** Creates the session. @returns false if Medusa shall create it, since cards pay in euro only */
async function makeSession(req: Request, cartId: string): Promise<boolean> {
  const giftcard = contextOf(req.scope);
  const { engine } = giftcard;
  const payment = await readCartPayment(req.scope, cartId);
  if (payment.isCompleted) throw new CheckoutError("cart_completed");
  if (!payment.isEuro) return false;
  refusePaid(payment.otherSessions);
  await settleCart(giftcard, cartId);
  const plan = await engine.plan(payment.cart);
  if (isCovered(plan)) {
    await createEmptySession(req.scope, payment, plan);
    return true;
  }
  const { provider_id } = bodyOf(req);
  // Medusa before 2.20 accepts any method that the store has loaded. One that asks for nothing would place an order
  // unpaid.
  if (!(await providersOfCart(giftcard.sql, cartId)).includes(provider_id)) throw notOffered(provider_id);
  const input = {
    payment_collection_id: String(req.params.id),
    provider_id,
    customer_id: req.auth_context?.actor_id,
    data: bodyOf(req).data,
    amount: fromCents(plan.remainderCents),
    metadata: planMetadata(plan),
    stale_sessions: [...payment.otherSessions, ...payment.giftSessions, ...payment.deadSessions],
  };
  const { errors } = await createRemainderSessionWorkflow(req.scope).run({ input, throwOnError: false });
  if (errors?.[0]) throw toRefusalOfMethod(errors[0].error, giftcard.logger);
  return true;
}

const notOffered = (providerId: string) =>
  new MedusaError(
    MedusaError.Types.INVALID_DATA,
    `The cart's region doesn't offer the payment method ${providerId}. Choose another one.`,
    "invalid_request",
  );
