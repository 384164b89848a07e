import { type BookedAttempt, heldCents, movementsOf } from "./movements.js";
import { type Days, momentsOf } from "./period.js";
import type { ReportedCard } from "./service-report.js";

/** A gift card payment as the shop's own books have it. */
export interface ShopPayment {
  readonly id: string;
  /** The shop's id that the attempt carries as `externalId`. */
  readonly externalId: string;
  readonly orderId: string | null;
  readonly amountCents: number;
  readonly capturedCents: number;
  readonly refundedCents: number;
  readonly isCanceled: boolean;
}

/**
 * `undecided`: it isn't known whether money is off the card. `payment_missing`: money is off a card and the shop has no
 * payment for it. `attempt_missing`: the shop has a payment of which the journal knows nothing. `held`: the two disagree
 * about what is off the card. `captured`: they disagree about whether the payment is final. `service`: the service has
 * other figures for a card.
 */
export type DifferenceKind =
  | "undecided"
  | "payment_missing"
  | "attempt_missing"
  | "held"
  | "captured"
  | "service";

/** One difference, with both sides. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly reference: string | null;
  readonly orderId: string | null;
  readonly lastFour: string | null;
  /** What the journal says, in words and in cents; null where it has no figure. */
  readonly journal: { readonly says: string; readonly cents: number | null };
  /** What the shop's payments or the service say. */
  readonly other: {
    readonly who: "payments" | "service";
    readonly says: string;
    readonly cents: number | null;
  };
}

export interface ReconcileInput extends Days {
  /** What moved within the period, and whatever is open. */
  readonly attempts: readonly BookedAttempt[];
  /** The shop's payments of those attempts, and all others made within the period. */
  readonly payments: readonly ShopPayment[];
  /** The service's report over the same days, where the operator shares it. */
  readonly report?: readonly ReportedCard[] | undefined;
  /** By whose clock days begin. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
  /** Charges younger than this are still on their way. Default: two minutes ago. */
  readonly settledBefore?: Date | undefined;
}

export interface Reconciliation extends Days {
  readonly attempts: number;
  readonly payments: number;
  /** How many of the service's cards were looked at; null without its report. */
  readonly cards: number | null;
  readonly differences: readonly Difference[];
}

/** Holds the journal against the shop's payments and, where it is there, the service's report. */
export function reconcile(input: ReconcileInput): Reconciliation {
  const { from, to, attempts, payments, report } = input;
  const settledBefore = input.settledBefore ?? new Date(Date.now() - 120_000);
  const unmatched = new Map(payments.map((payment) => [payment.externalId, payment]));
  const differences: Difference[] = [];
  for (const attempt of attempts) {
    const payment = unmatched.get(attempt.externalId);
    unmatched.delete(attempt.externalId);
    const isOnItsWay =
      (attempt.state === "intent" || attempt.state === "sent" || attempt.state === "devalued") &&
      (attempt.sentAt ?? attempt.createdAt) > settledBefore;
    if (!isOnItsWay) differences.push(...compare(attempt, payment));
  }
  for (const payment of unmatched.values()) {
    if (payment.isCanceled || heldByShop(payment) === 0) continue;
    differences.push({
      kind: "attempt_missing",
      ...{ reference: null, orderId: payment.orderId, lastFour: null },
      journal: { says: "nothing", cents: null },
      other: sideOf(payment),
    });
  }
  if (report) differences.push(...compareCards(attempts, report, momentsOf({ from, to }, input.timeZone)));
  return {
    ...{ from, to, attempts: attempts.length, payments: payments.length },
    cards: report ? report.length : null,
    differences,
  };
}

const heldByShop = (payment: ShopPayment): number =>
  payment.isCanceled ? 0 : payment.amountCents - payment.refundedCents;

function sideOf(payment: ShopPayment): Difference["other"] {
  const { id, amountCents, capturedCents, refundedCents, isCanceled } = payment;
  const state = isCanceled
    ? "canceled"
    : refundedCents > 0
      ? refundedCents < amountCents
        ? "partly refunded"
        : "refunded"
      : capturedCents > 0
        ? "captured"
        : "authorized";
  return { who: "payments", says: `${id} ${state}`, cents: heldByShop(payment) };
}

function compare(attempt: BookedAttempt, payment: ShopPayment | undefined): Difference[] {
  const { reference, orderId, lastFour, state } = attempt;
  const held = heldCents(attempt);
  const found = (kind: DifferenceKind): Difference => ({
    ...{ kind, reference, lastFour },
    orderId: orderId ?? payment?.orderId ?? null,
    journal: { says: state, cents: held },
    other: payment ? sideOf(payment) : { who: "payments", says: "nothing", cents: null },
  });
  if (held === null) return [found("undecided")];
  if (!payment) return held === 0 ? [] : [found("payment_missing")];
  if (held !== heldByShop(payment)) return [found("held")];
  const isFinal = payment.capturedCents > 0;
  const isSame = held === 0 || state === "taken" || (state === "captured") === isFinal;
  return isSame ? [] : [found("captured")];
}

/**
 * The service's report names cards by their last four digits, so figures are compared per such group. A charge that
 * was made and reversed around midnight may fall on two days for the two clocks; the next period shows it reversed.
 */
function compareCards(
  attempts: readonly BookedAttempt[],
  report: readonly ReportedCard[],
  moments: { from: Date; to: Date },
): Difference[] {
  const groups = new Map<string, { journal: Sums; service: Sums }>();
  const group = (lastFour: string) => {
    const found = groups.get(lastFour) ?? { journal: newSums(), service: newSums() };
    groups.set(lastFour, found);
    return found;
  };
  for (const movement of attempts.flatMap((a) => movementsOf(a, moments.from, moments.to))) {
    const { journal } = group(movement.lastFour);
    if (movement.kind === "devalued") journal.devaluedCents += movement.cents;
    else journal.cancelledCents += movement.cents;
  }
  for (const card of report) {
    const { service } = group(card.lastFour);
    service.devaluedCents += card.devaluedCents;
    service.cancelledCents += card.cancelledCents;
  }
  return [...groups].flatMap(([lastFour, { journal, service }]): Difference[] => {
    if (netOf(journal) === netOf(service)) return [];
    return [
      {
        ...{ kind: "service", reference: null, orderId: null, lastFour },
        journal: { says: describe(journal), cents: netOf(journal) },
        other: { who: "service", says: describe(service), cents: netOf(service) },
      },
    ];
  });
}

interface Sums {
  devaluedCents: number;
  cancelledCents: number;
}

const newSums = (): Sums => ({ devaluedCents: 0, cancelledCents: 0 });
const netOf = (sums: Sums): number => sums.devaluedCents - sums.cancelledCents;
const describe = (sums: Sums): string =>
  `${(sums.devaluedCents / 100).toFixed(2)} devalued, ${(sums.cancelledCents / 100).toFixed(2)} cancelled`;
