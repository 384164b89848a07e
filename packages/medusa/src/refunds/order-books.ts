import type { OrderLine } from "@giftcard-pay/checkout";
import { returnedUnits } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, MedusaError } from "@medusajs/framework/utils";
import { fromCents, isSameAmount, toCents } from "../amount.js";
import { shareCents } from "../cart/order-lines.js";
import { contextOf } from "../context/context.js";
import type { BookedItem } from "../medusa-tables/order-items.js";
import {
  type BookedRefund,
  type RefundableOrder,
  readRefundable,
  readRefunds,
} from "../medusa-tables/order-refund.js";

/** How many units of each line are back, by the line's id. */
export type UnitsBack = ReadonlyMap<string, number>;

/** A refund that named no unit, and exceeded what was owed. Only a person knows what it was for. */
export interface UnexplainedRefund
  extends Pick<BookedRefund, "cents" | "beyondCents" | "createdAt" | "createdBy" | "note"> {
  readonly refundId: string;
}

/**
 * The record of what an order sold, what is back and what was refunded. Every refund is planned on it: of the order's
 * page, of a bulk refund, and Medusa's own.
 */
export interface OrderBooks extends RefundableOrder {
  /** In whole cents, as they were paid. They state what a unit is worth when it is returned. */
  readonly lines: readonly OrderLine[];
  /** Whether the lines are recorded. From then on, the plugin keeps Medusa's books at what it owes. */
  readonly isNoted: boolean;
  readonly charges: readonly Charge[];
  /** The charges that can still be reversed: charged, or reversed for a refund that Medusa doesn't have. */
  readonly open: readonly Charge[];
  /** Every unit that is back: returned, exchanged, removed by an edit, or named by a refund. */
  readonly back: UnitsBack;
  readonly leftCents: number;
  readonly owedCents: number;
  /** What the customer still has to pay, apart from payments that aren't captured yet. */
  readonly dueCents: number;
  readonly unexplained: readonly UnexplainedRefund[];
  /** What Medusa's pending difference has to be, in cents. Below 0, the order owes. */
  readonly pendingCents: number;
  /** Returns what the order owes once these units are back, in cents. */
  owedWith(back: UnitsBack): number;
  /** Returns the units of the order's own lines among those that are back. */
  returnedOf(back: UnitsBack): Map<string, number>;
  /** Returns the value of what the buyer keeps once these units are back, in cents. */
  keptCents(back: UnitsBack): number;
}

/**
 * A refund that differs from what was owed by no more than this was rounded: Medusa shows fractions of a cent as
 * owed.
 */
const ROUNDING_CENTS = 5;

const openStates: readonly string[] = ["captured", "reversing", "reversed"];

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Reads an order's books. Changes nothing and calls nobody. @throws {MedusaError} if there is no such order */
export async function readBooks(container: MedusaContainer, orderId: string): Promise<OrderBooks> {
  const order = await readRefundable(contextOf(container).sql, orderId);
  if (!order) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such order.");
  const lines = order.lines ?? linesAsPlaced(order);
  return toBooks({ ...order, lines, isNoted: order.lines !== null }, await readCharges(container, order));
}

async function readCharges(container: MedusaContainer, { payments }: RefundableOrder) {
  const { engine, sql } = contextOf(container);
  const charges: Charge[] = [];
  const open: Charge[] = [];
  for (const { sessionId, leftCents } of payments.filter(({ isGiftcard }) => isGiftcard)) {
    const own = await engine.journal.chargesOfPayment(sessionId);
    const booked = ((await readRefunds(sql, sessionId))?.refunds ?? []).map(({ id }) => id);
    const isBooked = ({ refundId }: Charge) => refundId !== null && booked.includes(refundId);
    charges.push(...own);
    // A payment that was canceled, or never captured, has nothing to refund.
    if (leftCents > 0)
      open.push(...own.filter((charge) => openStates.includes(charge.state) && !isBooked(charge)));
  }
  return { charges, open };
}

type Noted = RefundableOrder & Pick<OrderBooks, "lines" | "isNoted">;

/** Computes the lines of an order as they were sold, if nobody recorded them when it was placed. */
const linesAsPlaced = ({ items, placedCents }: RefundableOrder): OrderLine[] =>
  shareCents(
    items
      .filter(({ paidEach }) => paidEach !== null)
      .map(({ id, placed, paidEach }) => ({
        id,
        quantity: placed,
        total: MathBN.mult(paidEach ?? 0, placed),
      })),
    placedCents,
  );

function toBooks(order: Noted, charged: Pick<OrderBooks, "charges" | "open">): OrderBooks {
  const value = valuer(order, charged.charges);
  const back = unitsBack(order);
  const payments = order.payments;
  const leftCents = sum(payments.map((payment) => payment.leftCents));
  const capturedCents = sum(payments.map((payment) => payment.capturedCents));
  const uncapturedCents = sum(payments.map((payment) => payment.uncapturedCents));
  const refundedCents = sum(order.refunds.map(({ cents }) => cents));
  const goodwillCents = sum(
    order.refunds.map(({ isGoodwill, beyondCents }) => (isGoodwill ? beyondCents : 0)),
  );
  // The plugin refunds only what is owed, so its latest refund is the only one that can still be ahead.
  const latest = order.refunds.findLast(({ units, beyondCents }) => units && beyondCents === 0);
  const aheadCents = latest?.aheadCents ?? 0;
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
  // Added units can make a cent of fractions. Medusa ignores a cent, and can't capture it.
  const shortCents = shortOf(unexplained);
  const dueByBooks = order.isExtended && shortCents <= 1 ? 0 : shortCents;
  const dueCents = order.isNoted ? dueByBooks : Math.max(0, toCents(order.pending) - uncapturedCents);
  const owedByMedusa = Math.min(leftCents, Math.max(0, -toCents(order.pending)));
  const owedCents = order.isNoted ? owedWith(back) : owedByMedusa;
  return {
    ...order,
    ...charged,
    ...value,
    back,
    leftCents,
    unexplained,
    owedWith,
    owedCents: order.isCanceled ? 0 : owedCents,
    dueCents: order.isCanceled ? 0 : dueCents,
    pendingCents: balanceCents > 0 ? -owedWith(back) : dueCents + Math.min(uncapturedCents, -balanceCents),
  };
}

/** Combines what is back by Medusa's own figures and by the refunds that name units. The same unit may be in both. */
function unitsBack({ items, refunds }: Noted): Map<string, number> {
  const back = new Map(items.map(({ id, sold, kept }) => [id, Math.max(0, sold - kept)]));
  for (const { units } of refunds)
    for (const [id, count] of units ?? []) back.set(id, Math.max(back.get(id) ?? 0, count));
  return back;
}

/**
 * Values what the buyer keeps: units of the order's own lines by their recorded cents, and what was added or priced anew
 * since by Medusa's figures. If a line was extended, the added units are the first to come back.
 */
function valuer(
  { items, lines }: Noted,
  charges: readonly Charge[],
): Pick<OrderBooks, "returnedOf" | "keptCents"> {
  const itemOf = new Map(items.map((item) => [item.id, item]));
  const totalCents = sum(lines.map((line) => line.totalCents));
  const addedOf = ({ id, quantity }: OrderLine) => Math.max(0, (itemOf.get(id)?.sold ?? quantity) - quantity);
  const returnedOf = (back: UnitsBack) =>
    new Map(
      lines.map((line) => [
        line.id,
        Math.min(line.quantity, Math.max(0, (back.get(line.id) ?? 0) - addedOf(line))),
      ]),
    );
  const keptCents = (back: UnitsBack) => {
    const returned = returnedOf(back);
    const pieces = returnedUnits(lines, charges, returned);
    const placed = new Map(lines.map(({ id, quantity }) => [id, quantity - (returned.get(id) ?? 0)]));
    const kept = items.map((item) => ({ item, count: Math.max(0, item.sold - (back.get(item.id) ?? 0)) }));
    const changes = kept.map(({ item, count }) =>
      MathBN.sub(worthOf(item, count), MathBN.mult(item.paidEach ?? 0, placed.get(item.id) ?? 0)),
    );
    const evened = evenedOf(
      kept,
      pieces.map(({ line, cents }) => ({ cents, each: itemOf.get(line)?.paidEach ?? "0" })),
    );
    return totalCents - sum(pieces.map(({ cents }) => cents)) + toCents(MathBN.sum(0, ...changes, ...evened));
  };
  return { returnedOf, keptCents };
}

/** Returns the price of the first units of an item, as many as are kept. Its discounts belong to the first units. */
function worthOf({ price, discount, discounted }: BookedItem, kept: number) {
  const share = discounted === 0 ? 0 : MathBN.div(discount, discounted);
  return MathBN.sub(MathBN.mult(price, kept), MathBN.mult(share, Math.min(kept, discounted)));
}

/**
 * Lists by how much added units have to differ from Medusa's figures so that an even exchange owes nothing: a unit
 * gets the cents of a returned one that had the same price, fractions of a cent included.
 */
function evenedOf(
  kept: readonly { readonly item: BookedItem; readonly count: number }[],
  returned: readonly { readonly cents: number; readonly each: string }[],
) {
  const left = [...returned];
  return kept.flatMap(({ item, count }) => {
    if (item.paidEach !== null || count === 0) return [];
    const each = MathBN.div(worthOf(item, count), count);
    const same = left.filter((piece) => isSameAmount(piece.each, each)).slice(0, count);
    for (const piece of same) left.splice(left.indexOf(piece), 1);
    return same.map(({ cents }) => MathBN.sub(fromCents(cents), each));
  });
}

/** Lists refunds without units that exceed what was owed by more than rounding. */
const unexplainedOf = (refunds: readonly BookedRefund[]): UnexplainedRefund[] =>
  refunds
    .filter(({ units, isGoodwill, beyondCents }) => !units && !isGoodwill && beyondCents > ROUNDING_CENTS)
    .map(toUnexplained);

const toUnexplained = ({
  id,
  cents,
  beyondCents,
  createdAt,
  createdBy,
  note,
}: BookedRefund): UnexplainedRefund => ({
  refundId: id,
  cents,
  beyondCents,
  createdAt,
  createdBy,
  note,
});

/**
 * Adds refunds that Medusa made beyond what was owed, and died before it waived that: the latest refunds that name no
 * unit.
 * @param missingCents what was refunded beyond what came back
 */
function withCrashed(
  unexplained: readonly UnexplainedRefund[],
  refunds: readonly BookedRefund[],
  missingCents: number,
): UnexplainedRefund[] {
  const found = new Map(unexplained.map((refund) => [refund.refundId, refund]));
  let leftCents = missingCents;
  for (const refund of refunds.toReversed()) {
    if (leftCents <= ROUNDING_CENTS || refund.units || refund.isGoodwill) continue;
    const known = found.get(refund.id) ?? { ...toUnexplained(refund), beyondCents: 0 };
    const more = Math.min(leftCents, refund.cents - known.beyondCents);
    leftCents -= more;
    if (more > 0) found.set(refund.id, { ...known, beyondCents: known.beyondCents + more });
  }
  return refunds.flatMap(({ id }) => found.get(id) ?? []);
}
