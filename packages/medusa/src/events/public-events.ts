import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { EventState, ShopEvent } from "@giftcard-pay/events";
import type { EventContent } from "./event-store.js";

/** So many events are held in memory while a feed is written. */
const PAGE = 200;

/** What was public and isn't long over: a feed doesn't grow with the shop's past. */
const IS_TOLD = "wish <> 'draft' and last_day >= current_date - 30";
/** What left it changed it, too. */
const LEFT_AT = "case when last_day < current_date - 30 then (last_day + 31)::timestamptz end";

/** Which state of the events a feed shows. */
export interface FeedVersion {
  /** Another one for other events. */
  readonly tag: string;
  /** When anything in it changed, or left it, last; null where there is nothing, or something changed this very moment. */
  readonly changedAt: Date | null;
  /** The time zones of its events. */
  readonly timeZones: readonly string[];
}

/** Reads which state of the events a feed would show now. */
export async function readFeedVersion(sql: Sql): Promise<FeedVersion> {
  const [row] = await sql(
    `select count(*) filter (where is_told) || '-' || to_hex(coalesce(bit_xor(hash) filter (where is_told), 0)) as tag,
       max(changed) as changed, max(changed) > clock_timestamp() - interval '3 seconds' as is_new,
       coalesce(array_agg(distinct zone) filter (where is_told), '{}') as zones
     from (select event ->> 'timeZone' as zone, ${IS_TOLD} as is_told, hashtextextended(key || ' ' || changed_at::text, 0) as hash,
       greatest(changed_at, ${LEFT_AT}) as changed from giftcard_event where wish <> 'draft') told`,
    [],
  );
  const isOld = row?.changed && !row.is_new;
  return {
    tag: String(row?.tag),
    changedAt: isOld ? new Date(row.changed as string) : null,
    timeZones: row?.zones as string[],
  };
}

const toEvent = (row: Record<string, unknown>): ShopEvent => ({
  ...(row.event as EventContent),
  state: row.state as EventState,
  updatedAt: new Date(row.changed_at as string).toISOString(),
});

/** The events that a feed shows, page by page, in the order of their keys. */
export async function* eachPublicEvent(sql: Sql): AsyncGenerator<ShopEvent, void, undefined> {
  for (let after = ""; ; ) {
    const rows = await sql(
      `select key, event, state, changed_at from giftcard_event where key > $1 and ${IS_TOLD} order by key limit ${PAGE}`,
      [after],
    );
    yield* rows.map(toEvent);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = String(last.key);
  }
}

/** The events of a product that a page may show: published, or canceled. The next one first. */
export async function readPublicEvents(sql: Sql, productId: string): Promise<ShopEvent[]> {
  const rows = await sql(
    `select event, state, changed_at from giftcard_event
     where product_id = $1 and state in ('published', 'canceled') and ${IS_TOLD} order by starts, key limit 1000`,
    [productId],
  );
  return rows.map(toEvent);
}
