import type { Charge } from "../store/charge.js";

/** A charge for people to see, without sealed values and leases. Amounts are whole cents. */
export type ChargeView = Omit<Charge, "tenderId" | "sealedCard" | "sealedToken" | "leaseOwner" | "leaseUntil">;

/** Copies the fields that people may see. An allow-list, so that no sealed value leaks. */
export function viewCharge(charge: ChargeView): ChargeView {
  const { reference, cartId, externalId, position, orderId, environment, baseUrl, companyId } = charge;
  const { state, stateChangedAt, lastFour, amountCents, deductedCents, pieces, reason, refundId, tries, lastError } =
    charge;
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
    stateChangedAt,
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
