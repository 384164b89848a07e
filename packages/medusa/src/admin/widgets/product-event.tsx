import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Button, Container, Heading, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type EventRow, useProductEvents } from "../client/event-queries.js";
import { EventActions, usePublishEvents } from "../components/event-actions.js";
import { EventForm } from "../components/event-form.js";
import { EventBadges, EventFacts } from "../components/event-state.js";
import { clockText } from "../components/event-texts.js";
import { EnvironmentBadge } from "../components/health-section.js";
import { Nothing } from "../components/section.js";

/** On a product's page: its dates as events, in the feed and at the issuer. Not there in a shop that sells no shows. */
function ProductEvent({ data: product }: { data: { id: string } }) {
  const { data } = useProductEvents(product.id);
  const [isOpen, setOpen] = useState(false);
  const { publishEvents, isPending } = usePublishEvents();
  if (!data?.isOn) return null;
  const ready = data.events.filter(({ state, faults }) => state === "draft" && faults.length === 0);
  return (
    <Container className="divide-y p-0">
      <div className="flex flex-wrap items-center justify-between gap-2 px-6 py-4">
        <div className="flex items-center gap-x-2">
          <Heading level="h2">Event</Heading>
          {data.environment === "sandbox" && <EnvironmentBadge environment="sandbox" />}
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Link to="/giftcard-pay/events" className="text-ui-fg-interactive txt-small-plus">
            All events
          </Link>
          <Button size="small" variant="secondary" onClick={() => setOpen(true)}>
            {data.events.length > 0 || data.show ? "Edit event" : "Make it an event"}
          </Button>
          {ready.length > 1 && (
            <Button
              size="small"
              isLoading={isPending}
              onClick={() => void publishEvents({ keys: ready.map(({ key }) => key) })}
            >
              Publish {ready.length} dates
            </Button>
          )}
        </div>
      </div>
      {data.events.length === 0 && <Nothing>This product isn't an event.</Nothing>}
      {data.events.map((event) => (
        <EventDate key={event.key} event={event} />
      ))}
      {isOpen && <EventForm productId={product.id} product={data} onClose={() => setOpen(false)} />}
    </Container>
  );
}

function EventDate({ event }: { event: EventRow }) {
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap items-center gap-3">
          <Text size="small" leading="compact" weight="plus">
            {clockText(event.starts)}
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
