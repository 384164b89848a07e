import type { Charge } from "../store/charge.js";

/** The fields that people may see. An allow-list, so that no sealed value leaks. */
const shown = [
  ...(["reference", "cartId", "externalId", "position", "orderId", "environment", "baseUrl", "companyId"] as const),
  ...(["state", "stateChangedAt", "lastFour", "amountCents", "deductedCents", "pieces", "reason", "refundId"] as const),
  ...(["attemptId", "tries", "lastError", "balanceBeforeCents", "balanceAfterCents", "balanceAfterAt"] as const),
  ...(["createdAt", "sentAt", "devaluedAt", "reversedAt"] as const),
] as const;

/** A charge for people to see, without sealed values and leases. Amounts are whole cents. */
export type ChargeView = Pick<Charge, (typeof shown)[number]>;

/** Copies the fields that people may see. */
export const viewCharge = (charge: ChargeView): ChargeView =>
  Object.fromEntries(shown.map((name) => [name, charge[name]])) as unknown as ChargeView;
