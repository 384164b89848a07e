import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import type { ProviderWebhookPayload } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { endUnpaidOrder, orderOfPendingSession } from "../workflows/unpaid-orders.js";

/**
 * Cancels the order, and so reloads its cards, when the method that was to pay the rest later says that it won't. Medusa
 * does nothing on such a message; on one that it was paid, Medusa does all.
 */
export default async function endFailedRemainders({
  event,
  container,
}: SubscriberArgs<ProviderWebhookPayload>): Promise<void> {
  const input = event.data;
  const raw = input.payload?.rawData as unknown as { type?: string; data?: number[] } | undefined;
  if (raw?.type === "Buffer" && raw.data) input.payload.rawData = Buffer.from(raw.data);
  const { action, data } = await container.resolve(Modules.PAYMENT).getWebhookActionAndData(input);
  if ((action !== "failed" && action !== "canceled") || !data?.session_id) return;
  const placed = await orderOfPendingSession(container, data.session_id);
  if (placed) await endUnpaidOrder(container, placed, { mayBePending: false });
}

export const config: SubscriberConfig = {
  event: "payment.webhook_received",
  context: { subscriberId: "giftcard-end-failed-remainders" },
};
