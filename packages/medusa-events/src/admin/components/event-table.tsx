import { Button, Table } from "@medusajs/ui";
import { Link } from "react-router-dom";
import type { EventRow } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { CompareButton, usePublishEvents } from "./event-actions.js";
import { EventBadges, EventFacts, venueTimeText } from "./event-state.js";

/** A page of events, with the buttons for all events. */
export function EventTable({ events }: { events: readonly EventRow[] }) {
  const texts = useTexts();
  const { t } = texts;
  const { publishEvents, isPending } = usePublishEvents();
  return (
    <>
      <div className="flex flex-wrap justify-end gap-2 px-6 py-3">
        <CompareButton />
        <Button size="small" isLoading={isPending} onClick={() => void publishEvents({ all: true })}>
          {t("table.publishAll")}
        </Button>
      </div>
      <div className="overflow-x-auto">
        <Table>
          <Table.Header>
            <Table.Row>
              <Table.HeaderCell>{t("table.event")}</Table.HeaderCell>
              <Table.HeaderCell>{t("table.start")}</Table.HeaderCell>
              <Table.HeaderCell>{t("table.state")}</Table.HeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {events.map((event) => (
              <Table.Row key={event.key}>
                <Table.Cell>
                  <Link to={`/products/${event.productId}`} className="text-ui-fg-interactive">
                    {event.title}
                  </Link>
                </Table.Cell>
                <Table.Cell className="text-nowrap">{venueTimeText(texts, event.starts)}</Table.Cell>
                <Table.Cell className="whitespace-normal py-2">
                  <EventBadges event={event} />
                  <EventFacts event={event} />
                </Table.Cell>
              </Table.Row>
            ))}
          </Table.Body>
        </Table>
      </div>
    </>
  );
}
