import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Container, Heading, Text, usePrompt } from "@medusajs/ui";
import type { OwedRefund, SplitRefund } from "../../refunds/order-refund.js";
import { type ChargeRow, useOrderCharges, useOrderRefund, useRefundOrder } from "../client/queries.js";
import { EnvironmentBadge } from "../components/health-section.js";
import { SmallButton, StateBadge, Strong } from "../components/section.js";
import { cardName, money, partText, reasonText, targetOf, time } from "../components/texts.js";
import { UnexplainedRefund } from "../components/unexplained-refund.js";
import { useDecide } from "../components/use-decide.js";

/** Shows each card's part on an order's page, with its state, and what is owed to the cards and the customer. */
function OrderGiftcards({ data: order }: { data: { id: string } }) {
  const { data } = useOrderCharges(order.id);
  const { decide, pendingReference } = useDecide();
  if (!data || data.charges.length === 0) return null;
  const owedCents = data.charges
    .filter((charge) => charge.state === "reversing")
    .reduce((sum, charge) => sum + (charge.deductedCents ?? 0), 0);
  return (
    <Container className="divide-y p-0">
      <div className="flex items-center justify-between px-6 py-4">
        <Heading level="h2">Gift cards</Heading>
        {data.environment === "sandbox" && <EnvironmentBadge environment="sandbox" />}
      </div>
      {byPayment(data.charges).map(([first, ...others]) => (
        <div key={first.sessionId} className="flex flex-col gap-y-3 px-6 py-4">
          <div className="flex items-center justify-between">
            <Strong>{cardName(first.lastFour)}</Strong>
            <Text size="small" leading="compact">
              {money(sumOf([first, ...others]))}
            </Text>
          </div>
          {[first, ...others].map((charge) => (
            <Charged
              key={charge.reference}
              charge={charge}
              isPart={others.length > 0}
              isTrying={pendingReference === charge.reference}
              onTry={() => void decide(charge, "retry")}
            />
          ))}
        </div>
      ))}
      <div className="flex items-center justify-between px-6 py-4">
        <Strong>Owed to cards</Strong>
        <Strong>{money(owedCents)}</Strong>
      </div>
      <OrderRefundSection orderId={order.id} />
    </Container>
  );
}

type Payment = [ChargeRow, ...ChargeRow[]];

function byPayment(charges: readonly ChargeRow[]): Payment[] {
  const payments = new Map<string, Payment>();
  for (const charge of charges) {
    const payment = payments.get(charge.sessionId);
    if (payment) payment.push(charge);
    else payments.set(charge.sessionId, [charge]);
  }
  return [...payments.values()];
}

const takenCents = ({ deductedCents, amountCents }: ChargeRow) => deductedCents ?? amountCents;
const sumOf = (charges: readonly ChargeRow[]) => charges.reduce((sum, charge) => sum + takenCents(charge), 0);

/** Shows one charge; with its own amount if the card has several. */
function Charged(props: { charge: ChargeRow; isPart: boolean; isTrying: boolean; onTry: () => void }) {
  const { charge, isPart, isTrying, onTry } = props;
  const isOwed = charge.state === "reversing";
  const canTry = isOwed || charge.state === "needs_attention";
  return (
    <div className="text-ui-fg-subtle flex flex-col gap-y-2">
      <div className="flex items-center justify-between">
        <StateBadge state={charge.state} />
        {isPart && (
          <Text size="small" leading="compact">
            {money(takenCents(charge))}
          </Text>
        )}
      </div>
      <Text size="xsmall" leading="compact">
        Charged {time(charge.devaluedAt ?? charge.sentAt)}
        {charge.reversedAt && `, reversed ${time(charge.reversedAt)}`}
      </Text>
      {canTry && (
        <div className="flex items-center justify-between gap-x-4">
          <Text size="xsmall" leading="compact">
            {reasonText(charge.reason)} {isOwed && triesText(charge.tries)}
          </Text>
          <SmallButton className="shrink-0" isLoading={isTrying} onClick={onTry}>
            {isOwed ? "Try reversal now" : "Try again"}
          </SmallButton>
        </div>
      )}
    </div>
  );
}

const triesText = (tries: number): string =>
  `Tried ${tries === 1 ? "once" : `${tries} times`}; the shop keeps retrying.`;

/** Asks what refunds by hand were for, and shows what the order owes its customer. Hidden if there is neither. */
function OrderRefundSection({ orderId }: { orderId: string }) {
  const { data } = useOrderRefund(orderId);
  const refund = data?.refund;
  if (!refund) return null;
  return (
    <>
      {refund.unexplained.map((unexplained) => (
        <UnexplainedRefund key={unexplained.refundId} orderId={orderId} refund={unexplained} items={refund.items} />
      ))}
      {refund.owedCents > 0 && <Owed orderId={orderId} refund={refund} />}
    </>
  );
}

/** Shows the amount that an order owes after a return, claim, exchange or edit, its split over the payments, and a Refund button. */
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

export const config = defineWidgetConfig({
  zone: "order.details.side.after",
  id: "giftcard-pay-order",
});

export default OrderGiftcards;
