import { Button, Text } from "@medusajs/ui";
import { type BulkRefundRow, useBulkRefunds, useDecideBulkRefundOrder } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { actorName } from "./labels.js";
import { OrderLink, Section, SmallButton, Strong } from "./section.js";

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
          <Text size="xsmall" className="text-ui-fg-subtle">
            {t("bulk.done", { count: one.done })}
            {one.open > 0 && `, ${t("bulk.toGo", { count: one.open })}`}
            {one.waiting.length > 0 && `, ${t("bulk.wait", { count: one.waiting.length })}`}.{" "}
            {t("bulk.begun", { actor: actorName(texts, one.actor), time: time(one.createdAt) })}
          </Text>
          <WaitingOrders bulkRefund={one} />
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

function WaitingOrders({ bulkRefund }: { bulkRefund: BulkRefundRow }) {
  const { t, money, why: textOf } = useTexts();
  const { mutate, isPending } = useDecideBulkRefundOrder();
  const decide = (orderId: string, decision: "retry" | "exempt") =>
    mutate({ bulkRefundId: bulkRefund.id, orderId, decision });
  return bulkRefund.waiting.map(({ orderId, orderName, amountCents, why }) => (
    <div key={orderId} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <Text size="small" className="min-w-0">
        <OrderLink orderId={orderId} orderName={orderName} />, {money(amountCents)}: {textOf(why)}
      </Text>
      <div className="flex shrink-0 gap-2">
        <Button size="small" variant="transparent" isLoading={isPending} onClick={() => decide(orderId, "exempt")}>
          {t("bulk.leave")}
        </Button>
        <SmallButton isLoading={isPending} onClick={() => decide(orderId, "retry")}>
          {t("bulk.retry")}
        </SmallButton>
      </div>
    </div>
  ));
}
