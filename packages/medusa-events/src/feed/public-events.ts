import type { EventState, ShopEvent } from "@giftcard-pay/events";
import type { Sql } from "../context.js";
import type { EventContent } from "../events/event-store.js";

/** The number of events in memory while a feed is written. */
const PAGE = 200;

/** Events that were published and ended at most 30 days ago. */
const IS_PUBLIC = "desired_state <> 'draft' and last_day >= current_date - 30";
/** The time at which an event left the feed by its age. It counts as a change of the feed. */
const LEFT_AT = "case when last_day < current_date - 30 then (last_day + 31)::timestamptz end";

/** The version of the public events. */
export interface FeedVersion {
  /** Differs if any event differs. */
  readonly tag: string;
  /** The time of the last change; null if there is no event, or the last change is less than three seconds old. */
  readonly changedAt: Date | null;
  /** The time zones of the events. */
  readonly timeZones: readonly string[];
}

/** Reads the current version of the public events. */
export async function readFeedVersion(sql: Sql): Promise<FeedVersion> {
  const [row] = await sql(
    `select count(*) filter (where is_public) || '-' || to_hex(coalesce(bit_xor(hash) filter (where is_public), 0)) as tag,
       max(changed) as changed, max(changed) > clock_timestamp() - interval '3 seconds' as is_new,
       coalesce(array_agg(distinct zone) filter (where is_public), '{}') as zones
     from (select content ->> 'timeZone' as zone, ${IS_PUBLIC} as is_public,
       hashtextextended(key || ' ' || changed_at::text, 0) as hash,
       greatest(changed_at, ${LEFT_AT}) as changed from giftcard_event where desired_state <> 'draft') listed`,
    [],
  );
  const isSettled = row?.changed && !row.is_new;
  return {
    tag: String(row?.tag),
    changedAt: isSettled ? new Date(row.changed as string) : null,
    timeZones: row?.zones as string[],
  };
}

const toEvent = (row: Record<string, unknown>): ShopEvent => ({
  ...(row.content as EventContent),
  state: row.state as EventState,
  updatedAt: new Date(row.changed_at as string).toISOString(),
});

/** Reads the public events, page by page, in the order of their keys. */
export async function* eachPublicEvent(sql: Sql): AsyncGenerator<ShopEvent, void, undefined> {
  for (let after = ""; ; ) {
    const rows = await sql(
      `select key, content, state, changed_at from giftcard_event where key > $1 and ${IS_PUBLIC} order by key limit ${PAGE}`,
      [after],
    );
    yield* rows.map(toEvent);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = String(last.key);
  }
}

/** Reads a product's events for its page: published and canceled ones, the next one first. */
export async function readPublicEvents(sql: Sql, productId: string): Promise<ShopEvent[]> {
  const rows = await sql(
    `select content, state, changed_at from giftcard_event
     where product_id = $1 and state in ('published', 'canceled') and ${IS_PUBLIC} order by starts, key limit 1000`,
    [productId],
  );
  return rows.map(toEvent);
}
