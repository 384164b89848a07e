import { Text, usePrompt } from "@medusajs/ui";
import type { OwedRefund, SplitRefund } from "../../refunds/order-refund.js";
import { useOrderRefund, useRefundOrder } from "../client/queries.js";
import { SmallButton, Strong } from "./section.js";
import { money, partText, targetOf } from "./texts.js";
import { UnexplainedRefund } from "./unexplained-refund.js";

/** Asks what refunds by hand were for, and shows what the order owes its customer. Hidden if there is neither. */
export function OrderRefundSection({ orderId }: { orderId: string }) {
  const { data } = useOrderRefund(orderId);
  const refund = data?.refund;
  if (!refund) return null;
  return (
    <>
      {refund.unexplained.map((unexplained) => (
        <UnexplainedRefund
          key={unexplained.refundId}
          orderId={orderId}
          refund={unexplained}
          items={refund.items}
        />
      ))}
      {refund.owedCents > 0 && <Owed orderId={orderId} refund={refund} />}
    </>
  );
}

/** Shows what an order owes after a return, claim, exchange or edit, to which payments it goes, and a button that refunds it. */
function Owed({ orderId, refund }: { orderId: string; refund: OwedRefund }) {
  const { mutateAsync, isPending } = useRefundOrder(orderId);
  const prompt = usePrompt();
  const owed = money(refund.owedCents);
  async function confirmRefund(split: SplitRefund): Promise<void> {
    const isMeant = await prompt({
      title: `Refund ${money(split.amountCents)}?`,
      description: `${split.parts.map(partText).join(", ")}. This can't be undone.`,
      confirmText: "Refund",
      cancelText: "Cancel",
      variant: "confirmation",
    });
    if (isMeant) await mutateAsync(split).catch(() => null);
  }
  return (
    <section aria-label="Owed to the customer" className="flex flex-col gap-y-3 px-6 py-4">
      <div className="flex items-center justify-between">
        <Strong>Owed to the customer</Strong>
        <Strong>{owed}</Strong>
      </div>
      {!refund.isPossible && (
        <Text size="xsmall" leading="compact" className="text-ui-fg-subtle">
          {whyNot(owed, refund.splits)}
        </Text>
      )}
      {refund.splits.map((split) => (
        <div key={split.amountCents} className="flex flex-col gap-y-2">
          {split.parts.map((part) => (
            <div key={part.paymentId} className="text-ui-fg-subtle flex items-center justify-between">
              <Text size="small" leading="compact">
                To {targetOf(part)}
              </Text>
              <Text size="small" leading="compact">
                {money(part.cents)}
              </Text>
            </div>
          ))}
          <SmallButton
            className="self-end"
            isLoading={isPending}
            disabled={refund.unexplained.length > 0}
            onClick={() => void confirmRefund(split)}
          >
            Refund {money(split.amountCents)}
          </SmallButton>
        </div>
      ))}
    </section>
  );
}

/** Explains why the owed amount can't be refunded exactly: a card takes back only whole charges. */
const whyNot = (owed: string, splits: readonly SplitRefund[]): string =>
  splits.length === 0
    ? `None of it can be refunded to the order's payments: everything captured is already refunded. Pay it out in another way.`
    : `Exactly ${owed} can't be refunded, because a card takes back only whole charges. Choose the nearest sum. If it is less, ` +
      "the remainder stays owed; if it is more, the difference is waived in the order.";
