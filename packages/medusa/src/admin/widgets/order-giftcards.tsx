import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Container, Heading, Text } from "@medusajs/ui";
import { type ChargeRow, useOrderCharges } from "../client/queries.js";
import { EnvironmentBadge } from "../components/health-section.js";
import { OrderRefundSection } from "../components/order-refund-section.js";
import { SmallButton, StateBadge, Strong } from "../components/section.js";
import { cardName, money, reasonText, time } from "../components/texts.js";
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

export const config = defineWidgetConfig({
  zone: "order.details.side.after",
  id: "giftcard-pay-order",
});

export default OrderGiftcards;
