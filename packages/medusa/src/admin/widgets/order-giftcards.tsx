import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { useKeptFocus } from "../client/kept-focus.js";
import { useOrderCharges, useRefetchAfterChanges } from "../client/queries.js";
import { useDecide } from "../components/charge-drawer.js";
import { SandboxBadge } from "../components/health-section.js";
import { cardName } from "../components/labels.js";
import { OrderRefundSections } from "../components/order-refund.js";
import { byPayment, Parts, sumOf } from "../components/payments.js";
import { Section, SmallButton, SumLine } from "../components/section.js";
import { useTexts } from "../i18n/use-texts.js";

/** Shows what each card paid on an order's page, what became of it, and what is owed to the customer. */
function OrderGiftcards({ data: order }: { data: { id: string } }) {
  const { t } = useTexts();
  const { data } = useOrderCharges(order.id);
  useRefetchAfterChanges();
  const { decide, isPending } = useDecide();
  const part = useKeptFocus();
  return (
    <div ref={part}>
      {data && data.charges.length > 0 && (
        <Section title={t("page.title")} actions={<SandboxBadge environment={data.environment} />}>
          {byPayment(data.charges).map((payment) => (
            <div key={payment[0].sessionId} className="flex flex-col gap-y-3 px-6 py-4">
              <SumLine name={cardName(payment[0].lastFour)} cents={sumOf(payment)} />
              <Parts
                payment={payment}
                titles={data.lineTitles}
                action={(charges) =>
                  charges[0].state === "reversing" && (
                    <SmallButton isLoading={isPending} onClick={() => void decide(charges, "retry")}>
                      {t("open.tryNow")}
                    </SmallButton>
                  )
                }
              />
            </div>
          ))}
          <OrderRefundSections orderId={order.id} />
        </Section>
      )}
    </div>
  );
}

export const config = defineWidgetConfig({
  zone: "order.details.side.before",
  id: "giftcard-pay-order",
});

export default OrderGiftcards;
