import { chargingStates, orderedStates } from "../store/charge-states.js";
import type { Difference, DifferenceKind, PaymentState } from "./difference.js";
import { type BookedCharge, heldCents } from "./movements.js";

/** A gift card payment in the shop's own books: of one charge, or of all cards of an order. */
export interface ShopPayment {
  /** The name of the payment for people. Default: its order's id. */
  readonly id?: string | undefined;
  /** The charge's `externalId`. Default: the payment is the sum of all cards of the order. */
  readonly externalId?: string | undefined;
  readonly orderId: string | null;
  /** The amount that the cards paid. */
  readonly amountCents: number;
  /** The captured part of it. Default: not compared. */
  readonly capturedCents?: number | undefined;
  /** The part of it that was refunded to the cards. Default 0. */
  readonly refundedCents?: number | undefined;
  /** Whether all of it was returned, or never taken. Default false. */
  readonly isCanceled?: boolean | undefined;
}

/** Records that belong together: a charge and its payment, or the charges and the payment of an order. */
export interface Group<C extends BookedCharge = BookedCharge> {
  readonly key: string;
  readonly charges: C[];
  readonly payments: ShopPayment[];
}

/** The times for judging a group. */
export interface JudgedAt {
  /** The time at which the charges were read, by the journal's clock. */
  readonly asOf: Date;
  /** Younger charges may still be in progress. Default: two minutes before `asOf`. */
  readonly settledBefore?: Date | undefined;
}

const IN_PROGRESS_MS = 120_000;

/** Returns the differences of a group, or null if they are only due to a charge or a reversal in progress. */
export function judge(group: Group, { asOf, settledBefore }: JudgedAt): Difference[] | null {
  const settled = settledBefore ?? new Date(asOf.getTime() - IN_PROGRESS_MS);
  const found = compare(group);
  return found.length > 0 && group.charges.some((charge) => isMoving(charge, settled, asOf)) ? null : found;
}

/** Whether a charge belongs to an order. A lease on it then only means that the shop's books are being fixed. */
const isOrdered = (state: BookedCharge["state"]) => orderedStates.includes(state);

/** Whether a charge or its reversal is in progress, or its completion may still be running. */
function isMoving({ state, sentAt, createdAt, leaseUntil }: BookedCharge, settledBefore: Date, asOf: Date) {
  const isYoung = (sentAt ?? createdAt) > settledBefore;
  return (isYoung && chargingStates.includes(state)) || (!isOrdered(state) && leaseUntil !== null && leaseUntil > asOf);
}

/**
 * Groups charges and payments that belong together.
 *
 * @throws {TypeError} if a payment's amounts aren't whole cents, or it refers to neither a charge nor an order
 */
export function groupsOf<C extends BookedCharge>(charges: Iterable<C>, payments: readonly ShopPayment[]): Group<C>[] {
  const groups = new Map<string, Group<C>>();
  const groupOf = (key: string) => {
    const group = groups.get(key) ?? { key, charges: [], payments: [] };
    groups.set(key, group);
    return group;
  };
  const ofCharges = new Map<string, ShopPayment[]>();
  const ofOrders = new Map<string, ShopPayment[]>();
  for (const payment of payments.map(checked)) {
    const [byId, id] = payment.externalId === undefined ? [ofOrders, payment.orderId] : [ofCharges, payment.externalId];
    byId.set(String(id), [...(byId.get(String(id)) ?? []), payment]);
  }
  // In the order of the charges, so that differences are listed in the order in which charges were read.
  for (const charge of charges) {
    const { externalId, orderId, reference } = charge;
    const isOfOrder = !ofCharges.has(externalId) && orderId !== null && ofOrders.has(orderId);
    const key = isOfOrder ? `order ${orderId}` : ofCharges.has(externalId) ? `charge ${externalId}` : reference;
    groupOf(key).charges.push(charge);
  }
  for (const [id, paid] of ofCharges) groupOf(`charge ${id}`).payments.push(...paid);
  for (const [id, paid] of ofOrders) groupOf(`order ${id}`).payments.push(...paid);
  return [...groups.values()];
}

function checked(payment: ShopPayment): ShopPayment {
  const { id, externalId, orderId, amountCents, capturedCents = 0, refundedCents = 0 } = payment;
  const name = id ?? orderId ?? externalId;
  if (externalId === undefined && orderId === null)
    throw new TypeError(`The payment ${name ?? ""} refers to neither a charge (externalId) nor an order (orderId).`);
  if (![amountCents, capturedCents, refundedCents].every((cents) => Number.isSafeInteger(cents) && cents >= 0))
    throw new TypeError(`The amounts of the payment ${name} aren't whole cents.`);
  return payment;
}

const heldByShop = ({ isCanceled, amountCents, refundedCents = 0 }: ShopPayment): number =>
  isCanceled ? 0 : amountCents - refundedCents;

function sideOf(payments: readonly ShopPayment[]): Difference["other"] {
  if (payments.length === 0) return { who: "payments", says: "nothing", cents: null, payments: [] };
  const named = payments.map((payment) => ({ name: String(payment.id ?? payment.orderId), state: stateOf(payment) }));
  const says = named.map(({ name, state }) => `${name} ${state.replace("_", " ")}`);
  return { who: "payments", says: says.join(", "), cents: sum(payments.map(heldByShop)), payments: named };
}

function stateOf({ amountCents, capturedCents, refundedCents = 0, isCanceled }: ShopPayment): PaymentState {
  if (isCanceled) return "canceled";
  if (refundedCents > 0) return refundedCents < amountCents ? "partly_refunded" : "refunded";
  return capturedCents === undefined ? "paid" : capturedCents > 0 ? "captured" : "authorized";
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, cents) => total + cents, 0);

function compare({ charges, payments }: Group): Difference[] {
  const other = sideOf(payments);
  const orderId = charges.find((charge) => charge.orderId !== null)?.orderId ?? payments[0]?.orderId ?? null;
  const undecided = charges.filter((charge) => heldCents(charge) === null);
  if (undecided.length > 0) {
    return undecided.map(({ reference, lastFour, state }) => ({
      kind: "undecided",
      reference,
      orderId,
      lastFour,
      journal: { says: state, cents: null, states: [state] },
      other,
    }));
  }
  const held = sum(charges.map((charge) => heldCents(charge) ?? 0));
  // Lists charges that took nothing, or were reversed, only if the group has no others.
  const holding = charges.filter((charge) => heldCents(charge) !== 0);
  const named = holding.length > 0 ? holding : charges;
  const [only] = named.length === 1 ? named : [];
  const states = named.map(({ state }) => state);
  const found = (kind: DifferenceKind): Difference[] => [
    {
      kind,
      reference: only?.reference ?? null,
      orderId,
      lastFour: only?.lastFour ?? null,
      journal: { says: states.join(", "), cents: held, states },
      other,
    },
  ];
  if (charges.length === 0) {
    const nothing = { says: "nothing", cents: null, states: [] };
    return other.cents === 0 ? [] : found("charge_missing").map((d) => ({ ...d, journal: nothing }));
  }
  if (payments.length === 0) return held === 0 ? [] : found("payment_missing");
  if (held !== other.cents) return found("held");
  const isKnown = payments.some(({ capturedCents }) => capturedCents !== undefined);
  const isFinal = payments.some(({ capturedCents = 0 }) => capturedCents > 0);
  const isSame = holding.every(({ state }) => state === "taken" || (state === "captured") === isFinal);
  return !isKnown || isSame ? [] : found("captured");
}
