import type { ChargeState } from "./charge.js";

/*
 * Groups of charge states. Each has one meaning and one name, and the SQL uses the same lists.
 */

/** A charge is being made, and has no order yet. */
export const chargingStates: readonly ChargeState[] = ["intent", "sent", "devalued"];

/** The charge belongs to an order. */
export const orderedStates: readonly ChargeState[] = ["committed", "captured"];

/** The charge belongs to an order, or belonged to one before it was reversed. */
export const bookedStates: readonly ChargeState[] = [...orderedStates, "reversing", "reversed"];

/** The money was taken and the token is stored, so that the charge can be reversed. */
export const chargedStates: readonly ChargeState[] = ["devalued", ...orderedStates];

/** The money was taken and isn't captured. Captured charges are refunded, not canceled. */
export const cancelableStates: readonly ChargeState[] = ["devalued", "committed"];

/** The money was taken, and recovery will not reverse it. */
export const heldStates: readonly ChargeState[] = [...chargedStates, "taken"];

/** The states that recovery settles. Committed and captured charges belong to an order, and people decide the others. */
export const recoverableStates: readonly ChargeState[] = [...chargingStates, "unknown", "reversing"];

/** Recovery or a person still has to settle the charge. */
export const openStates: readonly ChargeState[] = [...recoverableStates, "needs_attention"];

/** Money is being taken or returned, or the outcome is unknown: the charge may be missing from either side's report. */
export const movingStates: readonly ChargeState[] = openStates.filter((state) => state !== "intent");

/** Only the journal knows about this money: it may be off the card, and is not captured. */
export const uncapturedStates: readonly ChargeState[] = [...openStates, "committed"];

/** Money may be off the card, and may come back. A tender has at most one such payment. */
export const livingStates: readonly ChargeState[] = [...openStates, ...orderedStates];

/** The states that a charge may have when its token arrives. `refused`: by a person's decision. */
export const tokenlessStates: readonly ChargeState[] = ["sent", "unknown", "needs_attention", "refused"];

/** Final states. The charge's token is of no more use. */
export const settledStates: readonly ChargeState[] = ["reversed", "refused", "taken"];

/** All states. */
export const chargeStates: readonly ChargeState[] = [...livingStates, ...settledStates];
