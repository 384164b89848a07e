import { CheckoutError } from "@giftcard-pay/checkout";
import { planRefund, type RefundPlan, type RefundSplit, toOpenCharge } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { refundPaymentWorkflow } from "@medusajs/medusa/core-flows";
import { fromCents } from "../amount.js";
import type { Keep } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { notRefunded, refusal, withReasons } from "../errors.js";
import type { OpenPayment } from "../medusa-tables/order-refund.js";
import { readOpenChange } from "../medusa-tables/orders.js";
import { REFUND_AHEAD, REFUND_CHARGES, REFUND_UNITS } from "../names.js";
import { addCreditLine } from "../recovery/credit-lines.js";
import { sentenceOf } from "../recovery/failing-jobs.js";
import type { Reason } from "../sentences.js";
import { withOrder } from "./balanced-books.js";
import type { UnitsBack } from "./kept-value.js";
import { captureFirst, FRACTION_CENTS, type OrderBooks, type RefundPart, sumOfCaptures } from "./order-books.js";

/** How a sum is refunded: to which payments, and how much to each. */
export interface SplitRefund {
  readonly amountCents: number;
  readonly parts: readonly RefundPart[];
}

const sumCents = (parts: readonly { readonly cents: number }[]) => parts.reduce((sum, { cents }) => sum + cents, 0);

/**
 * Plans the refund of an amount from the order's payments. An added unit can have fractions of a cent, which nobody pays:
 * if only a cent more can be refunded, the customer gets it.
 * @param back the units that count as returned after this refund, by the line's id. Their charges are reversed first
 * @param sessionId plans it from this card's payment alone
 */
export function planOf(books: OrderBooks, amountCents: number, back: UnitsBack, sessionId?: string): RefundPlan {
  const open = books.open.filter(({ externalId }) => externalId === (sessionId ?? externalId));
  const others = sessionId === undefined ? books.payments.filter(({ isGiftcard }) => !isGiftcard) : [];
  const plan = planRefund({
    amountCents,
    charges: open.map(toOpenCharge),
    reversed: books.charges.filter((charge) => !open.includes(charge)),
    remainderCents: others.reduce((sum, { leftCents }) => sum + leftCents, 0),
    lines: books.lines,
    returned: books.returnedOf(back),
  });
  if (plan.isPossible || !books.isExtended || sessionId !== undefined) return plan;
  const split = plan.nearest.find((near) => near.amountCents === amountCents + FRACTION_CENTS);
  return split ? { isPossible: true, split } : plan;
}

/**
 * Assigns a split to payments: each card's charges to its payment, and the amount by other methods from the last
 * payment on.
 */
export function toSplit({ payments, charges }: OrderBooks, split: RefundSplit): SplitRefund {
  const gone = new Set(split.charges.map(({ reference }) => reference));
  let leftCents = split.remainderCents;
  const partOf = (payment: OpenPayment): RefundPart => {
    const { id: paymentId, providerId, sessionId, isGiftcard } = payment;
    if (!isGiftcard) {
      const cents = Math.min(leftCents, payment.leftCents);
      leftCents -= cents;
      return { paymentId, providerId, lastFour: null, cents, references: [] };
    }
    const own = charges.filter(({ externalId, reference }) => externalId === sessionId && gone.has(reference));
    const cents = sumCents(own.map(toOpenCharge));
    const references = own.map(({ reference }) => reference);
    return { paymentId, providerId, lastFour: own[0]?.lastFour ?? null, cents, references };
  };
  const others = payments.filter(({ isGiftcard }) => !isGiftcard).toReversed();
  const parts = [...payments.filter(({ isGiftcard }) => isGiftcard), ...others].map(partOf);
  return { amountCents: split.amountCents, parts: parts.filter(({ cents }) => cents > 0) };
}

/**
 * Plans the refund of what an order owes its customer once everything is captured.
 * @returns `splits`: the split if it is possible, else the nearest ones; `captures`: what any refund captures first
 */
export function toOwedRefund(actual: OrderBooks) {
  const books = actual.asCaptured();
  const { orderId, owedCents, dueCents, settledCents, awaitsReturn } = books;
  const { captures, notCapturedCents } = actual;
  const state = { orderId, owedCents, dueCents, notCapturedCents, settledCents, awaitsReturn };
  const owed = { ...state, captures, captureCents: sumOfCaptures(captures) };
  if (owedCents === 0) return { ...owed, isPossible: true, splits: [] as SplitRefund[] };
  const plan = planOf(books, owedCents, books.back);
  const splits = plan.isPossible ? [plan.split] : plan.nearest;
  return { ...owed, isPossible: plan.isPossible, splits: splits.map((split) => toSplit(books, split)) };
}

/** While nobody knows whether a refund was made, another one could refund the same money twice. */
export const UNDECIDED: Reason = { code: "undecided" };

/**
 * Explains why nothing more of an order can be refunded now: a refund by another method was begun, and never booked. Recovery
 * doesn't watch the refunds of an order without gift cards. null if there is none.
 */
export function whyUndecided({ isUndecided, charges }: OrderBooks): Reason | null {
  if (!isUndecided) return null;
  return charges.length > 0 ? UNDECIDED : { code: "unbooked" };
}

/** @throws {MedusaError} with that reason */
export function refuseUndecided(books: OrderBooks): void {
  const undecided = whyUndecided(books);
  if (undecided !== null) throw notRefunded(undecided);
}

/** Advice after a failed refund, whose response may have been lost. */
export const UNSURE: Reason = { code: "unsure" };

/** Creates the error for a refund that failed after some of its payments. Medusa has recorded the completed parts. */
const stopped = (failure: unknown, doneCents: number) =>
  withReasons(
    (message) => new MedusaError(MedusaError.Types.UNEXPECTED_STATE, message),
    [
      { code: "stopped", values: { fault: sentenceOf(failure) } },
      { code: "made", values: { amountCents: doneCents } },
      UNSURE,
    ],
  );

/**
 * Refunds what an order owes through Medusa's own refunds: first the cards, then the other payments. What isn't captured
 * yet is captured before.
 * @param wanted the split that the person has seen. It is made only if it is still one of the offered ones
 * @param actor the id of the person, for Medusa's captures and refunds
 * @throws {MedusaError} if the owed amount has changed, or if a payment can't be captured or refunded
 */
export async function refundOrder(
  container: MedusaContainer,
  orderId: string,
  wanted: unknown,
  actor: string | undefined,
): Promise<SplitRefund> {
  const { sql } = contextOf(container);
  return withOrder(container, orderId, async (books, keep) => {
    const { splits, owedCents, captureCents } = toOwedRefund(books);
    const split = findWanted(splits, captureCents, wanted);
    refuseUndecided(books);
    const open = split.amountCents > owedCents ? await readOpenChange(sql, orderId) : null;
    if (open !== null) throw notRefunded(open);
    const now = await captureFirst(container, books, { actor, keep });
    // The order may have changed while a slow payment method captured.
    const { splits: splitsNow } = toOwedRefund(now);
    findWanted(splitsNow, 0, { ...split, captureCents: 0 });
    await refundParts(container, split, { actor, keep, units: now.back }, split.amountCents - owedCents);
    return split;
  });
}

/** The reference of the credit line for what a person has paid out in another way. */
const PAID_OUT = "giftcard_paid_out";

/**
 * Records that a person has paid out what an order owes, such as in cash or by a new gift card. Refunds nothing.
 * @param wanted `amountCents`: what the person has seen as owed
 * @throws {MedusaError} if that has changed, or if the order takes no change now
 */
export const recordPayout = (
  container: MedusaContainer,
  orderId: string,
  wanted: unknown,
  actor: string | undefined,
): Promise<{ amountCents: number; isPaidOut: true }> =>
  withOrder(container, orderId, async (books) => {
    const { owedCents: amountCents } = toOwedRefund(books);
    const isSeen = (wanted as { amountCents?: unknown }).amountCents === amountCents;
    if (amountCents === 0 || !isSeen) throw notRefunded({ code: "owedChanged" });
    refuseUndecided(books);
    const open = await readOpenChange(contextOf(container).sql, orderId);
    if (open !== null) throw notRefunded(open);
    await addCreditLine(container, orderId, { reference: PAID_OUT, amount: fromCents(-amountCents), actor });
    return { amountCents, isPaidOut: true };
  });

/**
 * Finds the split that a person has confirmed: the same sum, the same payments, and the same cents of each.
 * @throws {MedusaError} if it isn't one of these (any more), or something else would be captured first
 */
export function findWanted<T extends SplitRefund>(splits: readonly T[], captureCents: number, wanted: unknown): T {
  const split = splits.find((offered) => isSame(offered, wanted));
  if (!split) throw isSplit(wanted) ? notRefunded({ code: "owedChanged" }) : refusal(NO_SPLIT);
  if (((wanted as { captureCents?: unknown }).captureCents ?? 0) === captureCents) return split;
  throw notRefunded({ code: "captureChanged", values: { amountCents: captureCents } });
}

/** Refunds each part. @throws {MedusaError} that states how much was refunded before it failed */
export async function refundParts(
  container: MedusaContainer,
  { parts }: SplitRefund,
  named: NamedRefund,
  aheadCents: number,
): Promise<void> {
  const done: RefundPart[] = [];
  for (const [index, part] of parts.entries()) {
    // Only the last part states it: before it, less than what is owed is refunded.
    const isAhead = aheadCents > 0 && index === parts.length - 1;
    const also = isAhead ? { [REFUND_AHEAD]: aheadCents } : {};
    try {
      await refundPart(container, part, { ...named, also });
    } catch (error) {
      if (error instanceof CheckoutError && done.length === 0) throw error;
      throw stopped(error, sumCents(done));
    }
    done.push(part);
  }
}

/** How to make a refund: the metadata that Medusa stores with it, and the lease that it needs. */
interface NamedRefund {
  readonly actor?: string | undefined;
  readonly keep: Keep;
  /** How many units of each line are back once all parts of the refund are made. */
  readonly units: UnitsBack;
  readonly also?: Record<string, unknown>;
}

/**
 * Refunds one payment's part through Medusa's own refund.
 * @throws the error of Medusa or the payment method
 * @throws {CheckoutError} payment_in_progress if the lease is lost: nothing was refunded
 */
export async function refundPart(
  container: MedusaContainer,
  { paymentId, cents, references }: RefundPart,
  { actor, keep, units, also = {} }: NamedRefund,
): Promise<void> {
  await keep();
  const charges = references.length > 0 ? { [REFUND_CHARGES]: references } : {};
  const metadata = { ...charges, [REFUND_UNITS]: Object.fromEntries(units), ...also };
  const input = { payment_id: paymentId, amount: fromCents(cents), created_by: actor, metadata };
  await refundPaymentWorkflow(container).run({ input: input as never });
}

const NO_SPLIT = "Send one of the splits that GET answers: { amountCents, parts, captureCents }. Nothing was refunded.";

const isSplit = (wanted: unknown): wanted is SplitRefund => {
  const { amountCents, parts } = (wanted ?? {}) as Partial<SplitRefund>;
  return typeof amountCents === "number" && Array.isArray(parts);
};

function isSame({ amountCents, parts }: SplitRefund, wanted: unknown): boolean {
  const key = (part: Partial<RefundPart> | null) => `${part?.paymentId} ${part?.cents}`;
  if (!isSplit(wanted) || wanted.amountCents !== amountCents) return false;
  return parts.map(key).sort().join() === wanted.parts.map(key).sort().join();
}
