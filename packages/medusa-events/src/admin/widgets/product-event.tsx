import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Button, Container, Heading, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type EventRow, useProductEvents } from "../client/queries.js";
import { EventActions, usePublishEvents } from "../components/event-actions.js";
import { EventForm } from "../components/event-form.js";
import { EventBadges, EventFacts, SandboxBadge, venueTimeText } from "../components/event-state.js";
import { useTexts } from "../i18n/use-texts.js";

/** The section "Event" on a product's page: its dates, in the feed and at the issuer. */
function ProductEvent({ data: product }: { data: { id: string } }) {
  const { t } = useTexts();
  const { data } = useProductEvents(product.id);
  const [isOpen, setOpen] = useState(false);
  const { publishEvents, isPending } = usePublishEvents();
  if (!data) return null;
  const ready = data.events.filter(({ state, faults }) => state === "draft" && faults.length === 0);
  return (
    <Container className="divide-y p-0">
      <div className="flex flex-wrap items-center justify-between gap-2 px-6 py-4">
        <div className="flex items-center gap-x-2">
          <Heading level="h2">{t("product.title")}</Heading>
          <SandboxBadge environment={data.environment} />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Link to="/giftcard-pay/events" className="text-ui-fg-interactive txt-small-plus">
            {t("product.all")}
          </Link>
          <Button size="small" variant="secondary" onClick={() => setOpen(true)}>
            {data.events.length > 0 || data.show ? t("product.edit") : t("product.make")}
          </Button>
          {ready.length > 1 && (
            <Button
              size="small"
              isLoading={isPending}
              onClick={() => void publishEvents({ keys: ready.map(({ key }) => key) })}
            >
              {t("product.publishDates", { number: ready.length })}
            </Button>
          )}
        </div>
      </div>
      {data.events.length === 0 && (
        <Text size="small" className="text-ui-fg-muted px-6 py-8 text-center">
          {t("product.none")}
        </Text>
      )}
      {data.events.map((event) => (
        <EventDate key={event.key} event={event} />
      ))}
      {isOpen && <EventForm productId={product.id} product={data} onClose={() => setOpen(false)} />}
    </Container>
  );
}

function EventDate({ event }: { event: EventRow }) {
  const texts = useTexts();
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap items-center gap-3">
          <Text size="small" leading="compact" weight="plus">
            {venueTimeText(texts, event.starts)}
          </Text>
          <EventBadges event={event} />
        </div>
        <EventActions event={event} />
      </div>
      <EventFacts event={event} />
    </div>
  );
}

export const config = defineWidgetConfig({
  zone: "product.details.after",
  id: "giftcard-pay-product-event",
});

export default ProductEvent;
