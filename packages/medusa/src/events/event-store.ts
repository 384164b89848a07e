import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { EventState, ShopEvent } from "@giftcard-pay/events";

/** What an event says, without whether it is public and since when. */
export type EventContent = Omit<ShopEvent, "state" | "updatedAt">;

/** What is missing or wrong, by the model's names. */
export interface EventFault {
  readonly field: string;
  readonly message: string;
}

/** A date of a show, as it stands now. */
export interface StandingEvent {
  readonly key: string;
  readonly productId: string;
  /** What people call it, also where it can't be an event yet. */
  readonly title: string;
  readonly starts: string;
  /** Its product is published, and has this date. */
  readonly isShown: boolean;
  /** As it was when it last was right; null where it never was. */
  readonly event: EventContent | null;
  readonly faults: readonly EventFault[];
}

/** The same as it is kept. */
export interface KnownEvent extends StandingEvent {
  readonly wish: EventState;
  readonly state: EventState;
  /** When it or its state changed last, as the database writes it. */
  readonly changedAt: string;
}

const toKnown = (row: Record<string, unknown>): KnownEvent => ({
  key: String(row.key),
  productId: String(row.product_id),
  title: String(row.title),
  starts: String(row.starts),
  wish: row.wish as EventState,
  state: row.state as EventState,
  isShown: row.is_shown === true,
  event: row.event as EventContent | null,
  faults: row.faults as EventFault[],
  changedAt: String(row.changed),
});

/** The events of these products, by their keys. */
export async function readEventsOf(sql: Sql, productIds: readonly string[]): Promise<KnownEvent[]> {
  const rows = await sql(
    "select *, changed_at::text as changed from giftcard_event where product_id = any($1::text[]) order by key",
    [productIds],
  );
  return rows.map(toKnown);
}

/** These events, by their keys. */
export async function readEvents(sql: Sql, keys: readonly string[]): Promise<KnownEvent[]> {
  const rows = await sql(
    "select *, changed_at::text as changed from giftcard_event where key = any($1::text[]) order by key",
    [keys],
  );
  return rows.map(toKnown);
}

/**
 * Writes how events stand now. One that has changed since it was read is left as it is.
 *
 * @param events each with `changedAt` as it was read; null where there was none
 * @returns whether all were written: if not, read again
 */
export async function writeEvents(
  sql: Sql,
  events: readonly (StandingEvent & { readonly changedAt: string | null })[],
): Promise<boolean> {
  if (events.length === 0) return true;
  const rows = await sql(
    `with made as (select * from jsonb_to_recordset($1::jsonb) as m ("key" text, "productId" text, title text, starts text,
       "isShown" boolean, event jsonb, faults jsonb, "lastDay" date, "changedAt" text))
     insert into giftcard_event as known (key, product_id, title, starts, is_shown, event, faults, last_day)
     select key, "productId", title, starts, "isShown", event, faults, "lastDay" from made
     on conflict (key) do update set title = excluded.title, starts = excluded.starts, is_shown = excluded.is_shown,
       event = excluded.event, faults = excluded.faults, last_day = excluded.last_day,
       changed_at = case when known.event is distinct from excluded.event
         or (known.wish = 'published' and known.is_shown <> excluded.is_shown) then clock_timestamp() else known.changed_at end
     where known.changed_at::text = (select made."changedAt" from made where made.key = known.key)
     returning 1`,
    [JSON.stringify(events.map((one) => ({ ...one, lastDay: lastDayOf(one.event) })))],
  );
  return rows.length === events.length;
}

const lastDayOf = (event: EventContent | null) => (event ? (event.end ?? event.start).slice(0, 10) : null);

/** Forgets dates of a product that are gone and were never public. */
export async function forgetDrafts(sql: Sql, productId: string, keys: readonly string[]): Promise<void> {
  await sql(
    "delete from giftcard_event where product_id = $1 and wish = 'draft' and key <> all($2::text[])",
    [productId, keys],
  );
}

/**
 * Publishes events in which nothing is missing, and asks for each to be at the issuer: one that is there, or on its way,
 * isn't asked for again, unless its list doesn't have it any more: whether it is there is then the issuer's to say.
 *
 * @param keys null for all that nobody has published yet, or only where another service was the issuer
 * @returns those that are published now
 */
export async function publishEvents(
  sql: Sql,
  keys: readonly string[] | null,
  { service, actor }: { readonly service: string; readonly actor: string },
): Promise<string[]> {
  const rows = await sql(
    `with published as (
       update giftcard_event set wish = 'published', changed_at = case when state = 'published' then changed_at else clock_timestamp() end
       where faults = '[]'::jsonb and is_shown and event is not null
         and ((wish <> 'draft' and $1::text[] is not null)
           or (event ->> 'start')::timestamp > now() at time zone 'Europe/Amsterdam')
         and (case when $1::text[] is not null then key = any($1)
           else wish = 'draft' or (wish = 'published' and not exists (
             select 1 from giftcard_event_push push where push.key = giftcard_event.key and push.service = $2)) end)
       returning key
     ), asked as (
       insert into giftcard_event_push as push (key, service, asked_by) select key, $2, $3 from published
       on conflict (key, service) do update set state = 'open', asked_by = excluded.asked_by, asked_at = now()
         where push.state = 'refused' or (push.state = 'made' and not push.is_listed)
     ) select key from published`,
    [keys, service, actor],
  );
  return rows.map(({ key }) => String(key));
}

/** Takes back events that were published. @returns those that are taken back now */
export async function takeBack(
  sql: Sql,
  keys: readonly string[],
  state: "canceled" | "withdrawn",
): Promise<string[]> {
  const rows = await sql(
    `update giftcard_event set wish = $2, changed_at = case when state = $2 then changed_at else clock_timestamp() end
     where key = any($1::text[]) and wish <> 'draft' returning key`,
    [keys, state],
  );
  return rows.map(({ key }) => String(key));
}
