import { Text } from "@medusajs/ui";
import { type BulkRefundRow, useBulkRefunds, useDecideBulkRefundOrder } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { actorName } from "./labels.js";
import { ActionButton, Entry, Note, OrderLink, Section, Strong } from "./section.js";

/** Lists the bulk refunds with their progress; hidden if there are none. */
export function BulkRefundList() {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { data } = useBulkRefunds();
  if (!data || data.bulkRefunds.length === 0) return null;
  return (
    <Section title={t("bulk.list")}>
      {data.bulkRefunds.map((one) => (
        <div key={one.id} className="flex flex-col gap-y-2 px-6 py-4">
          <div className="flex flex-wrap items-center justify-between gap-x-4">
            <Strong>{one.title}</Strong>
            <Text size="small">{t("bulk.progress", { done: money(one.doneCents), all: money(one.amountCents) })}</Text>
          </div>
          <Note>
            {t("bulk.done", { count: one.done })}
            {one.open > 0 && `, ${t("bulk.toGo", { count: one.open })}`}
            {one.waiting.length > 0 && `, ${t("bulk.wait", { count: one.waiting.length })}`}.{" "}
            {t("bulk.begun", { actor: actorName(texts, one.actor), time: time(one.createdAt) })}
          </Note>
          <LeftOutOrders bulkRefund={one} />
        </div>
      ))}
    </Section>
  );
}

/** Lists the orders that the plan of a bulk refund left out, with the reasons at that time; hidden if there are none. */
function LeftOutOrders({ bulkRefund: { refused, refusedCount } }: { bulkRefund: BulkRefundRow }) {
  const { t, money, why: textOf } = useTexts();
  if (refusedCount === 0) return null;
  return (
    <Text as="div" size="small">
      {t("bulk.leftOut", { count: refusedCount })}
      <ul className="list-disc pl-4">
        {refused.map(({ orderId, orderName, amountCents, why }) => (
          <li key={orderId}>
            <OrderLink orderId={orderId} orderName={orderName} />, {money(amountCents)}: {textOf(why)}
          </li>
        ))}
        {refusedCount > refused.length && <li>{t("common.more", { count: refusedCount - refused.length })}</li>}
      </ul>
    </Text>
  );
}

export function WaitingRefunds({ bulkRefunds }: { bulkRefunds: readonly BulkRefundRow[] }) {
  const { t } = useTexts();
  const count = bulkRefunds.reduce((sum, { waiting }) => sum + waiting.length, 0);
  return (
    <Section title={t("bulk.waiting", { count })} about={t("bulk.waitingAbout")}>
      {bulkRefunds.map((one) => (
        <div key={one.id} className="flex flex-col gap-y-2 px-6 py-4">
          <Strong>{one.title}</Strong>
          <WaitingOrders bulkRefund={one} />
        </div>
      ))}
    </Section>
  );
}

function WaitingOrders({ bulkRefund: { id: bulkRefundId, waiting } }: { bulkRefund: BulkRefundRow }) {
  const { t, money, why: textOf } = useTexts();
  const { mutate, isPending } = useDecideBulkRefundOrder();
  return waiting.map(({ orderId, orderName, amountCents, why }) => (
    <div key={orderId} className="-mx-6">
      <Entry
        actions={(["exempt", "retry"] as const).map((decision) => (
          <ActionButton
            key={decision}
            variant={decision === "exempt" ? "transparent" : "secondary"}
            isLoading={isPending}
            onAct={() => mutate({ bulkRefundId, orderId, decision })}
          >
            {t(decision === "exempt" ? "bulk.leave" : "bulk.retry")}
          </ActionButton>
        ))}
      >
        <Text size="small">
          <OrderLink orderId={orderId} orderName={orderName} />, {money(amountCents)}: {textOf(why)}
        </Text>
      </Entry>
    </div>
  ));
}
