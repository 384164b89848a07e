import type { ChargeState } from "./charge.js";

/*
 * Which states count as what. Every list of a charge's states stands here, so that a new state is thought of once.
 */

/** Money is, or may be, off the card, and somebody still deals with it. A tender has at most one charge in these. */
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

/** It is over: nothing follows, and its token opens nothing any more. */
export const settledStates: readonly ChargeState[] = ["reversed", "refused", "taken"];

/** Every state. */
export const chargeStates: readonly ChargeState[] = [...livingStates, ...settledStates];

/** What recovery ends. A committed or captured charge belongs to an order, and a person ends what needs attention. */
export const recoverableStates: readonly ChargeState[] = [
  "intent",
  "sent",
  "devalued",
  "unknown",
  "reversing",
];

/** A completion charges the card, or died at that: no order has the charge yet. */
export const chargingStates: readonly ChargeState[] = ["intent", "sent", "devalued"];

/** An order has it, whether the order is paid yet or not. */
export const orderedStates: readonly ChargeState[] = ["committed", "captured"];

/** The money is off the card and its token is kept, so that it can be reversed. */
export const chargedStates: readonly ChargeState[] = ["devalued", ...orderedStates];

/** The money is off the card, and isn't captured: what is captured is refunded. */
export const cancelableStates: readonly ChargeState[] = ["devalued", "committed"];

/** The money is off the card, and nothing brings it back by itself. */
export const heldStates: readonly ChargeState[] = [...chargedStates, "taken"];

/** Not over yet: until they are, the journal is the only place that knows of this money. */
export const openStates: readonly ChargeState[] = livingStates.filter((state) => state !== "captured");

/** Money is on its way to or from the card, or nobody knows: such a charge may be missing from either side's report. */
export const movingStates: readonly ChargeState[] = [
  "sent",
  "devalued",
  "reversing",
  "unknown",
  "needs_attention",
];

/** Where a charge may have got to before its token is written down; a person may have called it refused. */
export const tokenlessStates: readonly ChargeState[] = ["sent", "unknown", "needs_attention", "refused"];
