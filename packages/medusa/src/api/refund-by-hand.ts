import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { euro, fromCents, isCents, toCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import { refusal } from "../errors.js";
import { concernsRefund } from "../medusa-tables/carts.js";
import type { OpenPayment } from "../medusa-tables/order-refund.js";
import { REFUND_CHARGES, REFUND_UNITS } from "../names.js";
import { readBalanced } from "../refunds/balanced-books.js";
import { type OrderBooks, ROUNDING_CENTS } from "../refunds/order-books.js";
import { planOf, refuseUndecided } from "../refunds/order-refund.js";
import { changePaymentInTurn, refuseOpenChange } from "./turns.js";

/** The request's body. Medusa passes it on to its workflow after this middleware. */
interface RefundBody {
  amount?: number;
  note?: string;
  metadata?: Record<string, unknown>;
}

/**
 * Prepares Medusa's own refund of a payment: takes the order's lease, balances its books, and adds the units that the
 * refund pays for. So Medusa's button uses the same record as the plugin's.
 */
export const refundByHand = (req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) =>
  changePaymentInTurn(req, res, next, async (order) => {
    const { orderId, cartId, refundCount } = order;
    if (cartId === null && !(await concernsRefund(contextOf(req.scope).sql, order))) return next();
    const books = await readBalanced(req.scope, orderId, cartId);
    if (books.isNoted || books.charges.length > 0) refuseUndecided(books);
    const isOvertaken = books.refunds.length !== refundCount;
    await check(req, books, { paymentId: String(req.params.id), isOvertaken });
    next();
  });

/** Medusa's own page shows the message. */
const refuse = (message: string) => refusal(`${message} Nothing was refunded.`);

/**
 * Checks and completes a refund.
 * @param asked `isOvertaken`: another refund of the order was made while this one waited
 * @throws {MedusaError} if it would be made twice, or the order takes no change for it
 */
async function check(
  req: MedusaRequest,
  books: OrderBooks,
  { paymentId, isOvertaken }: { paymentId: string; isOvertaken: boolean },
) {
  const payment = books.payments.find(({ id }) => id === paymentId);
  const body = req.validatedBody as RefundBody | undefined;
  if (!payment || !body) return;
  const { isNoted, owedCents } = books;
  const { amount } = body;
  const typedCents = amount === undefined ? payment.capturedCents : toCents(amount);
  const amountCents = amount === undefined || !isNoted ? typedCents : centsOf(amount, owedCents);
  if (amount !== undefined && isNoted) body.amount = fromCents(amountCents).numeric;
  checkLeft(payment, amount === undefined ? payment.capturedCents + payment.uncapturedCents : amountCents);
  const isOwed = amountCents <= owedCents;
  if (!isOwed && isOvertaken)
    throw refuse(
      `Another refund of this order was made at the same moment, and ${euro(owedCents)} is owed now. ` +
        "Reload the order.",
    );
  if (!isOwed) await refuseOpenChange(contextOf(req.scope).sql, books.orderId);
  // Medusa would waive what becomes owed with the capture, and the customer would owe it again with the next edit.
  if (isNoted && !isOwed && books.asCaptured().owedCents > owedCents)
    throw refuse(
      "A payment of this order isn't captured yet. Capture it first, or use the refund under Gift cards on the order's " +
        "page, which captures it.",
    );
  const wasSettled = books.settledCents < 0 || books.refunds.some(({ units }) => units !== null);
  if (isNoted && wasSettled && amountCents > owedCents + ROUNDING_CENTS && !body.note?.trim())
    throw refuse(
      `The amount that this order owed was already refunded or settled, and ${euro(owedCents)} is owed now. Reload the ` +
        "order. To refund more than that, state the reason in the refund's note.",
    );
  if (!isNoted || !isOwed) return;
  body.metadata = {
    ...chargesFor(books, payment.sessionId, amountCents),
    [REFUND_UNITS]: Object.fromEntries(books.back),
  };
}

/** Refuses to refund more of a card's payment than is left. Medusa would name no way out. */
function checkLeft({ isGiftcard, leftCents, uncapturedCents }: OpenPayment, amountCents: number): void {
  if (!isGiftcard || amountCents <= leftCents) return;
  if (uncapturedCents > 0)
    throw refuse(
      "This gift card payment isn't captured yet. Capture it first, or use the refund under Gift cards on the order's page, " +
        "which captures it. If the whole order is off, cancel it.",
    );
  throw refuse(
    leftCents === 0
      ? "All of this gift card payment is refunded already. Reload the order."
      : `Only ${euro(leftCents)} of this gift card payment is left to refund. Enter that, or less.`,
  );
}

/**
 * Converts an amount to cents. Medusa shows fractions of a cent as owed, and fills them in; they stand for the owed
 * cents.
 * @throws {MedusaError} if it isn't whole cents
 */
function centsOf(amount: number, owedCents: number): number {
  const cents = toCents(amount);
  if (isCents(amount)) return cents;
  if (owedCents > 0 && Math.abs(cents - owedCents) <= 1) return owedCents;
  throw refuse("A refund is of whole cents. Enter an amount without fractions of a cent.");
}

/** Finds the charges of one card that pay for the units that are back, if they add up to the amount. */
function chargesFor(books: OrderBooks, sessionId: string, amountCents: number): Record<string, unknown> {
  const plan = planOf(books, amountCents, books.back, sessionId);
  const charges = plan.isPossible ? plan.split.charges : [];
  return charges.length > 0 ? { [REFUND_CHARGES]: charges.map(({ reference }) => reference) } : {};
}
