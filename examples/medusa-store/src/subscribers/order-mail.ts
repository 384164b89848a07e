import { type PaidBy, readPaidBy } from "@giftcard-pay/medusa/paid-by";
import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";

const euro = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
const formatCents = (amountCents: number) => euro.format(amountCents / 100);

/**
 * Emails the shopper the order's total and how it was paid. Medusa's local provider writes the email to the log. A real
 * shop configures its own provider for the channel "email".
 */
export default async function mailOrder({ event, container }: SubscriberArgs<{ id: string }>): Promise<void> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "order",
    fields: ["display_id", "email"],
    filters: { id: event.data.id },
  });
  const [order] = data;
  const paidBy = await readPaidBy(container, event.data.id);
  if (!order?.email || !paidBy) return;
  await container.resolve(Modules.NOTIFICATION).createNotifications({
    to: order.email,
    channel: "email",
    template: "order-placed",
    data: {
      subject: `Your order ${order.display_id}`,
      text: `Total ${formatCents(paidBy.totalCents)}, tax included. Paid by: ${describe(paidBy)}.`,
    },
  });
}

/** Formats the payments, such as "gift card ending 3321 €18.75, bank €6.25". */
function describe({ cards, others }: PaidBy): string {
  return [
    ...cards.map(({ lastFour, amountCents }) => `gift card ending ${lastFour} ${formatCents(amountCents)}`),
    ...others.map(({ amountCents }) => `bank ${formatCents(amountCents)}`),
  ].join(", ");
}

export const config: SubscriberConfig = { event: "order.placed" };
