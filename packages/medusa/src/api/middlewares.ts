import { CheckoutError } from "@giftcard-pay/checkout";
import {
  defineMiddlewares,
  type MedusaNextFunction,
  type MedusaRequest,
  type MedusaResponse,
  type MiddlewareFunction,
} from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MathBN } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { refusal, toMedusaError } from "../errors.js";
import { paysOrder } from "../medusa-tables/payments.js";
import { PROVIDER_ID } from "../names.js";
import { admitCompletion } from "./admit-completion.js";
import { handleAnswer } from "./answer.js";
import { balanceOrder } from "./balance-order.js";
import { prepareCart } from "./complete-cart.js";
import { dropDeletedSession } from "./deleted-session.js";
import { refundByHand } from "./refund-by-hand.js";
import { removeSealedTokens } from "./sealed-tokens.js";
import { createRemainderSession } from "./store/remainder-session.js";
import {
  changeCartInTurn,
  changeOrderInTurn,
  changePaymentInTurn,
  finishRefundsFirst,
  makeCollectionInTurn,
  refuseCancel,
} from "./turns.js";

/** Removes the gift card from the listed payment methods: a page can't start a payment with it. */
function hideProvider(_req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  handleAnswer(res, next, {
    replaceBody: (answer) => {
      const body = answer as { payment_providers?: { id: string }[]; count?: number };
      const listed = body?.payment_providers;
      const shown = listed?.filter((provider) => provider.id !== PROVIDER_ID);
      if (!listed || !shown || shown.length === listed.length) return answer;
      const count = typeof body.count === "number" ? { count: body.count - 1 } : {};
      return { ...body, payment_providers: shown, ...count };
    },
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
  const isPaid = await paysOrder(contextOf(req.scope).sql, String(req.params.id));
  next(isPaid ? toMedusaError(new CheckoutError("cart_completed")) : undefined);
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

/** Middlewares for a route that is called by POST. */
const onPost = (matcher: string, ...middlewares: MiddlewareFunction[]) => ({
  matcher,
  methods: ["POST" as const],
  middlewares,
});

export default defineMiddlewares({
  routes: [
    { matcher: "/store/*", middlewares: [removeSealedTokens] },
    // These bodies contain a card number. Medusa's parser would repeat a piece of an unreadable one in its error.
    { matcher: "/store/giftcard-pay/*", methods: ["POST"], bodyParser: false },
    onPost("/store/payment-collections", makeCollectionInTurn),
    onPost("/store/payment-collections/:id/payment-sessions", createRemainderSession as MiddlewareFunction),
    onPost("/store/carts/:id/complete", admitCompletion, prepareCart),
    ...changesCart.map((route) => ({
      matcher: `/store/carts/:id${route}`,
      methods: ["POST" as const, "DELETE" as const],
      middlewares: [changeCartInTurn],
    })),
    onPost("/admin/payments/:id/capture", refusePartialCapture, changePaymentInTurn),
    onPost("/admin/payments/:id/refund", refundByHand),
    onPost("/admin/orders/:id/cancel", changeOrderInTurn, finishRefundsFirst, refuseCancel),
    ...beginsChange.map((matcher) => onPost(matcher, changeOrderInTurn)),
    ...confirmsChange.map((matcher) => onPost(matcher, balanceOrder)),
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
    onPost("/hooks/payment/:provider", dropDeletedSession),
    { matcher: "/store/payment-providers", methods: ["GET"], middlewares: [hideProvider] },
  ],
});
