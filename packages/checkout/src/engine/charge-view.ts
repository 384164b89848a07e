import type { Charge } from "../store/charge.js";

/** A charge as people may see it: nothing sealed, nothing of its leases. Amounts are whole cents. */
export type ChargeView = Omit<
  Charge,
  "tenderId" | "sealedCard" | "sealedToken" | "leaseOwner" | "leaseUntil"
>;

/** Leaves out what people must not see: an allow-list, so that nothing sealed gets out. */
export function viewCharge(charge: ChargeView): ChargeView {
  const { reference, cartId, externalId, position, orderId, environment, baseUrl, companyId } = charge;
  const { state, lastFour, amountCents, deductedCents, pieces, reason, refundId, tries, lastError } = charge;
  const { balanceBeforeCents, balanceAfterCents, balanceAfterAt } = charge;
  const { createdAt, sentAt, devaluedAt, reversedAt } = charge;
  return {
    reference,
    cartId,
    externalId,
    position,
    orderId,
    environment,
    baseUrl,
    companyId,
    state,
    lastFour,
    amountCents,
    deductedCents,
    pieces,
    reason,
    refundId,
    tries,
    lastError,
    balanceBeforeCents,
    balanceAfterCents,
    balanceAfterAt,
    createdAt,
    sentAt,
    devaluedAt,
    reversedAt,
  };
}
