import { Button, Text, usePrompt } from "@medusajs/ui";
import { Link } from "react-router-dom";
import { type UnpaidOrderRow, useKeepOrder, useUnpaidOrders } from "../client/queries.js";
import { Section } from "./section.js";
import { time } from "./texts.js";

/** Orders that nobody paid and that can't be canceled; not there while there are none. */
export function UnpaidOrdersSection() {
  const { data } = useUnpaidOrders();
  const { mutate, variables, isPending } = useKeepOrder();
  const prompt = usePrompt();
  if (!data || data.orders.length === 0) return null;
  const keep = async ({ orderId, orderName }: UnpaidOrderRow) => {
    const isSure = await prompt({
      title: "Keep the order?",
      description: `${orderName ?? "The order"} stays as it is, unpaid. This is written down with your name.`,
      confirmText: "Keep the order",
      variant: "confirmation",
    });
    if (isSure) mutate(orderId);
  };
  return (
    <Section
      title={`Unpaid orders (${data.count})`}
      about={
        "A purchase was interrupted, or a payment that was to settle later didn't, and somebody went on with the order, so " +
        "it isn't canceled by itself. Cancel it; or take back what keeps it, such as a fulfillment, and it is canceled " +
        "within a minute. Or record a payment. Or keep it."
      }
    >
      {data.orders.map((order) => (
        <div key={order.orderId} className="flex items-center justify-between gap-x-4 px-6 py-4">
          <div>
            <Link to={`/orders/${order.orderId}`} className="text-ui-fg-interactive txt-small-plus">
              {order.orderName ?? "Order"}
            </Link>
            <Text size="small" className="text-ui-fg-subtle">
              {order.refusal} ({time(order.foundAt)})
            </Text>
          </div>
          <Button
            size="small"
            variant="secondary"
            isLoading={isPending && variables === order.orderId}
            onClick={() => void keep(order)}
          >
            Keep the order
          </Button>
        </div>
      ))}
    </Section>
  );
}
