import type { Sql } from "@giftcard-pay/checkout/plugin";
import { type EventState, rowOf } from "@giftcard-pay/events";
import type { EventContent, EventFault } from "./event-store.js";

/** What of an event the issuer has otherwise. */
export interface EventDifference {
  /** By the interface's name. */
  readonly field: string;
  /** What was sent; null where nothing was. */
  readonly sent: string | null;
  readonly now: string | null;
}

/** Where an event stands at the issuer. */
export interface AtIssuer {
  /** `none`: nobody has asked for it. `open`: it is to be sent. `sending`: it went out, and no answer came yet. */
  readonly state: "none" | "open" | "sending" | "made" | "refused";
  /** The issuer's number, where it is known. */
  readonly issuerId: number | null;
  readonly sentAt: Date | null;
  readonly madeAt: Date | null;
  readonly askedBy: string | null;
  readonly tries: number;
  readonly lastError: string | null;
  /** Whether the issuer listed it when it was compared last. */
  readonly isListed: boolean;
  /** What the issuer has otherwise. The interface has no operation that changes an event. */
  readonly differences: readonly EventDifference[];
}

/** An event as the admin shows it. */
export interface EventView {
  readonly key: string;
  readonly productId: string;
  readonly title: string;
  readonly starts: string;
  readonly state: EventState;
  readonly changedAt: Date;
  readonly faults: readonly EventFault[];
  readonly atIssuer: AtIssuer;
}

/** What the list can be narrowed to. */
export const eventFilters = ["all", "missing", "changed", "failing"] as const;
export type EventFilter = (typeof eventFilters)[number];

/** What isn't shown here needn't be listed there; what is listed there is to be as it is here. */
const HAS_CHANGED = `push.state = 'made' and case when e.state = 'published'
  then push.sent is distinct from e.event or not push.is_listed else push.is_listed end`;

/** Not at the issuer: what isn't taken back, and hasn't begun. What is taken back before it was sent isn't sent: nothing fails. */
const conditions: Record<EventFilter, string> = {
  all: "true",
  missing: `e.state in ('draft', 'published') and coalesce(push.state, 'none') <> 'made'
    and e.starts > to_char(now() at time zone 'Europe/Amsterdam', 'YYYY-MM-DD"T"HH24:MI:SS')`,
  changed: HAS_CHANGED,
  failing: `(e.state = 'published' and (push.state = 'refused' or (push.state = 'open' and push.last_error is not null)))
    or (push.state = 'sending' and push.last_error is not null)`,
};

const FROM =
  "from giftcard_event e left join giftcard_event_push push on push.key = e.key and push.service = $1";

/** What is asked of the list. */
export interface EventQuery {
  readonly filter: EventFilter;
  /** Of the title; empty for all. */
  readonly text: string;
  readonly productId?: string;
  readonly limit: number;
  readonly offset: number;
}

/** The shop's events, the next one first and those that are over last. */
export async function listEvents(
  sql: Sql,
  service: string,
  { filter, text, productId, limit, offset }: EventQuery,
): Promise<{ events: EventView[]; count: number }> {
  const where = `where (${conditions[filter]}) and e.title ilike '%' || $2 || '%' and ($3::text is null or e.product_id = $3)`;
  const params = [service, text.replaceAll(/[\\%_]/g, "\\$&"), productId ?? null];
  const rows = await sql(
    `select e.key, e.product_id, e.title, e.starts, e.state as event_state, e.changed_at, e.faults, e.event, push.*, push.state as push_state,
       e.key as event_key ${FROM} ${where}
     order by e.starts < to_char(now(), 'YYYY-MM-DD'), e.starts, e.key limit $4 offset $5`,
    [...params, limit, offset],
  );
  const [counted] = await sql(`select count(*) ${FROM} ${where}`, params);
  return { events: rows.map(toView), count: Number(counted?.count) };
}

/** How many events each filter has. */
export async function countEvents(sql: Sql, service: string): Promise<Record<EventFilter, number>> {
  const counts = eventFilters.map((one) => `count(*) filter (where ${conditions[one]})::integer as "${one}"`);
  const [row] = await sql(`select ${counts.join(", ")} ${FROM}`, [service]);
  return row as Record<EventFilter, number>;
}

function toView(row: Record<string, unknown>): EventView {
  const [event, sent] = [row.event as EventContent | null, row.sent as EventContent | null];
  const at = (time: unknown) => (time ? new Date(time as string) : null);
  const state = (row.push_state ?? "none") as AtIssuer["state"];
  const wasSent = state === "made" || state === "sending";
  return {
    key: String(row.event_key),
    productId: String(row.product_id),
    title: String(row.title),
    starts: String(row.starts),
    state: row.event_state as EventState,
    changedAt: new Date(row.changed_at as string),
    faults: row.faults as EventFault[],
    atIssuer: {
      state,
      issuerId: row.issuer_id as number | null,
      sentAt: wasSent ? at(row.sent_at) : null,
      madeAt: at(row.made_at),
      askedBy: row.asked_by as string | null,
      tries: Number(row.tries ?? 0),
      lastError: row.last_error as string | null,
      isListed: row.is_listed === true,
      differences: wasSent && event && sent ? differencesOf(sent, event) : [],
    },
  };
}

/** What of an event isn't as it was sent, by the interface's names. */
export function differencesOf(sent: EventContent, now: EventContent): EventDifference[] {
  const [before, after] = [rowOf({ ...sent, state: "published" }), rowOf({ ...now, state: "published" })];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof typeof before)[];
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, sent: textOf(before[field]), now: textOf(after[field]) }));
}

const textOf = (value: string | number | undefined) => (value === undefined ? null : String(value));
