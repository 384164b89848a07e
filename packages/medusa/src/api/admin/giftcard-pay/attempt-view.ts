import type { ActionRecord, Attempt } from "@giftcard-pay/checkout";

/**
 * An attempt as people may see it: an allow-list, so that nothing sealed gets out. Amounts are whole cents, times are
 * ISO 8601.
 */
export function viewAttempt(attempt: Attempt, orderNames: Readonly<Record<string, string>> = {}) {
  const { reference, cartId, externalId, orderId, environment, baseUrl, companyId } = attempt;
  const { state, lastFour, amountCents, deductedCents, reason, tries } = attempt;
  const { balanceBeforeCents, balanceAfterCents, balanceAfterAt } = attempt;
  const { createdAt, sentAt, devaluedAt, reversedAt } = attempt;
  return {
    ...{ reference, cartId, sessionId: externalId, orderId, environment, baseUrl, companyId },
    orderName: orderId === null ? null : (orderNames[orderId] ?? null),
    ...{ state, lastFour, amountCents, deductedCents, reason, tries },
    ...{ balanceBeforeCents, balanceAfterCents, balanceAfterAt },
    ...{ createdAt, sentAt, devaluedAt, reversedAt },
  };
}

export function viewAction({ action, actor, fromState, toState, createdAt }: ActionRecord) {
  return { action, actor, fromState, toState, createdAt };
}
