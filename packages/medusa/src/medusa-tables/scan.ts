import type { Sql } from "@giftcard-pay/checkout/plugin";

/** So many that a run costs little, and that the whole past of a large shop is scanned within hours. */
export const SCAN_PAGE = 2000;
const LATELY = 5000;

/** How far one scan goes. */
export interface Scan {
  /** Runs one statement on Medusa's database. */
  readonly sql: Sql;
  /** How long what was begun may take. */
  readonly leaseMs: number;
  /** How long a remainder may take that settles later. */
  readonly pendingRemainderLifeMs: number;
  /** Where this run's page of the past begins. */
  readonly after: string;
  /** This order, or this cart, alone; or null. */
  readonly only: string | null;
}

/** Everything of one order, or one cart, however new it is. */
export const scanOnly = (sql: Sql, only: string): Scan => ({
  ...{ sql, leaseMs: 0, pendingRemainderLifeMs: 0, after: "", only },
});

/**
 * The charges that one run of recovery holds against Medusa's orders, as a common table expression `scanned`: those that
 * changed within the last day, those of orders and carts at which recovery failed before, and one page of all others, each run the
 * next. Medusa has no index by which its own tables tell what changed, so this doesn't grow with the shop's past, and
 * still finds everything: what is found of them needs no limit. `$1` is `after`, `$2` is `only`.
 *
 * What is read for each of them stands in subqueries that PostgreSQL can't turn into a join over a whole table.
 */
export const SCANNED = `scanned as materialized (
  (select reference, state, order_id, cart_id, external_id from giftcard_charge
    where $2::text is null and updated_at > now() - interval '1 day' order by updated_at desc limit ${LATELY})
  union
  (select reference, state, order_id, cart_id, external_id from giftcard_charge
    where $2::text is null and reference > $1 order by reference limit ${SCAN_PAGE})
  union
  (select reference, state, order_id, cart_id, external_id from giftcard_charge
    where order_id in (select job.order_id from giftcard_job job where $2::text is null union select $2::text))
  union
  (select reference, state, order_id, cart_id, external_id from giftcard_charge
    where cart_id in (select job.cart_id from giftcard_job job where $2::text is null union select $2::text))
)`;

/**
 * The orders of those charges, those that a refund of many orders has or was told to leave, and the one that is asked for, as a common table
 * expression `ordered` behind `scanned`.
 */
export const ORDERED = `ordered as materialized (
  select order_id as id from scanned where order_id is not null
  union select order_id from giftcard_bulk_refund_order where state <> 'done' and $2::text is null
  union select $2::text where $2::text is not null
)`;
