import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Container, Heading } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import { useCharges } from "../client/queries.js";
import { ChargeDrawer } from "../components/charge-drawer.js";
import { ChargeTable } from "../components/charge-table.js";
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
      <ChargeTable charges={data.charges} onOpen={setOpenReference} isHistory />
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </Container>
  );
}

export const config = defineWidgetConfig({
  zone: "customer.details.after",
  id: "giftcard-pay-customer",
});

export default CustomerGiftcards;
