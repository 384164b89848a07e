import { Input, Text } from "@medusajs/ui";
import { useState } from "react";
import type { OwedRefund } from "../../refunds/order-refund.js";
import { useExplainRefund } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { Choice, SmallButton } from "./section.js";

/** Asks what a refund by hand was for. */
export function UnexplainedRefund(props: {
  orderId: string;
  refund: OwedRefund["unexplained"][number];
  items: OwedRefund["items"];
}) {
  const { t, money, day } = useTexts();
  const { orderId, refund, items } = props;
  const { mutate, isPending } = useExplainRefund(orderId);
  const [line, setLine] = useState(items[0]?.id);
  const [count, setCount] = useState("1");
  const left = items.find(({ id }) => id === line)?.left ?? 0;
  const units = Number(count);
  const isPossible = line !== undefined && Number.isInteger(units) && units >= 1 && units <= left;
  const note = refund.note ? ` (${refund.note})` : "";
  return (
    <section aria-label={t("explain.title")} className="flex flex-col gap-y-3 px-6 py-4">
      <Text size="small" leading="compact" weight="plus">
        {t("explain.refunded", { amount: money(refund.cents), day: day(refund.createdAt.slice(0, 10)) })}
        {note}
      </Text>
      <Text size="xsmall" leading="compact" className="text-ui-fg-subtle">
        {t("explain.question", { amount: money(refund.beyondCents) })}
      </Text>
      <div className="flex flex-wrap items-end gap-2">
        {items.length > 0 && (
          <>
            <Input
              size="small"
              type="number"
              min={1}
              max={left}
              aria-label={t("explain.count")}
              className="w-16"
              value={count}
              onChange={({ target }) => setCount(target.value)}
            />
            <Choice label={t("explain.line")} value={line} options={items} onChoose={setLine} />
            <SmallButton
              disabled={!isPossible}
              isLoading={isPending}
              onClick={() => line && mutate({ refundId: refund.refundId, units: { [line]: units } })}
            >
              {t("explain.these")}
            </SmallButton>
          </>
        )}
        <SmallButton isLoading={isPending} onClick={() => mutate({ refundId: refund.refundId, units: {} })}>
          {t("explain.goodwill")}
        </SmallButton>
      </div>
    </section>
  );
}
