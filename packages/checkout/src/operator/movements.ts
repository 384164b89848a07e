import type { Charge } from "../store/charge.js";

/** The fields of a charge that reports use. Sealed values are most of a charge's memory. */
const booked = [
  ...(["reference", "externalId", "orderId", "lastFour", "state", "reason", "refundId"] as const),
  ...(["amountCents", "deductedCents", "createdAt", "sentAt", "devaluedAt", "reversedAt", "leaseUntil"] as const),
] as const;

/** The part of a charge that reports use. */
export type BookedCharge = Pick<Charge, (typeof booked)[number]>;

/** Returns the part of a charge that reports use. */
export const bookedChargeOf = (charge: Charge): BookedCharge =>
  Object.fromEntries(booked.map((name) => [name, charge[name]])) as unknown as BookedCharge;

/** Whether a charge took or returned money at or after `from` and before `to`, as the journal's filter defines it. */
export function hasMoved({ devaluedAt, sentAt, reversedAt }: BookedCharge, { from, to }: { from: Date; to: Date }) {
  const isWithin = (at: Date | null) => at !== null && at >= from && at < to;
  return isWithin(devaluedAt ?? sentAt) || isWithin(reversedAt);
}

/** Money that was taken from a card, or returned to it. */
export interface Movement {
  readonly reference: string;
  readonly orderId: string | null;
  readonly lastFour: string;
  readonly kind: "devalued" | "canceled";
  readonly cents: number;
  readonly at: Date;
  /** Whether it was returned by a refund. */
  readonly isRefund: boolean;
  /** The shop's own id of that refund, if it has one. */
  readonly refundId: string | null;
}

/** Returns how much a charge has ever taken from its card; null if that is unknown. */
export function takenCents({ state, amountCents, deductedCents }: BookedCharge): number | null {
  if (deductedCents !== null) return deductedCents;
  if (state === "unknown" || state === "needs_attention" || state === "sent") return null;
  // A person decided that it was taken: this is the requested amount.
  return state === "taken" ? amountCents : 0;
}

/** Returns how much of a charge was taken and not returned, according to the journal; null if that is unknown. */
export function heldCents(charge: BookedCharge): number | null {
  return charge.state === "reversed" || charge.state === "refused" ? 0 : takenCents(charge);
}

/** Returns the movements of a charge at or after `from` and before `to`. */
export function movementsOf(charge: BookedCharge, from: Date, to: Date): Movement[] {
  const { reference, orderId, lastFour, state, refundId } = charge;
  const cents = takenCents(charge) ?? 0;
  if (cents === 0) return [];
  const movements: Movement[] = [];
  const add = (kind: Movement["kind"], at: Date) => {
    const isRefund = kind === "canceled" && charge.reason === "refunded";
    if (at >= from && at < to) movements.push({ reference, orderId, lastFour, kind, cents, at, isRefund, refundId });
  };
  add("devalued", charge.devaluedAt ?? charge.sentAt ?? charge.createdAt);
  if (state === "reversed" && charge.reversedAt) add("canceled", charge.reversedAt);
  return movements;
}
