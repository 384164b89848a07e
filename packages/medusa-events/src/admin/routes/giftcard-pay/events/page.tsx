import { defineRouteConfig } from "@medusajs/admin-sdk";
import { CalendarMini } from "@medusajs/icons";
import { Button, Container, Heading, Input, Select, Table, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type EventFilter, type EventList, type EventRow, useEventList } from "../../../client/queries.js";
import { CompareButton, usePublishEvents } from "../../../components/event-actions.js";
import { EventBadges, EventFacts, SandboxBadge, venueTimeText } from "../../../components/event-state.js";
import { useTexts } from "../../../i18n/use-texts.js";

const PAGE = 50;

const filters: readonly EventFilter[] = ["all", "missing", "changed", "failing"];

/** The page "Events": lists the shop's events, and publishes many at once. */
function EventsPage() {
  const { t } = useTexts();
  const [filter, setFilter] = useState<EventFilter>("all");
  const [q, setQ] = useState("");
  const [offset, setOffset] = useState(0);
  const { data, error } = useEventList({ filter, q, limit: PAGE, offset });
  const isEmpty = data?.events.length === 0;
  return (
    <Container className="divide-y p-0">
      <div className="flex items-center justify-between gap-x-4 px-6 py-4">
        <div>
          <Heading level="h1">{t("page.title")}</Heading>
          <Text size="small" className="text-ui-fg-subtle">
            {data?.isAutomatic ? t("page.aboutAutomatic") : t("page.about")}
          </Text>
        </div>
        <SandboxBadge environment={data?.environment} />
      </div>
      {error && <Notice>{error.message}</Notice>}
      {data && (
        <>
          <Filters
            counts={data.counts}
            filter={filter}
            q={q}
            onChange={(change) => {
              if (change.filter !== undefined) setFilter(change.filter);
              if (change.q !== undefined) setQ(change.q);
              setOffset(0);
            }}
          />
          {isEmpty ? (
            <Empty isFiltered={data.counts.all > 0} />
          ) : (
            <EventTable key={`${filter} ${q} ${offset}`} events={data.events} />
          )}
          <Table.Pagination
            count={data.count}
            pageSize={PAGE}
            pageIndex={offset / PAGE}
            pageCount={Math.max(1, Math.ceil(data.count / PAGE))}
            canPreviousPage={offset > 0}
            canNextPage={offset + PAGE < data.count}
            previousPage={() => setOffset(offset - PAGE)}
            nextPage={() => setOffset(offset + PAGE)}
            translations={{
              of: t("pages.of"),
              results: t("pages.results"),
              pages: t("pages.pages"),
              prev: t("pages.previous"),
              next: t("pages.next"),
            }}
          />
        </>
      )}
    </Container>
  );
}

const Notice = ({ children }: { children: string }) => (
  <Text size="small" className="text-ui-fg-muted px-6 py-8 text-center">
    {children}
  </Text>
);

/** Says what to do if no event is listed. */
function Empty({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useTexts();
  if (isFiltered) return <Notice>{t("page.noMatch")}</Notice>;
  return (
    <div className="flex flex-col items-center px-6 pb-8">
      <Notice>{t("page.none")}</Notice>
      <Link to="/products" className="text-ui-fg-interactive txt-small-plus">
        {t("page.openProducts")}
      </Link>
    </div>
  );
}

function Filters(props: {
  counts: EventList["counts"];
  filter: EventFilter;
  q: string;
  onChange: (change: { filter?: EventFilter; q?: string }) => void;
}) {
  const { t } = useTexts();
  const { counts, filter, q, onChange } = props;
  return (
    <div className="flex flex-wrap items-center gap-3 px-6 py-4">
      <Select size="small" value={filter} onValueChange={(value) => onChange({ filter: value as EventFilter })}>
        <Select.Trigger aria-label={t("page.filter")} className="w-[220px]">
          <Select.Value />
        </Select.Trigger>
        <Select.Content>
          {filters.map((one) => (
            <Select.Item key={one} value={one}>
              {t(`page.filters.${one}`, { number: counts[one] })}
            </Select.Item>
          ))}
        </Select.Content>
      </Select>
      <Input
        size="small"
        type="search"
        aria-label={t("page.search")}
        placeholder={t("page.search")}
        value={q}
        onChange={({ target }) => onChange({ q: target.value })}
      />
    </div>
  );
}

/** A page of events, with the buttons for all events. */
function EventTable({ events }: { events: readonly EventRow[] }) {
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

export const config = defineRouteConfig({
  label: "page.title",
  icon: CalendarMini,
  translationNs: "giftcardPayEvents",
});

export default EventsPage;
