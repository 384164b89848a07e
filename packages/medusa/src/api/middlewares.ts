import { CheckoutError } from "@giftcard-pay/checkout";
import {
  defineMiddlewares,
  type MedusaNextFunction,
  type MedusaRequest,
  type MedusaResponse,
} from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MathBN, MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { paysOrder } from "../medusa-tables/payments.js";
import { PROVIDER_ID } from "../names.js";
import { handleAnswer } from "./answer.js";
import { balanceOrder } from "./balance-order.js";
import { prepareCart } from "./complete-cart.js";
import { dropDeletedSession } from "./deleted-session.js";
import { refuseCancel } from "./open-change.js";
import { refundByHand } from "./refund-by-hand.js";
import { removeSealedTokens } from "./sealed-tokens.js";
import { createRemainderSession } from "./store/remainder-session.js";
import { changeOrderInTurn, finishRefundsFirst, makeCollectionInTurn } from "./turns.js";

/** The gift card isn't a method that a page starts a payment with, so it isn't listed as one. */
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

/** A card's payment is captured as a whole: the provider isn't told how much. */
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
    payment?.provider_id === PROVIDER_ID && !MathBN.eq(amount, payment.raw_amount ?? payment.amount);
  if (!isPartial) return next();
  const message = "A gift card payment is captured as a whole. Nothing was captured.";
  next(new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "invalid_request"));
}

/** Medusa would delete the session that holds the order's money, and so give that money back. */
async function refuseSecondPayment(
  req: MedusaRequest,
  _res: MedusaResponse,
  next: MedusaNextFunction,
): Promise<void> {
  const isPaid = await paysOrder(contextOf(req.scope).sql, String(req.params.id));
  next(isPaid ? toMedusaError(new CheckoutError("cart_completed")) : undefined);
}

/** Where people begin an edit, return, exchange, claim or transfer of an order. */
const beginsChange = [
  ...["/admin/order-edits", "/admin/returns", "/admin/exchanges", "/admin/claims", "/store/returns"],
  ...["/admin/orders/:id/transfer", "/store/orders/:id/transfer/request"],
];

/** Where people confirm such a change. Medusa answers with the order, as `order_preview`. */
const confirmsChange = [
  ...["/admin/order-edits/:id/confirm", "/admin/returns/:id/receive/confirm"],
  ...["/admin/exchanges/:id/request", "/admin/claims/:id/request"],
];

export default defineMiddlewares({
  routes: [
    { matcher: "/store/*", middlewares: [removeSealedTokens] },
    // These bodies hold a card number: Medusa's parser would repeat a piece of an unreadable one in its error.
    { matcher: "/store/giftcard-pay/*", methods: ["POST"], bodyParser: false },
    { matcher: "/store/payment-collections", methods: ["POST"], middlewares: [makeCollectionInTurn] },
    {
      matcher: "/store/payment-collections/:id/payment-sessions",
      methods: ["POST"],
      middlewares: [createRemainderSession],
    },
    { matcher: "/store/carts/:id/complete", methods: ["POST"], middlewares: [prepareCart] },
    { matcher: "/admin/payments/:id/capture", methods: ["POST"], middlewares: [refusePartialCapture] },
    {
      matcher: "/admin/payments/:id/refund",
      methods: ["POST"],
      middlewares: [refundByHand],
    },
    {
      matcher: "/admin/orders/:id/cancel",
      methods: ["POST"],
      middlewares: [changeOrderInTurn, finishRefundsFirst, refuseCancel],
    },
    ...beginsChange.map((matcher) => ({
      matcher,
      methods: ["POST" as const],
      middlewares: [changeOrderInTurn],
    })),
    ...confirmsChange.map((matcher) => ({
      matcher,
      methods: ["POST" as const],
      middlewares: [balanceOrder],
    })),
    {
      matcher: "/admin/payment-collections/:id/payment-sessions",
      methods: ["POST"],
      middlewares: [refuseSecondPayment],
    },
    // Ten thousand orders by their ids.
    ...["/admin/giftcard-pay/refund-plan", "/admin/giftcard-pay/bulk-refunds"].map((matcher) => ({
      matcher,
      methods: ["POST" as const],
      bodyParser: { sizeLimit: "1mb" as const },
    })),
    // The service's report of a busy month is longer than what Medusa takes by itself.
    {
      matcher: "/admin/giftcard-pay/reconciliation",
      methods: ["POST"],
      bodyParser: { sizeLimit: "10mb" },
    },
    { matcher: "/hooks/payment/:provider", methods: ["POST"], middlewares: [dropDeletedSession] },
    { matcher: "/store/payment-providers", methods: ["GET"], middlewares: [hideProvider] },
  ],
});
