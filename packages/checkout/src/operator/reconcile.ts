import { formatCents } from "@giftcard-pay/client";
import { chargingStates, orderedStates } from "../store/charge-states.js";
import type { Difference, DifferenceKind } from "./difference.js";
import { type BookedCharge, heldCents } from "./movements.js";
import { type Days, momentsOf } from "./period.js";
import { compareCards } from "./service-figures.js";
import type { ReportedCard } from "./service-report.js";
import { layOut } from "./text-table.js";

/** A payment by gift card as the shop's own books have it: of one charge, or of all cards that paid for an order. */
export interface ShopPayment {
  /** What the shop calls it, for people. Default: its order's id. */
  readonly id?: string | undefined;
  /** The shop's id that the charge carries as `externalId`. Left out, the payment is what all cards paid for the order. */
  readonly externalId?: string | undefined;
  readonly orderId: string | null;
  /** What the cards paid. */
  readonly amountCents: number;
  /** How much of that is final. Left out, it isn't compared. */
  readonly capturedCents?: number | undefined;
  /** How much of that went back to the cards. Default 0. */
  readonly refundedCents?: number | undefined;
  /** The whole of it went back, or was never taken. Default false. */
  readonly isCanceled?: boolean | undefined;
}

export interface ReconcileInput extends Days {
  /** What moved within the period, and whatever is open. */
  readonly charges: readonly BookedCharge[];
  /** The shop's payments of those charges, and all others made within the period. */
  readonly payments: readonly ShopPayment[];
  /** The service's report over the same days, where the operator shares it. */
  readonly report?: readonly ReportedCard[] | undefined;
  /** By whose clock days begin. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
  /** Charges younger than this are still on their way. Default: two minutes before `asOf`. */
  readonly settledBefore?: Date | undefined;
  /** When the charges were read, by the journal's clock. Default: now. */
  readonly asOf?: Date | undefined;
}

/** What a comparison of the books found. */
export interface Reconciliation extends Days {
  /** How many charges were looked at. */
  readonly charges: number;
  /** How many of the shop's payments were. */
  readonly payments: number;
  /** How many of the service's cards were; null without its report. */
  readonly cards: number | null;
  /** How many would differ, but are just being charged or reversed: the next reconciliation judges them. */
  readonly moving: number;
  readonly differences: readonly Difference[];
}

/** What belongs together: a charge and its payment, or the charges of an order and what the shop has for it. */
interface Group {
  readonly charges: BookedCharge[];
  readonly payments: ShopPayment[];
}

/**
 * Holds charges against the shop's payments and, where it is there, the service's report. It judges what it is given:
 * `Checkout.reconcile` reads the journal for it.
 *
 * @throws {TypeError} for a payment whose amounts aren't whole cents, or that names neither a charge nor an order
 */
export function reconcile(input: ReconcileInput): Reconciliation {
  const { from, to, charges, payments, report, asOf = new Date() } = input;
  const settledBefore = input.settledBefore ?? new Date(asOf.getTime() - 120_000);
  const differences: Difference[] = [];
  let moving = 0;
  for (const group of groupsOf(charges, payments)) {
    const found = compare(group);
    if (found.length > 0 && group.charges.some((charge) => isMoving(charge, settledBefore, asOf)))
      moving += 1;
    else differences.push(...found);
  }
  if (report) differences.push(...compareCards(charges, report, momentsOf({ from, to }, input.timeZone)));
  return {
    ...{ from, to, charges: charges.length, payments: payments.length },
    cards: report ? report.length : null,
    ...{ moving, differences },
  };
}

/** What an order has already: whoever holds it mends the shop's books, and where that fails it isn't on its way. */
const isOrdered = (state: BookedCharge["state"]) => orderedStates.includes(state);

/** Its charge or its reversal is on its way just now, or it was charged a moment ago and its completion goes on. */
function isMoving({ state, sentAt, createdAt, leaseUntil }: BookedCharge, settledBefore: Date, asOf: Date) {
  const isYoung = (sentAt ?? createdAt) > settledBefore;
  return (
    (isYoung && chargingStates.includes(state)) ||
    (!isOrdered(state) && leaseUntil !== null && leaseUntil > asOf)
  );
}

function groupsOf(charges: readonly BookedCharge[], payments: readonly ShopPayment[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  const groupOf = (key: string) => {
    const group = groups.get(key) ?? { charges: [], payments: [] };
    groups.set(key, group);
    return group;
  };
  const ofCharges = new Map<string, ShopPayment[]>();
  const ofOrders = new Map<string, ShopPayment[]>();
  for (const payment of payments.map(checked)) {
    const [byId, id] =
      payment.externalId === undefined ? [ofOrders, payment.orderId] : [ofCharges, payment.externalId];
    byId.set(String(id), [...(byId.get(String(id)) ?? []), payment]);
  }
  // In the order of the charges, so that what is found stands in the order in which they were read.
  for (const charge of charges) {
    const { externalId, orderId, reference } = charge;
    const isOfOrder = !ofCharges.has(externalId) && orderId !== null && ofOrders.has(orderId);
    const key = isOfOrder
      ? `order ${orderId}`
      : ofCharges.has(externalId)
        ? `charge ${externalId}`
        : reference;
    groupOf(key).charges.push(charge);
  }
  for (const [id, paid] of ofCharges) groupOf(`charge ${id}`).payments.push(...paid);
  for (const [id, paid] of ofOrders) groupOf(`order ${id}`).payments.push(...paid);
  return groups.values();
}

function checked(payment: ShopPayment): ShopPayment {
  const { id, externalId, orderId, amountCents, capturedCents = 0, refundedCents = 0 } = payment;
  const name = id ?? orderId ?? externalId;
  if (externalId === undefined && orderId === null)
    throw new TypeError(
      `The payment ${name ?? ""} names neither a charge (externalId) nor an order (orderId).`,
    );
  if (
    ![amountCents, capturedCents, refundedCents].every((cents) => Number.isSafeInteger(cents) && cents >= 0)
  )
    throw new TypeError(`The amounts of the payment ${name} aren't whole cents.`);
  return payment;
}

const heldByShop = ({ isCanceled, amountCents, refundedCents = 0 }: ShopPayment): number =>
  isCanceled ? 0 : amountCents - refundedCents;

function sideOf(payments: readonly ShopPayment[]): Difference["other"] {
  if (payments.length === 0) return { who: "payments", says: "nothing", cents: null };
  const says = payments.map((payment) => {
    const { id, orderId, amountCents, capturedCents, refundedCents = 0, isCanceled } = payment;
    const refunded = refundedCents < amountCents ? "partly refunded" : "refunded";
    const paid = capturedCents === undefined ? "paid" : capturedCents > 0 ? "captured" : "authorized";
    return `${id ?? orderId} ${isCanceled ? "canceled" : refundedCents > 0 ? refunded : paid}`;
  });
  return { who: "payments", says: says.join(", "), cents: sum(payments.map(heldByShop)) };
}

const sum = (cents: readonly number[]): number => cents.reduce((total, one) => total + one, 0);

function compare({ charges, payments }: Group): Difference[] {
  const other = sideOf(payments);
  const orderId = charges.find((charge) => charge.orderId !== null)?.orderId ?? payments[0]?.orderId ?? null;
  const undecided = charges.filter((charge) => heldCents(charge) === null);
  if (undecided.length > 0) {
    return undecided.map(({ reference, lastFour, state }) => ({
      ...{ kind: "undecided", reference, orderId, lastFour, other },
      journal: { says: state, cents: null },
    }));
  }
  const held = sum(charges.map((charge) => heldCents(charge) ?? 0));
  // What took nothing, or gave it back, is named only where nothing else is there.
  const holding = charges.filter((charge) => heldCents(charge) !== 0);
  const named = holding.length > 0 ? holding : charges;
  const [only] = named.length === 1 ? named : [];
  const found = (kind: DifferenceKind): Difference[] => [
    {
      ...{ kind, orderId, reference: only?.reference ?? null, lastFour: only?.lastFour ?? null },
      journal: { says: named.map(({ state }) => state).join(", "), cents: held },
      other,
    },
  ];
  if (charges.length === 0) {
    const nothing = { says: "nothing", cents: null };
    return other.cents === 0 ? [] : found("charge_missing").map((d) => ({ ...d, journal: nothing }));
  }
  if (payments.length === 0) return held === 0 ? [] : found("payment_missing");
  if (held !== other.cents) return found("held");
  const isKnown = payments.some(({ capturedCents }) => capturedCents !== undefined);
  const isFinal = payments.some(({ capturedCents = 0 }) => capturedCents > 0);
  const isSame = holding.every(({ state }) => state === "taken" || (state === "captured") === isFinal);
  return !isKnown || isSame ? [] : found("captured");
}

/** A reconciliation as lines to print: a difference each, with both sides, and the count last. Amounts in euro. */
export function reconciliationText(
  reconciliation: Reconciliation,
  nameOf: (orderId: string) => string = (id) => id,
): string {
  const { from, to, charges, payments, cards, moving, differences } = reconciliation;
  const amount = (cents: number | null) => (cents === null ? "?" : formatCents(cents));
  const rows = differences.map(({ kind, reference, orderId, lastFour, journal, other }) => [
    kind,
    lastFour === null ? "" : `…${lastFour}`,
    orderId === null ? "" : nameOf(orderId),
    reference ?? "",
    `journal: ${amount(journal.cents)} (${journal.says})`,
    `${other.who}: ${amount(other.cents)} (${other.says})`,
  ]);
  const count = differences.length;
  const found = count === 0 ? "no difference" : `${count} difference${count === 1 ? "" : "s"}`;
  const ofReport = cards === null ? "" : `, ${cards} cards of the report`;
  const unsettled = moving === 0 ? "" : `; ${moving} still moving`;
  return `${layOut(rows)}${from} to ${to}: ${charges} charges, ${payments} payments${ofReport}; ${found}${unsettled}\n`;
}
