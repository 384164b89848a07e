import { type Cents, cents } from "@giftcard-pay/client";
import { isCents } from "../../engine/charge-layout.js";
import { invalidRefund, RefundError } from "../../engine/errors.js";
import {
  planRefund,
  type RefundPlan,
  type RefundShares,
  type RefundSplit,
  valueOfUnits,
} from "../../engine/refund-plan.js";
import { toOpenCharge } from "../../engine/refunds.js";
import type { Charge } from "../../store/charge.js";
import { chargedStates } from "../../store/charge-states.js";
import type { OrderLine } from "../../store/order-line.js";
import { soldStates } from "../../store/purchase-states.js";
import { type Purchase, type Refund, type RefundRule, refundRules } from "../../store/purchase-store.js";
import { groupByPayment } from "../card-payments.js";

/** A refund of a paid order: units of its lines, or an amount. */
export type RefundRequest = (
  | {
      /** The number of returned units of each line, by the line's id. Each unit has its exact value; the last units are returned first. */
      readonly lines: Readonly<Record<string, number>>;
      readonly amountCents?: undefined;
    }
  | {
      /** Whole cents above 0. */
      readonly amountCents: Cents;
      readonly lines?: undefined;
    }
) & {
  /** How it is split between the cards and the remainder method. Default "as-paid". */
  readonly rule?: RefundRule | undefined;
};

/** The split of a refund, or the nearest amounts that are possible: at most one below and one above. */
export type OrderRefundPlan =
  | ({ readonly isPossible: true } & RefundShares)
  | {
      readonly isPossible: false;
      readonly amountCents: Cents;
      readonly nearest: readonly RefundShares[];
    };

/** The records of a paid order. */
export interface PaidBooks {
  readonly purchase: Purchase;
  readonly refunds: readonly Refund[];
  /** In the order in which they were charged. */
  readonly charges: readonly Charge[];
}

const names = ["id", "lines", "amountCents", "rule"];

/**
 * Validates a request, independent of its order.
 *
 * @throws {RefundError} invalid_refund
 */
export function checkRefundRequest<Request extends RefundRequest>(request: Request): Request {
  const { lines, amountCents, rule } = (request ?? {}) as Partial<RefundRequest>;
  for (const name of Object.keys(request ?? {}))
    if (!names.includes(name)) throw invalidRefund(`A refund has no ${name}.`);
  if ((lines === undefined) === (amountCents === undefined))
    throw invalidRefund("A refund needs either lines or amountCents.");
  if (rule !== undefined && !refundRules.includes(rule))
    throw invalidRefund(`A refund's rule has to be one of ${refundRules.join(", ")}.`);
  if (amountCents !== undefined && !(isCents(amountCents) && amountCents > 0))
    throw invalidRefund("A refund's amountCents has to be whole cents above 0.");
  if (lines === undefined) return request;
  if (typeof lines !== "object" || lines === null || Array.isArray(lines))
    throw invalidRefund("A refund's lines have to be quantities by the lines' ids.");
  if (Object.keys(lines).length === 0) throw invalidRefund("A refund's lines are empty.");
  for (const [id, quantity] of Object.entries(lines))
    if (!(Number.isFinite(quantity) && quantity > 0))
      throw invalidRefund(`A refund's quantity of the line "${id}" has to be a number above 0.`);
  return request;
}

/** Returns how many units of each line these refunds return. */
function returnedBy(refunds: readonly Pick<Refund, "lines">[]): ReadonlyMap<string, number> {
  const returned = new Map<string, number>();
  for (const { lines } of refunds)
    for (const [id, quantity] of Object.entries(lines ?? {})) returned.set(id, (returned.get(id) ?? 0) + quantity);
  return returned;
}

/** Refuses units that the order doesn't have, or that were returned before. @throws {RefundError} invalid_refund */
function checkUnits(
  lines: readonly OrderLine[],
  returning: Readonly<Record<string, number>>,
  refunds: readonly Refund[],
) {
  const returned = returnedBy([...refunds, { lines: returning }]);
  for (const [id, quantity] of Object.entries(returning)) {
    const line = lines.find((each) => each.id === id);
    if (!line) throw invalidRefund(`The order has no line "${id}".`);
    if (Number.isInteger(line.quantity) && !Number.isInteger(quantity))
      throw invalidRefund(`The line "${id}" can only be returned in whole units.`);
    // Sums of fractional quantities have rounding errors.
    const leftQuantity = line.quantity - (returned.get(id) ?? 0) + quantity;
    if (quantity > leftQuantity + 1e-9)
      throw invalidRefund(`The line "${id}" has only ${Math.max(0, leftQuantity)} units left, not ${quantity}.`);
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, cents) => total + cents, 0);

/** Explains why an order can't be refunded. */
const whyNotPaid = ({ state }: Purchase): string =>
  state === "canceling" || state === "canceled"
    ? "The order was canceled: nothing is left to refund."
    : "The order isn't paid: there is nothing to refund.";

/** Whether an order was paid, and not canceled since. */
export const wasPaid = ({ state }: Purchase): boolean => soldStates.includes(state);

/** Returns the charges that a further refund can reverse. Earlier refunds keep theirs, whether or not they are done. */
export function openCharges({ purchase, refunds, charges }: PaidBooks): Charge[] {
  const taken = new Set(refunds.flatMap(({ references }) => references));
  const isOpen = ({ state, reference }: Charge) => chargedStates.includes(state) && !taken.has(reference);
  return wasPaid(purchase) ? charges.filter(isOpen) : [];
}

/** Returns how much of an order's remainder its refunds have taken. */
export const refundedRemainderCents = (refunds: readonly Refund[]): number =>
  sum(refunds.map(({ remainderCents }) => remainderCents));

/**
 * Splits a refund of a paid order.
 *
 * @throws {RefundError} order_not_paid; invalid_refund if the order has no lines, or doesn't have these units (any more), or
 *   if those of a line have no value
 */
export function splitRefund(
  books: PaidBooks,
  request: RefundRequest,
): RefundPlan & { readonly amountCents: number; readonly leftCents: number } {
  const { purchase, refunds, charges } = books;
  if (!wasPaid(purchase)) throw new RefundError("order_not_paid", whyNotPaid(purchase));
  const { lines: returning, rule } = request;
  const open = openCharges(books);
  const remainderCents = purchase.remainderCents - refundedRemainderCents(refunds);
  const left = { charges: open.map(toOpenCharge), remainderCents, rule };
  const leftCents = remainderCents + sum(left.charges.map(({ cents }) => cents));
  if (returning === undefined) {
    const { amountCents } = request;
    return { ...planRefund({ ...left, amountCents }), amountCents, leftCents };
  }
  const { lines } = purchase;
  if (!lines) throw invalidRefund("The order was paid without lines: refund an amount instead.");
  checkUnits(lines, returning, refunds);
  const units = returnedBy([{ lines: returning }]);
  const before = returnedBy(refunds);
  for (const unit of units) {
    // A part of a fractional quantity is no unit. It must not be refunded at 0.00 beside other units.
    if (valueOfUnits(lines, charges, new Map([unit]), before) > 0) continue;
    throw invalidRefund(
      `The units of the line "${unit[0]}" have no value: leave it out, return all of a fractional quantity, or refund an amount.`,
    );
  }
  const amountCents = valueOfUnits(lines, charges, units, before);
  const returned = returnedBy([...refunds, { lines: returning }]);
  const reversed = charges.filter((charge) => !open.includes(charge));
  return { ...planRefund({ ...left, amountCents, lines, returned, reversed }), amountCents, leftCents };
}

/**
 * Returns the shares of a refund.
 *
 * @param references the charges that are reversed
 * @param charges all charges of the order, in the order in which they were made
 */
export function sharesOf(
  { amountCents, remainderCents, references }: Pick<Refund, "amountCents" | "remainderCents" | "references">,
  charges: readonly Charge[],
): RefundShares {
  const chosen = charges.filter(({ reference }) => references.includes(reference));
  const cards = groupByPayment(chosen).map((card) => ({
    lastFour: card.lastFour,
    amountCents: card.amountCents,
  }));
  return { amountCents: cents(amountCents), cards, remainderCents: cents(remainderCents) };
}

/** Converts a split to the fields of its record. */
export const recordOf = ({ amountCents, charges, remainderCents }: RefundSplit) => ({
  amountCents,
  remainderCents,
  references: charges.map(({ reference }) => reference),
});

/** Whether a recorded refund was made for the same request. */
export function isSameRequest(refund: Refund, { lines, amountCents, rule }: RefundRequest): boolean {
  const text = (quantities: Refund["lines"] | undefined) =>
    JSON.stringify(Object.entries(quantities ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (refund.rule !== (rule ?? refundRules[0]) || (refund.lines === null) !== (lines === undefined)) return false;
  return lines === undefined ? refund.amountCents === amountCents : text(refund.lines) === text(lines);
}
