import type { EventState, ShopEvent } from "@giftcard-pay/events";
import type { Sql } from "../context.js";

/** An event's content, without its state. */
export type EventContent = Omit<ShopEvent, "state" | "updatedAt">;

/** A fault of an event. Its field has the name that {@link ShopEvent} gives it. */
export interface EventFault {
  readonly field: string;
  readonly message: string;
}

/** A date of a show, as computed from its product. */
export interface ComputedEvent {
  readonly key: string;
  readonly productId: string;
  /** The product's title, even if it is no valid title of an event. */
  readonly title: string;
  readonly starts: string;
  /** Whether its product is published and still has this date. */
  readonly isOnSale: boolean;
  /** Its newest content without faults; null if there never was one. */
  readonly content: EventContent | null;
  readonly faults: readonly EventFault[];
}

/** An event as it is stored. */
export interface StoredEvent extends ComputedEvent {
  readonly desiredState: EventState;
  readonly state: EventState;
  /** When its content or state last changed, as PostgreSQL prints it. */
  readonly changedAt: string;
}

/** Reads events by their products' ids or by their own keys. */
export const readEvents = (sql: Sql, by: "product_id" | "key", values: readonly string[]): Promise<StoredEvent[]> =>
  sql(
    `select key, product_id as "productId", title, starts, desired_state as "desiredState", state,
       is_on_sale as "isOnSale", content, faults, changed_at::text as "changedAt"
     from giftcard_event where ${by} = any($1::text[]) order by key`,
    [values],
  );

/**
 * Writes computed events. Skips each event that has changed since it was read.
 *
 * @param events each with its `changedAt` as it was read; null for a new event
 * @returns false if an event was skipped: then read again
 */
export async function writeEvents(
  sql: Sql,
  events: readonly (ComputedEvent & { readonly changedAt: string | null })[],
): Promise<boolean> {
  if (events.length === 0) return true;
  const rows = await sql(
    `with computed as (select * from jsonb_to_recordset($1::jsonb) as c ("key" text, "productId" text, title text, starts text,
       "isOnSale" boolean, content jsonb, faults jsonb, "lastDay" date, "changedAt" text))
     insert into giftcard_event as stored (key, product_id, title, starts, is_on_sale, content, faults, last_day)
     select key, "productId", title, starts, "isOnSale", content, faults, "lastDay" from computed
     on conflict (key) do update set title = excluded.title, starts = excluded.starts, is_on_sale = excluded.is_on_sale,
       content = excluded.content, faults = excluded.faults, last_day = excluded.last_day,
       changed_at = case when stored.content is distinct from excluded.content
         or (stored.desired_state = 'published' and stored.is_on_sale <> excluded.is_on_sale)
         then clock_timestamp() else stored.changed_at end
     where stored.changed_at::text = (select computed."changedAt" from computed where computed.key = stored.key)
     returning 1`,
    [JSON.stringify(events.map((one) => ({ ...one, lastDay: lastDayOf(one.content) })))],
  );
  return rows.length === events.length;
}

const lastDayOf = (content: EventContent | null) => (content ? (content.end ?? content.start).slice(0, 10) : null);

/** Deletes a product's drafts, except those with these keys. */
export async function deleteDrafts(sql: Sql, productId: string, keys: readonly string[]): Promise<void> {
  await sql("delete from giftcard_event where product_id = $1 and desired_state = 'draft' and key <> all($2::text[])", [
    productId,
    keys,
  ]);
}

/**
 * Publishes complete events, and requests the delivery of each to the issuer. An event that is delivered or on its way isn't
 * requested again, unless it is missing from the issuer's list. Then the issuer detects by the key whether it exists.
 *
 * @param keys null for all events that were never published, or only for another issuer
 * @returns the keys of the events that are published now
 */
export async function publishEvents(
  sql: Sql,
  keys: readonly string[] | null,
  { issuer, actor }: { readonly issuer: string; readonly actor: string },
): Promise<string[]> {
  const rows = await sql<{ key: string }>(
    `with published as (
       update giftcard_event set desired_state = 'published',
         changed_at = case when state = 'published' then changed_at else clock_timestamp() end
       where faults = '[]'::jsonb and is_on_sale and content is not null
         and ((desired_state <> 'draft' and $1::text[] is not null)
           or (content ->> 'start')::timestamp > now() at time zone 'Europe/Amsterdam')
         and (case when $1::text[] is not null then key = any($1)
           else desired_state = 'draft' or (desired_state = 'published' and not exists (
             select 1 from giftcard_event_delivery d where d.key = giftcard_event.key and d.issuer = $2)) end)
       returning key
     ), requested as (
       insert into giftcard_event_delivery as delivery (key, issuer, requested_by) select key, $2, $3 from published
       on conflict (key, issuer) do update
         set state = 'pending', requested_by = excluded.requested_by, requested_at = now()
         where delivery.state = 'refused' or (delivery.state = 'delivered' and not delivery.is_listed)
     ) select key from published`,
    [keys, issuer, actor],
  );
  return rows.map(({ key }) => key);
}

/** Cancels or withdraws events that were published. @returns the keys of those that have this state now */
export async function retractEvents(
  sql: Sql,
  keys: readonly string[],
  state: "canceled" | "withdrawn",
): Promise<string[]> {
  const rows = await sql<{ key: string }>(
    `update giftcard_event set desired_state = $2,
       changed_at = case when state = $2 then changed_at else clock_timestamp() end
     where key = any($1::text[]) and desired_state <> 'draft' returning key`,
    [keys, state],
  );
  return rows.map(({ key }) => key);
}
