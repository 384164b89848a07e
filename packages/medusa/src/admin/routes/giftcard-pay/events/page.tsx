import { Button, Checkbox, Input, Select, Table, Text } from "@medusajs/ui";
import { useState } from "react";
import { Link } from "react-router-dom";
import {
  type EventFilter,
  type EventList,
  type EventRow,
  useEventList,
} from "../../../client/event-queries.js";
import { CompareButton, usePublishEvents } from "../../../components/event-actions.js";
import { EventBadges, EventFacts } from "../../../components/event-state.js";
import { clockText, isToBeSent } from "../../../components/event-texts.js";
import { EnvironmentBadge } from "../../../components/health-section.js";
import { Nothing, Section } from "../../../components/section.js";

const PAGE = 50;

const filterTexts: Record<EventFilter, string> = {
  all: "All",
  missing: "Not at the issuer",
  changed: "Changed since",
  failing: "Failing",
};

/** The page "Events": all shows of the shop, to be published many at once. */
function EventsPage() {
  const [filter, setFilter] = useState<EventFilter>("all");
  const [q, setQ] = useState("");
  const [offset, setOffset] = useState(0);
  const { data, error } = useEventList({ filter, q, limit: PAGE, offset });
  const list = data?.isOn ? data : undefined;
  return (
    <Section
      level="h1"
      title="Events"
      about={
        list?.isAutomatic
          ? "The shop's shows, in its feed and at the issuer. What is complete is published by itself, within a minute."
          : "The shop's shows, in its feed and at the issuer. What they are is said on each product's page."
      }
      actions={list && <EnvironmentBadge environment={list.environment} />}
    >
      {error && <Nothing>{error.message}</Nothing>}
      {data && !data.isOn && (
        <Nothing>This shop sells no shows: the plugin's option “events” isn't set.</Nothing>
      )}
      {list && (
        <>
          <div className="flex flex-wrap items-center gap-3 px-6 py-4">
            <Select
              size="small"
              value={filter}
              onValueChange={(value) => {
                setFilter(value as EventFilter);
                setOffset(0);
              }}
            >
              <Select.Trigger aria-label="Which events" className="w-[220px]">
                <Select.Value />
              </Select.Trigger>
              <Select.Content>
                {(Object.keys(filterTexts) as EventFilter[]).map((one) => (
                  <Select.Item key={one} value={one}>
                    {filterTexts[one]} ({list.counts[one]})
                  </Select.Item>
                ))}
              </Select.Content>
            </Select>
            <Input
              size="small"
              type="search"
              aria-label="Find by title"
              placeholder="Find by title"
              value={q}
              onChange={({ target }) => {
                setQ(target.value);
                setOffset(0);
              }}
            />
          </div>
          <Events key={`${filter} ${q} ${offset}`} list={list} />
          <Table.Pagination
            count={list.count}
            pageSize={PAGE}
            pageIndex={offset / PAGE}
            pageCount={Math.max(1, Math.ceil(list.count / PAGE))}
            canPreviousPage={offset > 0}
            canNextPage={offset + PAGE < list.count}
            previousPage={() => setOffset(offset - PAGE)}
            nextPage={() => setOffset(offset + PAGE)}
          />
        </>
      )}
    </Section>
  );
}

/** Whether it may be published with others: what was taken back is published again on its own. */
const canPublish = (event: EventRow) =>
  event.faults.length === 0 && (event.state === "draft" || isToBeSent(event));

function Events({ list: { events } }: { list: EventList }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { publishEvents, isPending } = usePublishEvents();
  const choosable = events.filter(canPublish).map(({ key }) => key);
  const keys = chosen.filter((key) => choosable.includes(key));
  if (events.length === 0) return <Nothing>There is none.</Nothing>;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 py-3">
        <Text size="small" className="text-ui-fg-subtle">
          {keys.length} chosen
        </Text>
        <div className="flex flex-wrap gap-2">
          <CompareButton />
          <Button
            size="small"
            variant="secondary"
            isLoading={isPending}
            onClick={() => void publishEvents({ all: true })}
          >
            Publish all that are ready
          </Button>
          <Button
            size="small"
            disabled={keys.length === 0}
            isLoading={isPending}
            onClick={() => void publishEvents({ keys })}
          >
            Publish the chosen
          </Button>
        </div>
      </div>
      <div className="overflow-x-auto">
        <Table>
          <Table.Header>
            <Table.Row>
              <Table.HeaderCell>
                <Checkbox
                  aria-label="Choose all on this page"
                  disabled={choosable.length === 0}
                  checked={choosable.length > 0 && keys.length === choosable.length}
                  onCheckedChange={(isOn) => setChosen(isOn === true ? choosable : [])}
                />
              </Table.HeaderCell>
              <Table.HeaderCell>Event</Table.HeaderCell>
              <Table.HeaderCell>Start</Table.HeaderCell>
              <Table.HeaderCell>State</Table.HeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {events.map((event) => (
              <Table.Row key={event.key}>
                <Table.Cell>
                  <Checkbox
                    aria-label={`Choose ${event.title}`}
                    disabled={!choosable.includes(event.key)}
                    checked={keys.includes(event.key)}
                    onCheckedChange={(isOn) =>
                      setChosen(
                        isOn === true ? [...keys, event.key] : keys.filter((key) => key !== event.key),
                      )
                    }
                  />
                </Table.Cell>
                <Table.Cell>
                  <Link to={`/products/${event.productId}`} className="text-ui-fg-interactive">
                    {event.title}
                  </Link>
                </Table.Cell>
                <Table.Cell className="text-nowrap">{clockText(event.starts)}</Table.Cell>
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

export default EventsPage;
