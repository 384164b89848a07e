import type { ChargeView } from "@giftcard-pay/checkout";
import { viewCharge } from "@giftcard-pay/checkout/plugin";

/** A charge as the admin shows it, with what people call its order. Amounts are whole cents, times are ISO 8601. */
export function showCharge(charge: ChargeView, orderNames: Readonly<Record<string, string>> = {}) {
  const { externalId: sessionId, ...view } = viewCharge(charge);
  const orderName = view.orderId === null ? null : (orderNames[view.orderId] ?? null);
  return { ...view, sessionId, orderName };
}
