import { type AttemptView, viewAttempt } from "@giftcard-pay/checkout";

/** An attempt as the admin shows it, with what people call its order. Amounts are whole cents, times are ISO 8601. */
export function showAttempt(attempt: AttemptView, orderNames: Readonly<Record<string, string>> = {}) {
  const { externalId: sessionId, ...view } = viewAttempt(attempt);
  const orderName = view.orderId === null ? null : (orderNames[view.orderId] ?? null);
  return { ...view, sessionId, orderName };
}
