import type { OrderLine } from "@giftcard-pay/checkout";
import { bookedStates, type Charge } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import { type RefundableOrder, readRefundable, readRefunds } from "../medusa-tables/order-refund.js";
import { capturesOf, type PlannedCapture, withCaptures } from "./as-captured.js";
import { historyOf, type ItemHistory, isBefore } from "./kept-units.js";
import { backOf, linesAsPlaced, type UnitsBack, valuer } from "./kept-value.js";
import { type UnexplainedRefund, unexplainedOf, withCrashed } from "./unexplained-refunds.js";

export type { UnitsBack };

/**
 * The record of what an order sold, what is back and what was refunded. Every refund is planned on it: of the order's
 * page, of a bulk refund, and Medusa's own.
 */
export interface OrderBooks extends Omit<RefundableOrder, "items"> {
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
  /** The amount that the customer still has to pay, apart from payments that aren't captured yet. */
  readonly dueCents: number;
  readonly unexplained: readonly UnexplainedRefund[];
  /** The correct value of Medusa's pending difference, in cents. Below 0, the order owes. */
  readonly pendingCents: number;
  /** Returns the books as they will be once every payment is captured. */
  asCaptured(): OrderBooks;
  /** Returns what the order owes once these units are back, in cents. */
  owedWith(back: UnitsBack): number;
  /** Returns the units of the order's own lines among those that are back. */
  returnedOf(back: UnitsBack): Map<string, number>;
  /** Returns the value of what the buyer keeps once these units are back, in cents. */
  keptCents(back: UnitsBack): number;
}

/** Medusa's figures differ from whole cents by no more than this. Medusa ignores a cent, and can't capture it. */
export const FRACTION_CENTS = 1;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Reads an order's books. Changes nothing and calls nobody. @throws {MedusaError} if there is no such order */
export async function readBooks(container: MedusaContainer, orderId: string): Promise<OrderBooks> {
  const order = await readRefundable(contextOf(container).sql, orderId);
  if (!order) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such order.");
  const items = order.items.map((item) => historyOf(item, order.refunds));
  const lines = order.lines ?? linesAsPlaced(items, order.placedCents);
  const isNoted = order.lines !== null;
  return toBooks({ ...order, items, lines, isNoted }, await readCharges(container, order));
}

/** The charges of an order's cards, and the ids of the refunds that Medusa has of them. */
interface Charged {
  readonly charges: readonly Charge[];
  readonly booked: readonly string[];
}

async function readCharges(container: MedusaContainer, { payments }: RefundableOrder): Promise<Charged> {
  const { engine, sql } = contextOf(container);
  const charges: Charge[] = [];
  const booked: string[] = [];
  for (const { sessionId } of payments.filter(({ isGiftcard }) => isGiftcard)) {
    charges.push(...(await engine.journal.chargesOfPayment(sessionId)));
    booked.push(...((await readRefunds(sql, sessionId))?.refunds ?? []).map(({ id }) => id));
  }
  return { charges, booked };
}

/** Lists the charges that can still be reversed. A payment that was canceled, or isn't captured, has nothing to refund. */
const openOf = ({ payments }: Noted, { charges, booked }: Charged): Charge[] =>
  payments.flatMap(({ sessionId, leftCents }) => {
    if (leftCents === 0) return [];
    const own = charges.filter(({ externalId }) => externalId === sessionId);
    const isBooked = ({ refundId }: Charge) => refundId !== null && booked.includes(refundId);
    return own.filter((charge) => bookedStates.includes(charge.state) && !isBooked(charge));
  });

type Noted = Omit<RefundableOrder, "items"> & Pick<OrderBooks, "items" | "lines" | "isNoted">;

function toBooks(order: Noted, charged: Charged): OrderBooks {
  const { charges } = charged;
  const value = valuer(order, charges);
  const back = backOf(order.items);
  const payments = order.payments;
  const leftCents = sum(payments.map((payment) => payment.leftCents));
  const capturedCents = sum(payments.map((payment) => payment.capturedCents));
  const uncapturedCents = sum(payments.map((payment) => payment.uncapturedCents));
  const refundedCents = sum(order.refunds.map(({ cents }) => cents));
  const goodwillCents = sum(order.refunds.map(({ isGoodwill, beyondCents }) => (isGoodwill ? beyondCents : 0)));
  const aheadCents = aheadOf(order, charges);
  const asBooked = unexplainedOf(order.refunds);
  const beyondOf = (unexplained: readonly UnexplainedRefund[]) =>
    goodwillCents + sum(unexplained.map(({ beyondCents }) => beyondCents));
  /** Above 0, the order owes this amount. Below 0, its customer owes it, or was refunded ahead. */
  const balanceOf = (unexplained: readonly UnexplainedRefund[], keptCents: number) =>
    capturedCents - refundedCents + beyondOf(unexplained) - keptCents;
  const keptCents = value.keptCents(back);
  const shortOf = (unexplained: readonly UnexplainedRefund[]) =>
    Math.max(0, -balanceOf(unexplained, keptCents) - uncapturedCents - aheadCents);
  const unexplained = withCrashed(asBooked, order.refunds, order.isExtended ? 0 : shortOf(asBooked));
  const owedWith = (units: UnitsBack) =>
    Math.min(leftCents, Math.max(0, balanceOf(unexplained, value.keptCents(units))));
  const balanceCents = balanceOf(unexplained, keptCents);
  const shortByMedusa = Math.max(0, toCents(order.pending) - uncapturedCents);
  const shortCents = order.isNoted ? shortOf(unexplained) : shortByMedusa;
  const isFraction = shortCents <= FRACTION_CENTS && (order.isExtended || !order.isNoted);
  const dueCents = isFraction ? 0 : shortCents;
  const owedByMedusa = Math.min(leftCents, Math.max(0, -toCents(order.pending)));
  const owedCents = order.isNoted ? owedWith(back) : owedByMedusa;
  return {
    ...order,
    ...value,
    charges,
    open: openOf(order, charged),
    captures: capturesOf(order.payments, charges),
    asCaptured: () => toBooks(withCaptures(order), charged),
    back,
    leftCents,
    // A cancellation refunds what was captured, for all of the order.
    unexplained: order.isCanceled ? [] : unexplained,
    owedWith,
    owedCents: order.isCanceled ? 0 : owedCents,
    dueCents: order.isCanceled ? 0 : dueCents,
    pendingCents: balanceCents > 0 ? -owedWith(back) : dueCents + Math.min(uncapturedCents, -balanceCents),
  };
}

/**
 * Returns how much of a refund ahead hasn't become owed since, as the buyer kept less. The plugin refunds only what is
 * owed, so only its latest refund can still be ahead.
 */
function aheadOf(order: Noted, charges: readonly Charge[]): number {
  const latest = order.refunds.findLast(({ units, beyondCents }) => units && beyondCents === 0);
  if (!latest?.aheadCents) return 0;
  const keptCentsAt = (time: string) => {
    const items = order.items.map(({ item }) => historyOf(item, order.refunds, time));
    return valuer({ ...order, items }, charges).keptCents(backOf(items));
  };
  const times = order.items.flatMap(({ item: { versions, removedAt } }) => [
    ...versions.map(({ createdAt }) => createdAt),
    ...(removedAt === null ? [] : [removedAt]),
  ]);
  const later = [...new Set(times)].filter((time) => isBefore(latest.createdAt, time));
  const usedCents = later.map((time) => keptCentsAt(latest.createdAt) - keptCentsAt(time));
  return Math.max(0, latest.aheadCents - Math.max(0, ...usedCents));
}
