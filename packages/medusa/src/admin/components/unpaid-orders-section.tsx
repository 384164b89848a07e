import { Text, usePrompt } from "@medusajs/ui";
import { type UnpaidOrderRow, useExemptOrder, useUnpaidOrders } from "../client/queries.js";
import { OrderLink, Section, SmallButton } from "./section.js";
import { time } from "./texts.js";

/** Lists unpaid orders that recovery doesn't cancel; hidden if there are none. */
export function UnpaidOrdersSection() {
  const { data } = useUnpaidOrders();
  const { mutate, variables, isPending } = useExemptOrder();
  const prompt = usePrompt();
  if (!data || data.orders.length === 0) return null;
  const keep = async ({ orderId, orderName }: UnpaidOrderRow) => {
    const isSure = await prompt({
      title: "Keep the order?",
      description: `${orderName ?? "The order"} stays as it is, unpaid. Your name is recorded with this decision.`,
      confirmText: "Keep the order",
      variant: "confirmation",
    });
    if (isSure) mutate(orderId);
  };
  return (
    <Section
      title={`Unpaid orders (${data.count})`}
      about={
        "A purchase was interrupted, or a payment that was to settle later didn't. Somebody has worked on the order, so " +
        "recovery doesn't cancel it. Cancel it, or undo that work, such as a fulfillment, and recovery cancels it within a " +
        "minute. Or record a payment. Or keep it."
      }
    >
      {data.orders.map((order) => (
        <div key={order.orderId} className="flex items-center justify-between gap-x-4 px-6 py-4">
          <div>
            <OrderLink {...order} />
            <Text size="small" className="text-ui-fg-subtle">
              {order.refusal} ({time(order.foundAt)})
            </Text>
          </div>
          <SmallButton isLoading={isPending && variables === order.orderId} onClick={() => void keep(order)}>
            Keep the order
          </SmallButton>
        </div>
      ))}
    </Section>
  );
}
