import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Container, Heading, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type ChargeRow, useCharges } from "../client/queries.js";
import { ChargeDrawer } from "../components/charge-drawer.js";
import { cardName, takenCents } from "../components/labels.js";
import { OrderLink, StateBadge } from "../components/section.js";
import { useTexts } from "../i18n/use-texts.js";

const LIMIT = 10;

/** Shows a customer's card payments on their page, newest first. Hidden if they have none. */
function CustomerGiftcards({ data: customer }: { data: { id: string; email?: string | null } }) {
  const { t } = useTexts();
  const [openReference, setOpenReference] = useState<string>();
  const { data } = useCharges({ customerId: customer.id, order: "-created_at", limit: LIMIT, offset: 0 });
  if (!data || data.count === 0) return null;
  return (
    <Container className="divide-y p-0">
      <div className="flex items-center justify-between px-6 py-4">
        <Heading level="h2">{t("customer.title", { count: data.count })}</Heading>
        {data.count > LIMIT && customer.email && (
          <Link
            to={`/giftcard-pay?tab=charges&q=${encodeURIComponent(customer.email)}`}
            className="text-ui-fg-interactive txt-small-plus"
          >
            {t("customer.all", { count: data.count })}
          </Link>
        )}
      </div>
      {data.charges.map((charge) => (
        <CardPayment key={charge.reference} charge={charge} onOpen={() => setOpenReference(charge.reference)} />
      ))}
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </Container>
  );
}

function CardPayment({ charge, onOpen }: { charge: ChargeRow; onOpen: () => void }) {
  const { t, money, time } = useTexts();
  const card = cardName(charge.lastFour);
  return (
    <div className="flex flex-col gap-y-1 px-6 py-3">
      <div className="flex items-center justify-between">
        <button
          type="button"
          className="txt-compact-small-plus text-ui-fg-interactive"
          aria-label={t("charges.show", { card })}
          onClick={onOpen}
        >
          {card}
        </button>
        <Text size="small" leading="compact" weight="plus">
          {money(takenCents(charge))}
        </Text>
      </div>
      <div className="flex items-center justify-between">
        <StateBadge state={charge.state} />
        <Text size="xsmall" leading="compact" className="text-ui-fg-subtle">
          <OrderLink {...charge} />, {time(charge.createdAt)}
        </Text>
      </div>
    </div>
  );
}

export const config = defineWidgetConfig({
  zone: "customer.details.side.after",
  id: "giftcard-pay-customer",
});

export default CustomerGiftcards;
