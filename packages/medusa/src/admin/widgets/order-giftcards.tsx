import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Container, Heading } from "@medusajs/ui";
import { type ChargeRow, type LineTitles, useOrderCharges, useRefetchAfterChanges } from "../client/queries.js";
import { useDecide } from "../components/charge-drawer.js";
import { EnvironmentBadge } from "../components/health-section.js";
import { cardName, piecesText, reasonText, takenCents } from "../components/labels.js";
import { OrderRefundSections } from "../components/order-refund.js";
import { Note, Small, SmallButton, StateBadge, SumLine } from "../components/section.js";
import { useTexts } from "../i18n/use-texts.js";

/** Shows each card's part on an order's page, with its state, and what is owed to the cards and the customer. */
function OrderGiftcards({ data: order }: { data: { id: string } }) {
  const { t } = useTexts();
  const { data } = useOrderCharges(order.id);
  useRefetchAfterChanges();
  const { decide, pendingReference } = useDecide();
  if (!data || data.charges.length === 0) return null;
  const owedCents = sumOf(data.charges.filter((charge) => charge.state === "reversing"));
  return (
    <Container className="divide-y p-0">
      <div className="flex items-center justify-between px-6 py-4">
        <Heading level="h2">{t("page.title")}</Heading>
        {data.environment === "sandbox" && <EnvironmentBadge environment="sandbox" />}
      </div>
      {byPayment(data.charges).map(([first, ...others]) => (
        <div key={first.sessionId} className="flex flex-col gap-y-3 px-6 py-4">
          <SumLine name={cardName(first.lastFour)} cents={sumOf([first, ...others])} />
          {[first, ...others].map((charge) => (
            <Charged
              key={charge.reference}
              charge={charge}
              titles={data.lineTitles}
              isPart={others.length > 0}
              isTrying={pendingReference === charge.reference}
              onTry={() => void decide(charge, "retry")}
            />
          ))}
        </div>
      ))}
      {owedCents > 0 && (
        <div className="px-6 py-4">
          <SumLine name={t("order.owedToCards")} cents={owedCents} />
        </div>
      )}
      <OrderRefundSections orderId={order.id} />
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

const sumOf = (charges: readonly ChargeRow[]) => charges.reduce((sum, charge) => sum + takenCents(charge), 0);

/** Shows one charge; with its own amount and tickets if the card has several. */
function Charged(props: {
  charge: ChargeRow;
  titles: LineTitles;
  isPart: boolean;
  isTrying: boolean;
  onTry: () => void;
}) {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { charge, titles, isPart, isTrying, onTry } = props;
  const isOwed = charge.state === "reversing";
  const chargedAt = time(charge.devaluedAt ?? charge.sentAt);
  const paid = piecesText(texts, charge, titles);
  return (
    <div className="flex flex-col gap-y-2">
      <div className="flex items-center justify-between">
        <StateBadge state={charge.state} />
        {isPart && <Small>{money(takenCents(charge))}</Small>}
      </div>
      {paid !== "" && <Note>{t("order.paid", { tickets: paid })}</Note>}
      <Note>
        {charge.reversedAt
          ? t("order.chargedAndReversed", { charged: chargedAt, reversed: time(charge.reversedAt) })
          : t("order.charged", { charged: chargedAt })}
      </Note>
      {(isOwed || charge.state === "needs_attention") && (
        <div className="flex items-center justify-between gap-x-4">
          <Note>
            {reasonText(texts, charge.reason)}{" "}
            {isOwed && t("order.tried", { count: charge.tries, since: time(charge.stateChangedAt) })}
          </Note>
          <SmallButton className="shrink-0" isLoading={isTrying} onClick={onTry}>
            {isOwed ? t("open.tryNow") : t("decide.retry.button")}
          </SmallButton>
        </div>
      )}
    </div>
  );
}

export const config = defineWidgetConfig({
  zone: "order.details.side.after",
  id: "giftcard-pay-order",
});

export default OrderGiftcards;
