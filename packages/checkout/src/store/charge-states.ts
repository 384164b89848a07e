import type { ChargeState } from "./charge.js";

/*
 * Groups of charge states. All of them are in this file, so that a new state is added in one place.
 */

/** Open states: money may be off the card, and the charge is not settled. A tender has at most one such payment. */
export const livingStates: readonly ChargeState[] = [
  "intent",
  "sent",
  "devalued",
  "committed",
  "captured",
  "reversing",
  "unknown",
  "needs_attention",
];

/** Final states. The charge's token is of no more use. */
export const settledStates: readonly ChargeState[] = ["reversed", "refused", "taken"];

/** All states. */
export const chargeStates: readonly ChargeState[] = [...livingStates, ...settledStates];

/** The states that recovery settles. Committed and captured charges belong to an order, and people decide the others. */
export const recoverableStates: readonly ChargeState[] = ["intent", "sent", "devalued", "unknown", "reversing"];

/** A completion is charging this card, or crashed while doing so. The charge has no order yet. */
export const chargingStates: readonly ChargeState[] = ["intent", "sent", "devalued"];

/** The charge belongs to an order. */
export const orderedStates: readonly ChargeState[] = ["committed", "captured"];

/** The money was taken and the token is stored, so that the charge can be reversed. */
export const chargedStates: readonly ChargeState[] = ["devalued", ...orderedStates];

/** The money was taken and isn't captured. Captured charges are refunded, not canceled. */
export const cancelableStates: readonly ChargeState[] = ["devalued", "committed"];

/** The money was taken, and recovery will not reverse it. */
export const heldStates: readonly ChargeState[] = [...chargedStates, "taken"];

/** Open and not captured: only the journal knows about this money. */
export const openStates: readonly ChargeState[] = livingStates.filter((state) => state !== "captured");

/** Money is being taken or returned, or the outcome is unknown: the charge may be missing from either side's report. */
export const movingStates: readonly ChargeState[] = ["sent", "devalued", "reversing", "unknown", "needs_attention"];

/** The states that a charge may have when its token arrives. `refused`: by a person's decision. */
export const tokenlessStates: readonly ChargeState[] = ["sent", "unknown", "needs_attention", "refused"];
