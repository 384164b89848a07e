import type { Attempt } from "./journal.js";

/** An attempt as people may see it: nothing sealed, nothing of its leases. Amounts are whole cents. */
export type AttemptView = Omit<
  Attempt,
  "tenderId" | "sealedCard" | "sealedToken" | "leaseOwner" | "leaseUntil"
>;

/** Leaves out what people must not see: an allow-list, so that nothing sealed gets out. */
export function viewAttempt(attempt: AttemptView): AttemptView {
  const { reference, cartId, externalId, orderId, environment, baseUrl, companyId } = attempt;
  const { state, lastFour, amountCents, deductedCents, reason, tries } = attempt;
  const { balanceBeforeCents, balanceAfterCents, balanceAfterAt } = attempt;
  const { createdAt, sentAt, devaluedAt, reversedAt } = attempt;
  return {
    ...{ reference, cartId, externalId, orderId, environment, baseUrl, companyId },
    ...{ state, lastFour, amountCents, deductedCents, reason, tries },
    ...{ balanceBeforeCents, balanceAfterCents, balanceAfterAt },
    ...{ createdAt, sentAt, devaluedAt, reversedAt },
  };
}
