import {
  defineMiddlewares,
  type MedusaNextFunction,
  type MedusaRequest,
  type MedusaResponse,
} from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import { toMedusaError } from "../errors.js";
import { PROVIDER_ID } from "../names.js";
import { confirmOrder, prepareCompletion } from "../workflows/sessions.js";
import { createRemainderSession } from "./store/remainder-session.js";

/**
 * Before Medusa completes a cart: only sessions that fit the applied cards may stand there. Until Medusa has answered, no
 * other process works at that cart: a second call waits, and gets the first one's order.
 */
async function prepareCart(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): Promise<void> {
  const cartId = String(req.params.id);
  const refusalOf = (error: unknown) =>
    toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER));
  try {
    const release = await prepareCompletion(req.scope, cartId);
    if (release) {
      const confirm = (orderId: string) => confirmOrder(req.scope, cartId, orderId);
      holdUntilAnswered(res, release, confirm, (error) => next(refusalOf(error)));
    }
  } catch (error) {
    // An unknown cart, and what Medusa says of it, are Medusa's.
    const refusal = refusalOf(error);
    return refusal.code === "cart_not_found" ? next() : next(refusal);
  }
  next();
}

/** Not at the connection's end: Medusa goes on with a completion whose page has gone. */
function holdUntilAnswered(
  res: MedusaResponse,
  release: () => Promise<void>,
  confirm: (orderId: string) => Promise<void>,
  refuse: (error: unknown) => void,
): void {
  const end = res.end.bind(res) as (...args: unknown[]) => typeof res;
  res.end = ((...args: unknown[]) => {
    void release();
    return end(...args);
  }) as typeof res.end;
  const json = res.json.bind(res);
  res.json = (answer: unknown) => {
    res.json = json;
    const { type, order } = (answer ?? {}) as { type?: string; order?: { id?: string } };
    if (type !== "order" || !order?.id) return json(answer);
    const { id } = order;
    // First the hold ends: what is asked then may have to wait for a process that waits for it.
    void release();
    void confirm(id).then(() => json(answer), refuse);
    return res;
  };
}

/** The gift card isn't a method that a page starts a payment with, so it isn't listed as one. */
function hideProvider(_req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  const json = res.json.bind(res);
  res.json = (answer: unknown) => {
    const body = answer as { payment_providers?: { id: string }[]; count?: number };
    const listed = body?.payment_providers;
    const shown = listed?.filter((provider) => provider.id !== PROVIDER_ID);
    if (!listed || !shown || shown.length === listed.length) return json(answer);
    const count = typeof body.count === "number" ? { count: body.count - 1 } : {};
    return json({ ...body, payment_providers: shown, ...count });
  };
  next();
}

/** A card is charged as a whole, so its payment is captured as a whole; the provider isn't told how much. */
async function refusePartialCapture(
  req: MedusaRequest,
  _res: MedusaResponse,
  next: MedusaNextFunction,
): Promise<void> {
  const { amount } = (req.body ?? {}) as { amount?: number };
  if (amount === undefined) return next();
  const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment",
    fields: ["provider_id", "amount", "raw_amount"],
    filters: { id: String(req.params.id) },
  });
  const [payment] = data;
  const isPartial =
    payment?.provider_id === PROVIDER_ID && toCents(amount) !== toCents(payment.raw_amount ?? payment.amount);
  if (!isPartial) return next();
  const message = "A gift card payment is captured as a whole. Nothing was captured.";
  next(new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "invalid_request"));
}

export default defineMiddlewares({
  routes: [
    // These bodies hold a card number: Medusa's parser would repeat a piece of an unreadable one in its error.
    { matcher: "/store/giftcard-pay/*", methods: ["POST"], bodyParser: false },
    {
      matcher: "/store/payment-collections/:id/payment-sessions",
      methods: ["POST"],
      middlewares: [createRemainderSession],
    },
    { matcher: "/store/carts/:id/complete", methods: ["POST"], middlewares: [prepareCart] },
    { matcher: "/admin/payments/:id/capture", methods: ["POST"], middlewares: [refusePartialCapture] },
    // The service's report of a busy month is longer than what Medusa takes by itself.
    {
      matcher: "/admin/giftcard-pay/reconciliation",
      methods: ["POST"],
      bodyParser: { sizeLimit: "10mb" },
    },
    { matcher: "/store/payment-providers", methods: ["GET"], middlewares: [hideProvider] },
  ],
});
