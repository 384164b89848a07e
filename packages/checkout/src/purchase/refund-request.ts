import { isCents } from "../engine/charge-layout.js";
import { invalidRefund, RefundError } from "../engine/errors.js";
import {
  planRefund,
  type RefundPlan,
  type RefundShares,
  type RefundSplit,
  valueOfUnits,
} from "../engine/refund-plan.js";
import { toOpenCharge } from "../engine/refunds.js";
import type { Charge } from "../store/charge.js";
import { chargedStates } from "../store/charge-states.js";
import type { OrderLine } from "../store/order-line.js";
import {
  type Purchase,
  paidStates,
  type Refund,
  type RefundRule,
  refundRules,
} from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";

/** What is to go back of a paid order: units of its lines, or an amount. */
export type RefundRequest = (
  | {
      /** How many units of each line come back, by the line's id. Each is worth its exact cents, the last units first. */
      readonly lines: Readonly<Record<string, number>>;
      readonly amountCents?: undefined;
    }
  | {
      /** Whole cents above 0. */
      readonly amountCents: number;
      readonly lines?: undefined;
    }
) & {
  /** How it is split between the cards and the remainder's method. Default "as-paid". */
  readonly rule?: RefundRule | undefined;
};

/** How a refund would be split, or the nearest amounts that could go back: at most one below and one above. */
export type OrderRefundPlan =
  | ({ readonly isPossible: true } & RefundShares)
  | {
      readonly isPossible: false;
      readonly amountCents: number;
      readonly nearest: readonly RefundShares[];
    };

/** What stands written of a paid order. */
export interface PaidBooks {
  readonly purchase: Purchase;
  readonly refunds: readonly Refund[];
  /** In the order in which they were charged. */
  readonly charges: readonly Charge[];
}

const names = ["id", "lines", "amountCents", "rule"];

/**
 * Refuses a request that makes no sense for any order.
 *
 * @throws {RefundError} invalid_refund
 */
export function checkRefundRequest<Request extends RefundRequest>(request: Request): Request {
  const { lines, amountCents, rule } = (request ?? {}) as Partial<RefundRequest>;
  for (const name of Object.keys(request ?? {}))
    if (!names.includes(name)) throw invalidRefund(`A refund has no ${name}.`);
  if ((lines === undefined) === (amountCents === undefined))
    throw invalidRefund("A refund needs lines or amountCents, one of them.");
  if (rule !== undefined && !refundRules.includes(rule))
    throw invalidRefund(`A refund's rule has to be one of ${refundRules.join(", ")}.`);
  if (amountCents !== undefined && !(isCents(amountCents) && amountCents > 0))
    throw invalidRefund("A refund's amountCents has to be whole cents above 0.");
  if (lines === undefined) return request;
  if (typeof lines !== "object" || lines === null || Array.isArray(lines))
    throw invalidRefund("A refund's lines have to be quantities by the lines' ids.");
  if (Object.keys(lines).length === 0) throw invalidRefund("A refund's lines name no line.");
  for (const [id, quantity] of Object.entries(lines))
    if (!(Number.isFinite(quantity) && quantity > 0))
      throw invalidRefund(`A refund's quantity of the line "${id}" has to be a number above 0.`);
  return request;
}

/** How many units of each line came back by these refunds. */
function returnedBy(refunds: readonly Pick<Refund, "lines">[]): ReadonlyMap<string, number> {
  const returned = new Map<string, number>();
  for (const { lines } of refunds)
    for (const [id, quantity] of Object.entries(lines ?? {}))
      returned.set(id, (returned.get(id) ?? 0) + quantity);
  return returned;
}

/** Refuses units that the order hasn't, or that came back already. @throws {RefundError} invalid_refund */
function checkUnits(
  lines: readonly OrderLine[],
  wished: Readonly<Record<string, number>>,
  refunds: readonly Refund[],
) {
  const returned = returnedBy([...refunds, { lines: wished }]);
  for (const [id, quantity] of Object.entries(wished)) {
    const line = lines.find((one) => one.id === id);
    if (!line) throw invalidRefund(`The order has no line "${id}".`);
    if (Number.isInteger(line.quantity) && !Number.isInteger(quantity))
      throw invalidRefund(`The line "${id}" comes back in whole units.`);
    // Quantities that were added up as fractions miss the whole by a hair.
    const leftQuantity = line.quantity - (returned.get(id) ?? 0) + quantity;
    if (quantity > leftQuantity + 1e-9)
      throw invalidRefund(`Of the line "${id}" ${Math.max(0, leftQuantity)} are left, and not ${quantity}.`);
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, cents) => total + cents, 0);

/** For an order that isn't paid (any more). */
const whyNotPaid = ({ state }: Purchase): string =>
  state === "canceling" || state === "canceled"
    ? "The order went back as a whole: nothing is left to refund."
    : "The order isn't paid: there is nothing to refund.";

/** Whether an order was paid, and hasn't gone back as a whole. */
export const isPaidStill = ({ state }: Purchase): boolean => [...paidStates, "refunded"].includes(state);

/** The charges that a further refund can take: what an earlier one has taken is gone, whether that is done yet or not. */
export function openCharges({ purchase, refunds, charges }: PaidBooks): Charge[] {
  const taken = new Set(refunds.flatMap(({ references }) => references));
  const isOpen = ({ state, reference }: Charge) => chargedStates.includes(state) && !taken.has(reference);
  return isPaidStill(purchase) ? charges.filter(isOpen) : [];
}

/** What the refunds of an order have taken of its remainder. */
export const remainderBackCents = (refunds: readonly Refund[]): number =>
  sum(refunds.map(({ remainderCents }) => remainderCents));

/**
 * Splits a refund of a paid order by what stands written of it.
 *
 * @throws {RefundError} order_not_paid; invalid_refund for lines of an order that was committed without any, and for units
 *   that the order hasn't, or not any more, or that are worth nothing
 */
export function splitRefund(
  books: PaidBooks,
  request: RefundRequest,
): RefundPlan & { readonly amountCents: number; readonly leftCents: number } {
  const { purchase, refunds, charges } = books;
  if (!isPaidStill(purchase)) throw new RefundError("order_not_paid", whyNotPaid(purchase));
  const { lines: wished, rule } = request;
  const open = openCharges(books);
  const otherCents = purchase.remainderCents - remainderBackCents(refunds);
  const left = { charges: open.map(toOpenCharge), otherCents, rule };
  const leftCents = otherCents + sum(left.charges.map(({ cents }) => cents));
  if (wished === undefined) {
    const { amountCents } = request;
    return { ...planRefund({ ...left, amountCents }), amountCents, leftCents };
  }
  const { lines } = purchase;
  if (!lines) throw invalidRefund("The order was committed without lines: refund an amount of it.");
  checkUnits(lines, wished, refunds);
  const wishedUnits = returnedBy([{ lines: wished }]);
  const amountCents = valueOfUnits(lines, charges, wishedUnits, returnedBy(refunds));
  if (amountCents === 0) throw invalidRefund("The units of this refund are worth nothing.");
  const returned = returnedBy([...refunds, { lines: wished }]);
  const reversed = charges.filter((charge) => !open.includes(charge));
  return { ...planRefund({ ...left, amountCents, lines, returned, reversed }), amountCents, leftCents };
}

/**
 * What goes to whom.
 *
 * @param references the charges that go back
 * @param charges all charges of the order, in the order in which they were charged
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
  return { amountCents, cards, remainderCents };
}

/** A split as it is written down. */
export const writtenOf = ({ amountCents, charges, otherCents }: RefundSplit) => ({
  amountCents,
  remainderCents: otherCents,
  references: charges.map(({ reference }) => reference),
});

/** Whether a refund that is written down was asked for in the same words. */
export function isSameWish(refund: Refund, { lines, amountCents, rule }: RefundRequest): boolean {
  const text = (one: Refund["lines"] | undefined) =>
    JSON.stringify(Object.entries(one ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (refund.rule !== (rule ?? refundRules[0]) || (refund.lines === null) !== (lines === undefined))
    return false;
  return lines === undefined ? refund.amountCents === amountCents : text(refund.lines) === text(lines);
}
