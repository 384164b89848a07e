import type { OrderLine } from "@giftcard-pay/checkout";
import { bookedStates, type Charge } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, MedusaError } from "@medusajs/framework/utils";
import { fromCents, toCents } from "../amount.js";
import { capturePayment } from "../capture/captures.js";
import { type Keep, withLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { notRefunded } from "../errors.js";
import {
  type BookedRefund,
  type OpenPayment,
  type RefundableOrder,
  readRefundable,
} from "../medusa-tables/order-refund.js";
import { sentenceOf } from "../recovery/failing-jobs.js";
import { backOf, historyOf, type ItemHistory, isBefore, linesAsPlaced, type UnitsBack, valuer } from "./kept-value.js";

/** The part of a refund that goes to one payment. */
export interface RefundPart {
  readonly paymentId: string;
  readonly providerId: string;
  /** null for another method than a card. */
  readonly lastFour: string | null;
  readonly cents: number;
  /** The references of the card's charges to reverse. */
  readonly references: readonly string[];
}

/** A payment that is captured before its order is refunded. */
export type PlannedCapture = Omit<RefundPart, "references">;

/**
 * The record of what an order sold, what is back and what was refunded. Every refund is planned on it: of the order's
 * page, of a bulk refund, and Medusa's own.
 */
export interface OrderBooks extends Omit<RefundableOrder, "items">, ReturnType<typeof valuer> {
  /** In whole cents, as they were paid. They state what a unit is worth when it is returned. */
  readonly lines: readonly OrderLine[];
  /** Whether the lines are recorded. From then on, the plugin keeps Medusa's books at what it owes. */
  readonly isNoted: boolean;
  readonly charges: readonly Charge[];
  /** The payments that aren't captured yet. */
  readonly captures: readonly PlannedCapture[];
  /** The charges that can still be reversed: captured, or reversed for a refund that Medusa doesn't have. */
  readonly open: readonly Charge[];
  /** Every item with its units. */
  readonly items: readonly ItemHistory[];
  /** Every unit that is back: returned, exchanged, removed by an edit, or named by a refund. */
  readonly back: UnitsBack;
  readonly leftCents: number;
  readonly owedCents: number;
  /** The amount that the customer still has to pay, apart from payments that aren't captured yet and requested returns. */
  readonly dueCents: number;
  /** The part of what Medusa calls outstanding that is authorized, and not captured yet. */
  readonly notCapturedCents: number;
  /**
   * The amount of refunds by hand that named no unit and wasn't owed, and hasn't become owed since. It counts toward what the
   * order owes next, and the customer doesn't have to pay it back.
   */
  readonly byHandCents: number;
  /**
   * The amount that the order owes only because of what somebody settled, or that Medusa and the plugin differ on since. Nobody
   * but a person knows what it was for.
   */
  readonly unclearCents: number;
  /** The correct value of Medusa's pending difference, in cents. Below 0, the order owes. */
  readonly pendingCents: number;
  /** Returns the books as they will be once every payment is captured. */
  asCaptured(): OrderBooks;
  /** Returns what the order owes once these units are back, in cents. */
  owedWith(back: UnitsBack): number;
}

/** The most that Medusa's fractions of a cent add up to. */
export const ROUNDING_CENTS = 5;

/** Medusa's figures differ from whole cents by no more than this. Medusa ignores a cent, and can't capture it. */
export const FRACTION_CENTS = 1;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Reads an order's books. Changes nothing and calls nobody. @throws {MedusaError} if there is no such order */
export async function readBooks(container: MedusaContainer, orderId: string): Promise<OrderBooks> {
  const { engine, sql } = contextOf(container);
  const order = await readRefundable(sql, orderId);
  if (!order) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such order.");
  const items = order.items.map((item) => historyOf(item, order.refunds));
  const lines = order.lines ?? linesAsPlaced(items, order.placedCents);
  const isNoted = order.lines !== null;
  const charges: Charge[] = [];
  for (const { sessionId } of order.payments.filter(({ isGiftcard }) => isGiftcard))
    charges.push(...(await engine.journal.chargesOfPayment(sessionId)));
  return toBooks({ ...order, items, lines, isNoted }, charges);
}

/** Lists the charges that can still be reversed. A payment that was canceled, or isn't captured, has nothing to refund. */
const openOf = ({ payments, refunds }: Noted, charges: readonly Charge[]): Charge[] =>
  charges.filter(
    ({ state, externalId, refundId }) =>
      bookedStates.includes(state) &&
      payments.some(({ sessionId, leftCents }) => sessionId === externalId && leftCents > 0) &&
      !refunds.some(({ id }) => id === refundId),
  );

type Noted = Omit<RefundableOrder, "items"> & Pick<OrderBooks, "items" | "lines" | "isNoted">;

/**
 * Computes what an order owes, and what its customer owes. It is the only place that decides that: pages, bulk refunds,
 * Medusa's own refund button and credit lines use it. What staff or an integration settled beside payments counts as settled.
 */
function toBooks(order: Noted, charges: readonly Charge[]): OrderBooks {
  const { payments, settledCents } = order;
  const value = valuer(order, charges);
  const back = backOf(order.items);
  const leftCents = sum(payments.map((payment) => payment.leftCents));
  const capturedCents = sum(payments.map((payment) => payment.capturedCents));
  const openCents = sum(payments.map(({ uncapturedCents, restCents }) => uncapturedCents + restCents));
  const heldCents = capturedCents - sum(order.refunds.map(({ cents }) => cents)) + settledCents;
  const owedWith = (units: UnitsBack) => Math.min(leftCents, Math.max(0, heldCents - value.keptCents(units)));
  /** Above 0, the order owes this amount. Below 0, its customer owes it, or was refunded ahead. */
  const balanceCents = heldCents - value.keptCents(back);
  // A change whose return isn't received yet has added its new items already.
  const soonCents = order.awaitsReturn ? heldCents - value.keptCents(backOf(order.items, "backSoon")) : balanceCents;
  const { aheadCents, byHandCents } = aheadOf(order, charges);
  const missingCents = Math.max(0, -soonCents - aheadCents);
  // Medusa may have crashed after a refund by hand, before it waived what wasn't owed.
  const unwaivedCents = sum(order.refunds.map(({ units, cents, aheadCents }) => (units ? 0 : cents - aheadCents)));
  const crashedCents = order.isExtended ? 0 : Math.min(Math.max(0, missingCents - openCents), unwaivedCents);
  const medusaCents = toCents(order.pending);
  const shortCents = order.isNoted
    ? atMost(missingCents - crashedCents, medusaCents, settledCents)
    : Math.max(0, medusaCents);
  const dueCents = Math.max(0, shortCents - openCents);
  const isFraction = dueCents <= FRACTION_CENTS && (order.isExtended || !order.isNoted);
  const owedByMedusa = Math.min(leftCents, Math.max(0, -medusaCents));
  const owedCents = order.isNoted ? atMost(owedWith(back), -medusaCents, settledCents) : owedByMedusa;
  const unclearCents = order.isNoted
    ? Math.abs(owedWith(back) - owedCents) + missingCents - crashedCents - shortCents
    : 0;
  const isOver = order.isCanceled;
  return {
    ...order,
    ...value,
    charges,
    open: openOf(order, charges),
    captures: capturesOf(payments, charges),
    asCaptured: () => toBooks(withCaptures(order), charges),
    back,
    leftCents,
    byHandCents: crashedCents + byHandCents,
    owedWith,
    owedCents: isOver ? 0 : owedCents,
    dueCents: isOver || isFraction ? 0 : dueCents,
    unclearCents: unclearCents + Math.min(owedCents, Math.max(0, settledCents)),
    notCapturedCents: isOver ? 0 : Math.min(openCents, shortCents),
    pendingCents: balanceCents > 0 ? -owedCents : (isFraction ? 0 : dueCents) + Math.min(openCents, -balanceCents),
  };
}

/**
 * Limits an amount to Medusa's if somebody has settled something: a person decided by Medusa's figure. The plugin's figures
 * differ from it by fractions of a cent.
 */
const atMost = (cents: number, medusaCents: number, settledCents: number) =>
  settledCents === 0 || cents <= medusaCents + ROUNDING_CENTS ? cents : Math.max(0, medusaCents);

/** Lists the payments that aren't captured yet. */
const capturesOf = (payments: readonly OpenPayment[], charges: readonly Charge[]): PlannedCapture[] =>
  payments
    .filter(({ uncapturedCents }) => uncapturedCents > 0)
    .map(({ id: paymentId, providerId, sessionId, uncapturedCents: cents }) => {
      const own = charges.find(({ externalId }) => externalId === sessionId);
      return { paymentId, providerId, lastFour: own?.lastFour ?? null, cents };
    });

/** Returns an order as it will be once all of its payments are captured. */
function withCaptures<T extends Pick<RefundableOrder, "pending" | "payments">>(order: T): T {
  const uncapturedCents = order.payments.reduce((sum, payment) => sum + payment.uncapturedCents, 0);
  return {
    ...order,
    pending: MathBN.sub(order.pending, fromCents(uncapturedCents)).toString(),
    payments: order.payments.map((payment) => ({
      ...payment,
      capturedCents: payment.capturedCents + payment.uncapturedCents,
      leftCents: payment.leftCents + payment.uncapturedCents,
      uncapturedCents: 0,
    })),
  };
}

/**
 * Returns how much of an order's refunds wasn't owed when they were made, and hasn't become owed since. A refund becomes
 * owed as the buyer keeps less than at its time, the oldest refund first.
 * @returns also the part that was refunded by hand
 */
function aheadOf({ refunds, ...order }: Noted, charges: readonly Charge[]) {
  // The plugin refunds only what is owed: by then, every earlier refund ahead has become owed.
  const latest = refunds.findLastIndex(({ units }) => units !== null);
  const ahead = refunds.slice(Math.max(0, latest)).filter(({ aheadCents }) => aheadCents > 0);
  if (ahead.length === 0) return { aheadCents: 0, byHandCents: 0 };
  const keptCentsAt = (time: string) => {
    const items = order.items.map(({ item }) => historyOf(item, refunds, time));
    return valuer({ ...order, items }, charges).keptCents(backOf(items));
  };
  const times = new Set(
    order.items.flatMap(({ item: { versions, removedAt } }) => [
      ...versions.map(({ createdAt }) => createdAt),
      ...(removedAt === null ? [] : [removedAt]),
    ]),
  );
  const unusedOf = ({ createdAt }: BookedRefund, index: number) => {
    const later = [...times].filter((time) => isBefore(createdAt, time));
    const usedCents = Math.max(0, ...later.map((time) => keptCentsAt(createdAt) - keptCentsAt(time)));
    return sum(ahead.slice(index).map(({ aheadCents }) => aheadCents)) - usedCents;
  };
  const aheadCents = Math.max(0, ...ahead.map(unusedOf));
  const byHand = ahead.filter(({ units }) => units === null);
  return { aheadCents, byHandCents: Math.min(aheadCents, sum(byHand.map((refund) => refund.aheadCents))) };
}

export const sumOfCaptures = (captures: readonly PlannedCapture[]): number =>
  captures.reduce((sum, { cents }) => sum + cents, 0);

/**
 * Captures everything of an order that isn't captured yet, before its refund. The caller has the order's lease.
 * @param by `actor`: the id of the person, for Medusa's captures; `keep`: renews the lease
 * @returns the order's books afterwards. A draft order counts as placed with its first capture
 * @throws {MedusaError} if a payment can't be captured: nothing of the order may be refunded
 */
export async function captureFirst(
  container: MedusaContainer,
  books: OrderBooks,
  { actor, keep }: { actor?: string | undefined; keep: Keep },
): Promise<OrderBooks> {
  const { orderId, cartId, captures } = books;
  if (captures.length === 0) return books;
  const captureAll = async () => {
    for (const planned of captures) {
      await keep();
      await capturePayment(container, { paymentId: planned.paymentId, orderId, actor }).catch((error: unknown) => {
        throw notCaptured(planned, error);
      });
    }
  };
  await (cartId === null ? captureAll() : withLock(container, cartId, captureAll));
  return readBooks(container, orderId);
}

const notCaptured = ({ providerId, lastFour, cents }: PlannedCapture, error: unknown) =>
  notRefunded(
    lastFour === null
      ? { code: "notCaptured", values: { amountCents: cents, method: providerId, fault: sentenceOf(error) } }
      : { code: "cardNotCaptured", values: { amountCents: cents, card: lastFour, fault: sentenceOf(error) } },
    { code: "checkMethod" },
  );
