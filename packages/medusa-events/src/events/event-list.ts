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
  const rows = await sql<Row>(
    `select e.key, e.product_id as "productId", e.title, e.starts, e.state, e.faults, e.content,
       d.delivered_at as "deliveredAt", case when d.state in ('sending', 'delivered') then d.content end as sent,
       json_build_object('state', coalesce(d.state, 'none'), 'issuerId', d.issuer_id, 'requestedBy', d.requested_by,
         'attempts', coalesce(d.attempts, 0), 'lastError', d.last_error, 'isListed', coalesce(d.is_listed, false)) as delivery
     ${FROM} ${where}
     order by e.starts < to_char(now(), 'YYYY-MM-DD'), e.starts, e.key limit $4 offset $5`,
    [...params, limit, offset],
  );
  const [counted] = await sql<{ count: string }>(`select count(*) ${FROM} ${where}`, params);
  return { events: rows.map(toView), count: Number(counted?.count) };
}

/** Counts the events of each filter. */
export async function countEvents(sql: Sql, issuer: string): Promise<Record<EventFilter, number>> {
  const counts = eventFilters.map((one) => `count(*) filter (where ${conditions[one]})::integer as "${one}"`);
  const [row] = await sql<Record<EventFilter, number>>(`select ${counts.join(", ")} ${FROM}`, [issuer]);
  if (!row) throw new TypeError("A count has no row.");
  return row;
}

interface Row extends Omit<EventView, "delivery">, Pick<Delivery, "deliveredAt"> {
  readonly content: EventContent;
  /** The issuer's copy; null if the event wasn't sent. */
  readonly sent: EventContent | null;
  readonly delivery: Omit<Delivery, "deliveredAt" | "differences">;
}

const toView = ({ content, sent, delivery, deliveredAt, ...event }: Row): EventView => ({
  ...event,
  delivery: { ...delivery, deliveredAt, differences: sent ? differencesOf(sent, content) : [] },
});

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
  const rows = await sql<{ content: EventContent; state: EventState; changedAt: Date }>(
    `select content, state, changed_at as "changedAt" from giftcard_event where ($1::text is null or product_id = $1)
       and state in ('published', 'canceled') and last_day >= current_date - 30 order by starts, key`,
    [productId],
  );
  return rows.map(({ content, state, changedAt }) => ({ ...content, state, updatedAt: changedAt.toISOString() }));
}
