import { chargingStates, orderedStates } from "../store/charge-states.js";
import type { Difference, DifferenceKind } from "./difference.js";
import { type BookedCharge, heldCents } from "./movements.js";

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

/** What belongs together: a charge and its payment, or the charges of an order and what the shop has for it. */
export interface Group<C extends BookedCharge = BookedCharge> {
  readonly key: string;
  readonly charges: C[];
  readonly payments: ShopPayment[];
}

/** By which moments a group is judged. */
export interface JudgedAt {
  /** When the charges were read, by the journal's clock. */
  readonly asOf: Date;
  /** Charges younger than this are still on their way. Default: two minutes before `asOf`. */
  readonly settledBefore?: Date | undefined;
}

const ON_ITS_WAY_MS = 120_000;

/** What differs in a group; null where that is only because it is just being charged or reversed. */
export function judge(group: Group, { asOf, settledBefore }: JudgedAt): Difference[] | null {
  const settled = settledBefore ?? new Date(asOf.getTime() - ON_ITS_WAY_MS);
  const found = compare(group);
  return found.length > 0 && group.charges.some((charge) => isMoving(charge, settled, asOf)) ? null : found;
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

/**
 * Puts together what belongs together.
 *
 * @throws {TypeError} for a payment whose amounts aren't whole cents, or that names neither a charge nor an order
 */
export function groupsOf<C extends BookedCharge>(
  charges: Iterable<C>,
  payments: readonly ShopPayment[],
): Group<C>[] {
  const groups = new Map<string, Group<C>>();
  const groupOf = (key: string) => {
    const group = groups.get(key) ?? { key, charges: [], payments: [] };
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
  return [...groups.values()];
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
      kind: "undecided",
      reference,
      orderId,
      lastFour,
      journal: { says: state, cents: null },
      other,
    }));
  }
  const held = sum(charges.map((charge) => heldCents(charge) ?? 0));
  // What took nothing, or gave it back, is named only where nothing else is there.
  const holding = charges.filter((charge) => heldCents(charge) !== 0);
  const named = holding.length > 0 ? holding : charges;
  const [only] = named.length === 1 ? named : [];
  const found = (kind: DifferenceKind): Difference[] => [
    {
      kind,
      reference: only?.reference ?? null,
      orderId,
      lastFour: only?.lastFour ?? null,
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
