import { defineRouteConfig } from "@medusajs/admin-sdk";
import { CalendarMini } from "@medusajs/icons";
import { Container, Heading, Input, Select, Table, Text } from "@medusajs/ui";
import { useState } from "react";
import { type EventFilter, type EventList, useEventList } from "../../../client/queries.js";
import { SandboxBadge } from "../../../components/event-state.js";
import { EventTable } from "../../../components/event-table.js";

const PAGE = 50;

const filterTexts: Record<EventFilter, string> = {
  all: "All",
  missing: "Not at the issuer",
  changed: "Changed since",
  failing: "Failing",
};

/** The page "Events": lists the shop's events, and publishes many at once. */
function EventsPage() {
  const [filter, setFilter] = useState<EventFilter>("all");
  const [q, setQ] = useState("");
  const [offset, setOffset] = useState(0);
  const { data, error } = useEventList({ filter, q, limit: PAGE, offset });
  const isEmpty = data?.events.length === 0;
  return (
    <Container className="divide-y p-0">
      <div className="flex items-center justify-between gap-x-4 px-6 py-4">
        <div>
          <Heading level="h1">Events</Heading>
          <Text size="small" className="text-ui-fg-subtle">
            The shop's shows, in its feed and at the issuer.{" "}
            {data?.isAutomatic
              ? "Complete events are published automatically within a minute."
              : "Edit an event on its product's page."}
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
          {isEmpty ? <Notice>No events.</Notice> : <EventTable key={`${filter} ${q} ${offset}`} events={data.events} />}
          <Table.Pagination
            count={data.count}
            pageSize={PAGE}
            pageIndex={offset / PAGE}
            pageCount={Math.max(1, Math.ceil(data.count / PAGE))}
            canPreviousPage={offset > 0}
            canNextPage={offset + PAGE < data.count}
            previousPage={() => setOffset(offset - PAGE)}
            nextPage={() => setOffset(offset + PAGE)}
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

function Filters(props: {
  counts: EventList["counts"];
  filter: EventFilter;
  q: string;
  onChange: (change: { filter?: EventFilter; q?: string }) => void;
}) {
  const { counts, filter, q, onChange } = props;
  return (
    <div className="flex flex-wrap items-center gap-3 px-6 py-4">
      <Select size="small" value={filter} onValueChange={(value) => onChange({ filter: value as EventFilter })}>
        <Select.Trigger aria-label="Filter" className="w-[220px]">
          <Select.Value />
        </Select.Trigger>
        <Select.Content>
          {(Object.keys(filterTexts) as EventFilter[]).map((one) => (
            <Select.Item key={one} value={one}>
              {filterTexts[one]} ({counts[one]})
            </Select.Item>
          ))}
        </Select.Content>
      </Select>
      <Input
        size="small"
        type="search"
        aria-label="Search by title"
        placeholder="Search by title"
        value={q}
        onChange={({ target }) => onChange({ q: target.value })}
      />
    </div>
  );
}

export const config = defineRouteConfig({ label: "Events", icon: CalendarMini });

export default EventsPage;
