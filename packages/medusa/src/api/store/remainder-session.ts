import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { lessCents } from "../../amount.js";
import { toMedusaError } from "../../errors.js";
import type { GiftcardService } from "../../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../../names.js";
import { readCartPayment } from "../../workflows/cart-payment.js";
import { createRemainderSessionWorkflow } from "../../workflows/remainder-session.js";
import { withCartLock } from "../../workflows/sessions.js";

type Body = { provider_id: string; data?: Record<string, unknown> };
type Request = MedusaRequest & { auth_context?: { actor_id?: string } };

const bodyOf = (req: MedusaRequest) => req.body as Body;

/**
 * Makes Medusa's "initialize payment session" route create the session for what the cards leave to pay, so that a page
 * calls it as ever. A cart without gift cards goes on to Medusa untouched.
 */
export async function createRemainderSession(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
): Promise<void> {
  try {
    if (bodyOf(req).provider_id === PROVIDER_ID) {
      const message =
        "Apply a gift card to the cart; it is charged when the order is placed, and takes no session.";
      throw new MedusaError(MedusaError.Types.INVALID_DATA, message, "invalid_request");
    }
    const cartId = await cartOfCollection(req);
    if (!cartId || !(await withCartLock(req.scope, cartId, () => makeSession(req, cartId)))) return next();
    const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
      entity: "payment_collection",
      fields: req.queryConfig.fields,
      filters: { id: req.params.id },
    });
    res.status(200).json({ payment_collection: data[0] });
  } catch (error) {
    next(toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER)));
  }
}

/** @returns false when Medusa shall make the session, for the whole total */
async function makeSession(req: Request, cartId: string): Promise<boolean> {
  const { engine } = req.scope.resolve<GiftcardService>(GIFTCARD_MODULE);
  const payment = await readCartPayment(req.scope, cartId);
  if (payment.isCompleted || !payment.isEuro) return false;
  await engine.settle(cartId);
  const plan = await engine.plan(payment.cart);
  if (plan.coveredCents === 0) return false;
  if (plan.remainderCents === 0) throw new CheckoutError("nothing_to_pay");
  await createRemainderSessionWorkflow(req.scope).run({
    input: {
      payment_collection_id: String(req.params.id),
      provider_id: bodyOf(req).provider_id,
      customer_id: req.auth_context?.actor_id,
      data: bodyOf(req).data,
      amount: lessCents(payment.rawTotal, plan.coveredCents),
      covered_cents: plan.coveredCents,
      stale_session_ids: [...payment.giftSessions, ...payment.otherSessions, ...payment.deadSessions].map(
        (s) => s.id,
      ),
    },
  });
  return true;
}

async function cartOfCollection(req: MedusaRequest): Promise<string | undefined> {
  const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment_collection",
    fields: ["cart.id"],
    filters: { id: String(req.params.id) },
  });
  return (data[0] as { cart?: { id: string } } | undefined)?.cart?.id;
}
