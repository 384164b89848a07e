import { Button, Checkbox, Table, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import type { EventRow } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { CompareButton, usePublishEvents } from "./event-actions.js";
import { EventBadges, EventFacts } from "./event-state.js";
import { needsPublishing, venueTimeText } from "./event-texts.js";

/** Returns whether an event can be published with others. A retracted event is published again on its own. */
const canPublish = (event: EventRow) =>
  event.faults.length === 0 && (event.state === "draft" || needsPublishing(event));

/** A page of events, with the buttons to publish many at once. */
export function EventTable({ events }: { events: readonly EventRow[] }) {
  const { t } = useTexts();
  const [selected, setSelected] = useState<readonly string[]>([]);
  const selectable = events.filter(canPublish).map(({ key }) => key);
  const keys = selected.filter((key) => selectable.includes(key));
  return (
    <>
      <Actions keys={keys} />
      <div className="overflow-x-auto">
        <Table>
          <Table.Header>
            <Table.Row>
              <Table.HeaderCell>
                <Checkbox
                  aria-label={t("table.selectAll")}
                  disabled={selectable.length === 0}
                  checked={selectable.length > 0 && keys.length === selectable.length}
                  onCheckedChange={(isOn) => setSelected(isOn === true ? selectable : [])}
                />
              </Table.HeaderCell>
              <Table.HeaderCell>{t("table.event")}</Table.HeaderCell>
              <Table.HeaderCell>{t("table.start")}</Table.HeaderCell>
              <Table.HeaderCell>{t("table.state")}</Table.HeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {events.map((event) => (
              <Table.Row key={event.key}>
                <Table.Cell>
                  <Checkbox
                    aria-label={t("table.select", { title: event.title })}
                    disabled={!selectable.includes(event.key)}
                    checked={keys.includes(event.key)}
                    onCheckedChange={(isOn) =>
                      setSelected(isOn === true ? [...keys, event.key] : keys.filter((key) => key !== event.key))
                    }
                  />
                </Table.Cell>
                <EventCells event={event} />
              </Table.Row>
            ))}
          </Table.Body>
        </Table>
      </div>
    </>
  );
}

function EventCells({ event }: { event: EventRow }) {
  const texts = useTexts();
  return (
    <>
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
    </>
  );
}

function Actions({ keys }: { keys: readonly string[] }) {
  const { t } = useTexts();
  const { publishEvents, isPending } = usePublishEvents();
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 px-6 py-3">
      <Text size="small" className="text-ui-fg-subtle">
        {t("table.selected", { number: keys.length })}
      </Text>
      <div className="flex flex-wrap gap-2">
        <CompareButton />
        <Button
          size="small"
          variant="secondary"
          isLoading={isPending}
          onClick={() => void publishEvents({ all: true })}
        >
          {t("table.publishAll")}
        </Button>
        <Button
          size="small"
          disabled={keys.length === 0}
          isLoading={isPending}
          onClick={() => void publishEvents({ keys })}
        >
          {t("table.publishSelected")}
        </Button>
      </div>
    </div>
  );
}
