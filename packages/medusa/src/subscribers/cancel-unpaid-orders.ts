import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import type { MedusaContainer, ProviderWebhookPayload } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { orderOfPendingSession } from "../medusa-tables/unpaid-orders.js";
import { cancelIfUnpaid } from "../recovery/unpaid-orders.js";

/**
 * Cancels an order, and thereby reverses its charges, if a webhook reports that its pending remainder failed, and the
 * payment method confirms that. Medusa ignores such a webhook. If a webhook reports a payment, Medusa handles it completely.
 */
export default async function cancelUnpaidOrders({
  event,
  container,
}: SubscriberArgs<ProviderWebhookPayload>): Promise<void> {
  const input = event.data;
  const raw = input.payload?.rawData as unknown as { type?: string; data?: number[] } | undefined;
  if (raw?.type === "Buffer" && raw.data) input.payload.rawData = Buffer.from(raw.data);
  const { action, data } = await container.resolve(Modules.PAYMENT).getWebhookActionAndData(input);
  if ((action !== "failed" && action !== "canceled") || !data?.session_id) return;
  const { sql } = contextOf(container);
  const placed = await orderOfPendingSession(sql, data.session_id);
  if (placed && (await isDeclined(container, placed.cartId, data.session_id)))
    await cancelIfUnpaid(container, { ...placed, reason: "remainder_declined" });
}

/**
 * Asks the payment method again: the webhook may be late, and about an earlier try.
 * @throws the payment method's error. If it never answers, the order lapses in time
 */
const isDeclined = (container: MedusaContainer, cartId: string, sessionId: string): Promise<boolean> =>
  withCartLock(container, cartId, () =>
    container
      .resolve(Modules.PAYMENT)
      .authorizePaymentSession(sessionId, {})
      .then(
        () => false,
        (error: unknown) => {
          if ((error as { type?: string }).type === MedusaError.Types.NOT_ALLOWED) return true;
          throw error;
        },
      ),
  );

export const config: SubscriberConfig = {
  event: "payment.webhook_received",
  context: { subscriberId: "giftcard-cancel-unpaid-orders" },
};
