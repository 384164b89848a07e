import {
  defineMiddlewares,
  type MedusaNextFunction,
  type MedusaRequest,
  type MedusaResponse,
  type MiddlewareFunction,
} from "@medusajs/framework/http";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MathBN, MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf, refusal, toMedusaError } from "../errors.js";
import { readCollection } from "../medusa-tables/payments.js";
import { PROVIDER_ID } from "../names.js";
import { withOrder } from "../refunds/balanced-books.js";
import { readBooks } from "../refunds/order-books.js";
import { replaceBody } from "./answer.js";
import { admitCompletion, prepareCart } from "./complete-cart.js";
import { refundByHand } from "./refund-by-hand.js";
import { initiateRemainder } from "./store/remainder-session.js";
import {
  cancelInTurn,
  changeCartInTurn,
  changeOrderInTurn,
  changePaymentInTurn,
  makeCollectionInTurn,
  refuseVoid,
} from "./turns.js";

/** Removes the gift card from the listed payment methods: a page can't start a payment with it. */
function hideProvider(_req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  replaceBody(res, next, (answer) => {
    const body = answer as { payment_providers?: { id: string }[]; count?: number };
    const listed = body?.payment_providers;
    const shown = listed?.filter((provider) => provider.id !== PROVIDER_ID);
    if (!listed || !shown || shown.length === listed.length) return answer;
    const count = typeof body.count === "number" ? { count: body.count - 1 } : {};
    return { ...body, payment_providers: shown, ...count };
  });
  next();
}

/** Refuses to capture a part of a card's payment: Medusa doesn't tell the provider how much to capture. */
async function refusePartialCapture(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const { amount } = (req.body ?? {}) as { amount?: number };
  if (amount === undefined) return next();
  const { data } = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment",
    fields: ["provider_id", "amount", "raw_amount"],
    filters: { id: String(req.params.id) },
  });
  const [payment] = data;
  const isPartial = payment?.provider_id === PROVIDER_ID && !MathBN.eq(amount, payment.raw_amount ?? payment.amount);
  if (!isPartial) return next();
  next(refusal("A gift card payment is captured as a whole. Nothing was captured."));
}

/**
 * Refuses a second payment of a paid order: Medusa would delete the session that holds the order's money, and so
 * refund it.
 */
async function refuseSecondPayment(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const { paysOrder, orderName } = await readCollection(contextOf(req.scope).sql, String(req.params.id));
  const name = orderName ? `Order ${orderName}` : "The order";
  const message = `${name} is paid, or a payment of it is promised. Cancel or refund that payment first.`;
  next(paysOrder ? refusal(message, "cart_completed") : undefined);
}

/** Medusa's routes that change a cart. */
const changesCart = [
  "",
  "/line-items",
  "/line-items/:line_id",
  "/promotions",
  "/shipping-methods",
  "/taxes",
  "/customer",
];

/** Routes that begin an edit, return, exchange, claim or transfer of an order. */
const beginsChange = [
  "/admin/order-edits",
  "/admin/returns",
  "/admin/exchanges",
  "/admin/claims",
  "/store/returns",
  "/admin/orders/:id/transfer",
  "/store/orders/:id/transfer/request",
];

/** Routes that confirm such a change. Medusa answers with the order, as `order_preview`. */
const confirmsChange = [
  "/admin/order-edits/:id/confirm",
  "/admin/returns/:id/receive/confirm",
  "/admin/exchanges/:id/request",
  "/admin/claims/:id/request",
];

/**
 * Refuses a call with an id that no row has: PostgreSQL stores no NUL, and Medusa would fail with it. Converts the middleware's
 * failures to Medusa's errors.
 */
const guarded =
  (middleware: MiddlewareFunction): MiddlewareFunction =>
  async (req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) => {
    const { cart_id, order_id } = (req.body ?? {}) as { cart_id?: unknown; order_id?: unknown };
    const hasNul = [...Object.values(req.params), cart_id, order_id].some((id) => String(id).includes("\0"));
    if (hasNul) return next(new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such id."));
    try {
      await middleware(req, res, next);
    } catch (error) {
      next(toMedusaError(error, contextOf(req.scope).logger));
    }
  };

/** Middlewares for a route that is called by POST, or by other methods. */
const onPost = (matcher: string, ...middlewares: MiddlewareFunction[]) => on(["POST"], matcher, ...middlewares);
const on = (methods: ("GET" | "POST" | "DELETE")[], matcher: string, ...middlewares: MiddlewareFunction[]) => ({
  ...{ matcher, methods },
  middlewares: middlewares.map(guarded),
});

export default defineMiddlewares({
  routes: [
    { matcher: "/store/*", middlewares: [removeSealedTokens] },
    // These bodies contain a card number. Medusa's parser would repeat a piece of an unreadable one in its error.
    { matcher: "/store/giftcard-pay/*", methods: ["POST"], bodyParser: false },
    onPost("/store/payment-collections", makeCollectionInTurn),
    onPost("/store/payment-collections/:id/payment-sessions", initiateRemainder as MiddlewareFunction),
    onPost("/store/carts/:id/complete", admitCompletion, prepareCart),
    ...changesCart.map((route) => on(["POST", "DELETE"], `/store/carts/:id${route}`, changeCartInTurn)),
    onPost("/admin/payments/:id/capture", refusePartialCapture, changePaymentInTurn),
    onPost("/admin/payments/:id/refund", refundByHand),
    onPost("/admin/orders/:id/credit-lines", changeOrderInTurn),
    onPost("/admin/orders/:id/cancel", cancelInTurn),
    ...beginsChange.map((matcher) => onPost(matcher, changeOrderInTurn)),
    onPost("/admin/returns/:id/request", refuseVoid),
    ...confirmsChange.map((matcher) => onPost(matcher, refuseVoid, balanceOrder)),
    onPost("/admin/payment-collections/:id/payment-sessions", refuseSecondPayment),
    // Room for ten thousand order ids.
    ...["/admin/giftcard-pay/refund-plan", "/admin/giftcard-pay/bulk-refunds"].map((matcher) => ({
      matcher,
      methods: ["POST" as const],
      bodyParser: { sizeLimit: "1mb" as const },
    })),
    // The service's report of a busy month is larger than Medusa's limit.
    {
      matcher: "/admin/giftcard-pay/reconciliation",
      methods: ["POST"],
      bodyParser: { sizeLimit: "10mb" },
    },
    on(["GET"], "/store/payment-providers", hideProvider),
  ],
});

/** The field of a payment's data that holds a charge's sealed cancel token. */
const FIELD = "sealed_token";

/**
 * Removes sealed cancel tokens from every response of the store's routes. Medusa sends the data of payments and
 * payment sessions to any browser that asks for it. Express passes each JSON body through `send` as text. Responses
 * without a token, nearly all of them, cost one search and are not parsed.
 */
function removeSealedTokens(_req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  const send = res.send.bind(res) as (body?: unknown) => MedusaResponse;
  res.send = ((body?: unknown) => send(holdsToken(res, body) ? withoutTokens(body) : body)) as typeof res.send;
  next();
}

const holdsToken = (res: MedusaResponse, body: unknown): body is string =>
  typeof body === "string" && body.includes(FIELD) && String(res.get("Content-Type")).includes("json");

const withoutTokens = (body: string) =>
  JSON.stringify(JSON.parse(body, (key, value) => (key === FIELD ? undefined : value)));

/**
 * Balances an order's books before Medusa confirms an edit, return, exchange or claim, so that the order's page never
 * shows a refunded amount as outstanding. If balancing fails, the order's next refund retries it. Orders without a
 * gift card, of which the plugin has refunded nothing, are left as Medusa shows them.
 */
function balanceOrder(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  replaceBody(res, next, async (body) => {
    const orderId = (body as { order_preview?: { id?: string } } | null)?.order_preview?.id;
    try {
      if (orderId !== undefined) await balance(req.scope, orderId);
    } catch (error) {
      const logger = contextOf(req.scope).logger;
      logger.warn(`giftcard: the books of order ${orderId} aren't balanced yet: ${nameOf(error)}`);
    }
    return body;
  });
  next();
}

async function balance(container: MedusaContainer, orderId: string): Promise<void> {
  const { charges, refunds } = await readBooks(container, orderId);
  if (charges.length === 0 && refunds.every(({ units }) => !units)) return;
  await withOrder(container, orderId, async () => {});
}
