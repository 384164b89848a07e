import type { ChargeState } from "./charge.js";

/** The column with the time at which a charge first reached a state. */
export const momentOf: Partial<Record<ChargeState, string>> = {
  sent: "sent_at",
  devalued: "devalued_at",
  reversed: "reversed_at",
};
