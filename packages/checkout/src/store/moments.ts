import type { ChargeState } from "./charge.js";

/** The column that says when a charge first came to a state. */
export const momentOf: Partial<Record<ChargeState, string>> = {
  sent: "sent_at",
  devalued: "devalued_at",
  reversed: "reversed_at",
};
