import { Text, usePrompt } from "@medusajs/ui";
import { type UnpaidOrderRow, useExemptOrder, type useUnpaidOrders } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { OrderLink, Section, SmallButton } from "./section.js";

type UnpaidOrders = NonNullable<ReturnType<typeof useUnpaidOrders>["data"]>;

/** Lists unpaid orders that the shop doesn't cancel by itself. */
export function UnpaidOrdersSection({ orders, count }: UnpaidOrders) {
  const { t, time, why } = useTexts();
  const { mutate, variables, isPending } = useExemptOrder();
  const prompt = usePrompt();
  const keep = async ({ orderId, orderName }: UnpaidOrderRow) => {
    const isSure = await prompt({
      title: t("unpaid.keepTitle"),
      description: t("unpaid.keepQuestion", { order: orderName ?? t("common.order") }),
      confirmText: t("unpaid.keep"),
      cancelText: t("common.cancel"),
      variant: "confirmation",
    });
    if (isSure) mutate(orderId);
  };
  return (
    <Section title={t("unpaid.title", { count })} about={t("unpaid.about")}>
      {orders.map((order) => (
        <div key={order.orderId} className="flex items-center justify-between gap-x-4 px-6 py-4">
          <div>
            <Text size="small" weight="plus">
              <OrderLink {...order} />
            </Text>
            <Text size="small" className="text-ui-fg-subtle">
              {why(order.refusal)} ({time(order.foundAt)})
            </Text>
          </div>
          <SmallButton isLoading={isPending && variables === order.orderId} onClick={() => void keep(order)}>
            {t("unpaid.keep")}
          </SmallButton>
        </div>
      ))}
    </Section>
  );
}
