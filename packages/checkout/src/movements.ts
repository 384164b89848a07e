import type { Attempt } from "./journal.js";

/** The part of an attempt by which money is reckoned. */
export type BookedAttempt = Pick<
  Attempt,
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

/** Money that left a card, or came back to it. */
export interface Movement {
  readonly reference: string;
  readonly orderId: string | null;
  readonly lastFour: string;
  readonly kind: "devalued" | "cancelled";
  readonly cents: number;
  readonly at: Date;
}

/** What an attempt took from its card at any time; null while that isn't known. */
export function takenCents({ state, amountCents, deductedCents }: BookedAttempt): number | null {
  if (deductedCents !== null) return deductedCents;
  if (state === "unknown" || state === "needs_attention" || state === "sent") return null;
  // A person said that it was taken; the shop asked for this much.
  return state === "taken" ? amountCents : 0;
}

/** What is off the card because of an attempt, as the journal has it; null while that isn't known. */
export function heldCents(attempt: BookedAttempt): number | null {
  return attempt.state === "reversed" || attempt.state === "refused" ? 0 : takenCents(attempt);
}

/** What an attempt moved between two moments (the second excluded). */
export function movementsOf(attempt: BookedAttempt, from: Date, to: Date): Movement[] {
  const { reference, orderId, lastFour, state } = attempt;
  const cents = takenCents(attempt) ?? 0;
  if (cents === 0) return [];
  const movements: Movement[] = [];
  const add = (kind: Movement["kind"], at: Date) => {
    if (at >= from && at < to) movements.push({ reference, orderId, lastFour, kind, cents, at });
  };
  add("devalued", attempt.devaluedAt ?? attempt.sentAt ?? attempt.createdAt);
  if (state === "reversed" && attempt.reversedAt) add("cancelled", attempt.reversedAt);
  return movements;
}
