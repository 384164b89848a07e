import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Button, Container, Heading, Text } from "@medusajs/ui";
import { type ChargeRow, useOrderCharges } from "../client/queries.js";
import { EnvironmentBadge } from "../components/health-section.js";
import { StateBadge } from "../components/state-badge.js";
import { cardName, money, reasonText, time } from "../components/texts.js";
import { useDecide } from "../components/use-decide.js";

/** On an order's page: each card's part, what became of it, and what is owed. */
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
      {data.charges.map((charge) => (
        <Card
          key={charge.reference}
          charge={charge}
          isTrying={pendingReference === charge.reference}
          onTry={() => void decide(charge, "retry")}
        />
      ))}
      <div className="flex items-center justify-between px-6 py-4">
        <Text size="small" leading="compact" weight="plus">
          Owed to cards
        </Text>
        <Text size="small" leading="compact" weight="plus">
          {money(owedCents)}
        </Text>
      </div>
    </Container>
  );
}

function Card(props: { charge: ChargeRow; isTrying: boolean; onTry: () => void }) {
  const { charge, isTrying, onTry } = props;
  const isOwed = charge.state === "reversing";
  const canTry = isOwed || charge.state === "needs_attention";
  return (
    <div className="text-ui-fg-subtle flex flex-col gap-y-2 px-6 py-4">
      <div className="flex items-center justify-between">
        <Text size="small" leading="compact" weight="plus" className="text-ui-fg-base">
          {cardName(charge.lastFour)}
        </Text>
        <Text size="small" leading="compact" className="text-ui-fg-base">
          {money(charge.deductedCents ?? charge.amountCents)}
        </Text>
      </div>
      <StateBadge state={charge.state} />
      <Text size="xsmall" leading="compact">
        Charged {time(charge.devaluedAt ?? charge.sentAt)}
        {charge.reversedAt && `, reversed ${time(charge.reversedAt)}`}
      </Text>
      {canTry && (
        <div className="flex items-center justify-between gap-x-4">
          <Text size="xsmall" leading="compact">
            {reasonText(charge.reason)} {isOwed && triesText(charge.tries)}
          </Text>
          <Button size="small" variant="secondary" className="shrink-0" isLoading={isTrying} onClick={onTry}>
            {isOwed ? "Try reversal now" : "Try again"}
          </Button>
        </div>
      )}
    </div>
  );
}

const triesText = (tries: number): string =>
  `Tried ${tries === 1 ? "once" : `${tries} times`}; it goes on by itself.`;

export const config = defineWidgetConfig({
  zone: "order.details.side.after",
  id: "giftcard-pay-order",
});

export default OrderGiftcards;
