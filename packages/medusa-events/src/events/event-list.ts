import { type EventState, modelNameOf, rowOf, type ShopEvent } from "@giftcard-pay/events";
import type { Sql } from "../context.js";
import type { EventContent, EventFault } from "./event-store.js";

/** A field in which the issuer's copy of an event differs. */
export interface EventDifference {
  /** Its name in the model. */
  readonly field: string;
  /** The issuer's value; null for none. */
  readonly sent: string | null;
  /** The shop's value; null for none. */
  readonly now: string | null;
}

/** An event's delivery to the issuer. */
export interface Delivery {
  /** `none`: never requested. `sending`: sent, without a response yet. */
  readonly state: "none" | "pending" | "sending" | "delivered" | "refused";
  /** The issuer's id of the event, if it is known. */
  readonly issuerId: number | null;
  readonly deliveredAt: Date | null;
  readonly requestedBy: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
  /** Whether the issuer's list had the event at the last comparison. */
  readonly isListed: boolean;
  /** The fields that have changed since the event was sent. The interface can't change an event. */
  readonly differences: readonly EventDifference[];
}

/** An event as the admin shows it. */
export interface EventView {
  readonly key: string;
  readonly productId: string;
  readonly title: string;
  readonly starts: string;
  readonly state: EventState;
  readonly faults: readonly EventFault[];
  readonly delivery: Delivery;
}

/** The list's filters. */
export const eventFilters = ["all", "missing", "changed", "failing"] as const;
export type EventFilter = (typeof eventFilters)[number];

/** The issuer should list exactly the published events, with the shop's content. */
const HAS_CHANGED = `d.state = 'delivered' and case when e.state = 'published'
  then d.content is distinct from e.content or not d.is_listed else d.is_listed end`;

/** A canceled or withdrawn event that was never sent is neither missing nor failing: it won't be sent. */
const conditions: Record<EventFilter, string> = {
  all: "true",
  missing: `e.state in ('draft', 'published') and coalesce(d.state, 'none') <> 'delivered'
    and e.starts > to_char(now() at time zone 'Europe/Amsterdam', 'YYYY-MM-DD"T"HH24:MI:SS')`,
  changed: HAS_CHANGED,
  failing: `(e.state = 'published' and (d.state = 'refused' or (d.state = 'pending' and d.last_error is not null)))
    or (d.state = 'sending' and d.last_error is not null)`,
};

const FROM = "from giftcard_event e left join giftcard_event_delivery d on d.key = e.key and d.issuer = $1";

/** A page of the list. */
export interface EventQuery {
  readonly filter: EventFilter;
  /** A part of the title; empty for all events. */
  readonly text: string;
  readonly productId?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Lists the shop's events: the next one first, past ones last. */
export async function listEvents(
  sql: Sql,
  issuer: string,
  { filter, text, productId, limit, offset }: EventQuery,
): Promise<{ events: EventView[]; count: number }> {
  const where = `where (${conditions[filter]}) and e.title ilike '%' || $2 || '%' and ($3::text is null or e.product_id = $3)`;
  const params = [issuer, text.replaceAll(/[\\%_]/g, "\\$&"), productId ?? null];
  const rows = await sql(
    `select to_jsonb(e) as event, to_jsonb(d) as delivery ${FROM} ${where}
     order by e.starts < to_char(now(), 'YYYY-MM-DD'), e.starts, e.key limit $4 offset $5`,
    [...params, limit, offset],
  );
  const [counted] = await sql(`select count(*) ${FROM} ${where}`, params);
  return { events: rows.map(toView), count: Number(counted?.count) };
}

/** Counts the events of each filter. */
export async function countEvents(sql: Sql, issuer: string): Promise<Record<EventFilter, number>> {
  const counts = eventFilters.map((one) => `count(*) filter (where ${conditions[one]})::integer as "${one}"`);
  const [row] = await sql(`select ${counts.join(", ")} ${FROM}`, [issuer]);
  return row as Record<EventFilter, number>;
}

// biome-ignore lint/suspicious/noExplicitAny: rows of both tables as JSON
function toView({ event, delivery }: Record<string, any>): EventView {
  return {
    key: event.key,
    productId: event.product_id,
    title: event.title,
    starts: event.starts,
    state: event.state,
    faults: event.faults,
    delivery: {
      state: delivery?.state ?? "none",
      issuerId: delivery?.issuer_id ?? null,
      deliveredAt: delivery?.delivered_at ? new Date(delivery.delivered_at) : null,
      requestedBy: delivery?.requested_by ?? null,
      attempts: delivery?.attempts ?? 0,
      lastError: delivery?.last_error ?? null,
      isListed: delivery?.is_listed ?? false,
      differences: ["sending", "delivered"].includes(delivery?.state)
        ? differencesOf(delivery.content, event.content)
        : [],
    },
  };
}

/** Returns the fields of an event that have changed since it was sent. */
function differencesOf(sent: EventContent, now: EventContent): EventDifference[] {
  const [before, after] = [rowOf({ ...sent, state: "published" }), rowOf({ ...now, state: "published" })];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof typeof before)[];
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field: modelNameOf(field), sent: textOf(before[field]), now: textOf(after[field]) }));
}

const textOf = (value: string | number | undefined) => (value === undefined ? null : String(value));

/** Reads published and canceled events that ended at most 30 days ago, the next one first: of a product, or all. */
export async function readPublicEvents(sql: Sql, productId: string | null = null): Promise<ShopEvent[]> {
  const rows = await sql(
    `select content, state, changed_at from giftcard_event where ($1::text is null or product_id = $1)
       and state in ('published', 'canceled') and last_day >= current_date - 30 order by starts, key`,
    [productId],
  );
  return rows.map((row) => ({
    ...(row.content as EventContent),
    state: row.state as EventState,
    updatedAt: new Date(row.changed_at as string).toISOString(),
  }));
}
