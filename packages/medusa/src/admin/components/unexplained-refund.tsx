import { Input, Text } from "@medusajs/ui";
import { useState } from "react";
import type { OwedRefund } from "../../refunds/order-refund.js";
import { useExplainRefund } from "../client/queries.js";
import { Choice, SmallButton } from "./section.js";
import { money } from "./texts.js";

export function UnexplainedRefund(props: {
  orderId: string;
  refund: OwedRefund["unexplained"][number];
  items: OwedRefund["items"];
}) {
  const { orderId, refund, items } = props;
  const { mutate, isPending } = useExplainRefund(orderId);
  const [line, setLine] = useState(items[0]?.id);
  const [count, setCount] = useState("1");
  const left = items.find(({ id }) => id === line)?.left ?? 0;
  const units = Number(count);
  const isPossible = line !== undefined && Number.isInteger(units) && units >= 1 && units <= left;
  const note = refund.note ? ` (${refund.note})` : "";
  return (
    <section aria-label="A refund by hand" className="flex flex-col gap-y-3 px-6 py-4">
      <Text size="small" leading="compact" weight="plus">
        {money(refund.cents)} was refunded by hand on {refund.createdAt.slice(0, 10)}
        {note}
      </Text>
      <Text size="xsmall" leading="compact" className="text-ui-fg-subtle">
        No returned ticket explains {money(refund.beyondCents)} of it. Say what it was for, so that nothing is refunded
        twice.
      </Text>
      <div className="flex flex-wrap items-end gap-2">
        {items.length > 0 && (
          <>
            <Input
              size="small"
              type="number"
              min={1}
              max={left}
              aria-label="How many"
              className="w-16"
              value={count}
              onChange={({ target }) => setCount(target.value)}
            />
            <Choice label="Which ticket" value={line} options={items} onChoose={setLine} />
            <SmallButton
              disabled={!isPossible}
              isLoading={isPending}
              onClick={() => line && mutate({ refundId: refund.refundId, units: { [line]: units } })}
            >
              It was for these
            </SmallButton>
          </>
        )}
        <SmallButton isLoading={isPending} onClick={() => mutate({ refundId: refund.refundId, units: {} })}>
          It was a gesture
        </SmallButton>
      </div>
    </section>
  );
}
