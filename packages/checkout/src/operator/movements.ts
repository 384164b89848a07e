import type { Charge } from "../store/charge.js";

/** The part of a charge by which money is reckoned. */
export type BookedCharge = Pick<
  Charge,
  | "reference"
  | "externalId"
  | "orderId"
  | "lastFour"
  | "state"
  | "amountCents"
  | "deductedCents"
  | "createdAt"
  | "sentAt"
  | "devaluedAt"
  | "reversedAt"
  | "leaseUntil"
>;

/** What a report keeps of a charge: what is sealed in each is the most of it. */
export const bookedChargeOf = (charge: Charge): BookedCharge => ({
  reference: charge.reference,
  externalId: charge.externalId,
  orderId: charge.orderId,
  lastFour: charge.lastFour,
  state: charge.state,
  amountCents: charge.amountCents,
  deductedCents: charge.deductedCents,
  createdAt: charge.createdAt,
  sentAt: charge.sentAt,
  devaluedAt: charge.devaluedAt,
  reversedAt: charge.reversedAt,
  leaseUntil: charge.leaseUntil,
});

/** Whether it took money, or gave it back, between two moments (the second excluded): as the journal's filter has it. */
export function hasMoved(
  { devaluedAt, sentAt, reversedAt }: BookedCharge,
  { from, to }: { from: Date; to: Date },
) {
  const isWithin = (at: Date | null) => at !== null && at >= from && at < to;
  return isWithin(devaluedAt ?? sentAt) || isWithin(reversedAt);
}

/** Money that left a card, or came back to it. */
export interface Movement {
  readonly reference: string;
  readonly orderId: string | null;
  readonly lastFour: string;
  readonly kind: "devalued" | "canceled";
  readonly cents: number;
  readonly at: Date;
}

/** What a charge took from its card at any time; null while that isn't known. */
export function takenCents({ state, amountCents, deductedCents }: BookedCharge): number | null {
  if (deductedCents !== null) return deductedCents;
  if (state === "unknown" || state === "needs_attention" || state === "sent") return null;
  // A person said that it was taken; the shop asked for this much.
  return state === "taken" ? amountCents : 0;
}

/** What is off the card because of a charge, as the journal has it; null while that isn't known. */
export function heldCents(charge: BookedCharge): number | null {
  return charge.state === "reversed" || charge.state === "refused" ? 0 : takenCents(charge);
}

/** What a charge moved between two moments (the second excluded). */
export function movementsOf(charge: BookedCharge, from: Date, to: Date): Movement[] {
  const { reference, orderId, lastFour, state } = charge;
  const cents = takenCents(charge) ?? 0;
  if (cents === 0) return [];
  const movements: Movement[] = [];
  const add = (kind: Movement["kind"], at: Date) => {
    if (at >= from && at < to) movements.push({ reference, orderId, lastFour, kind, cents, at });
  };
  add("devalued", charge.devaluedAt ?? charge.sentAt ?? charge.createdAt);
  if (state === "reversed" && charge.reversedAt) add("canceled", charge.reversedAt);
  return movements;
}
