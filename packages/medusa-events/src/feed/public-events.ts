import type { EventState, ShopEvent } from "@giftcard-pay/events";
import type { Sql } from "../context.js";
import type { EventContent } from "../events/event-store.js";

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
