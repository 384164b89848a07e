import type { Charge } from "@giftcard-pay/checkout/store";
import { MathBN } from "@medusajs/framework/utils";
import { fromCents } from "../amount.js";
import type { OpenPayment, RefundableOrder } from "../medusa-tables/order-refund.js";

/** A payment that is captured before its order is refunded. */
export interface PlannedCapture {
  readonly paymentId: string;
  readonly providerId: string;
  /** null for another method than a card. */
  readonly lastFour: string | null;
  readonly cents: number;
}

/** Lists the payments that aren't captured yet. */
export const capturesOf = (payments: readonly OpenPayment[], charges: readonly Charge[]): PlannedCapture[] =>
  payments
    .filter(({ uncapturedCents }) => uncapturedCents > 0)
    .map(({ id: paymentId, providerId, sessionId, uncapturedCents: cents }) => {
      const own = charges.find(({ externalId }) => externalId === sessionId);
      return { paymentId, providerId, lastFour: own?.lastFour ?? null, cents };
    });

/** Returns an order as it will be once all of its payments are captured. */
export function withCaptures<T extends Pick<RefundableOrder, "pending" | "payments">>(order: T): T {
  const uncapturedCents = order.payments.reduce((sum, payment) => sum + payment.uncapturedCents, 0);
  return {
    ...order,
    pending: MathBN.sub(order.pending, fromCents(uncapturedCents)).toString(),
    payments: order.payments.map((payment) => ({
      ...payment,
      capturedCents: payment.capturedCents + payment.uncapturedCents,
      leftCents: payment.leftCents + payment.uncapturedCents,
      uncapturedCents: 0,
    })),
  };
}
