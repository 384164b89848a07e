import { type Sql, sqlList } from "@giftcard-pay/checkout/plugin";
import { chargingStates, orderedStates } from "@giftcard-pay/checkout/store";
import type { Settings } from "../options.js";

/** Keeps a run cheap, and still scans the whole past of a large shop within hours. */
const SCAN_PAGE = 2000;
/** How many of the last day's rows a run reads at most. */
const LATELY = 5000;

export interface PlacedCart {
  readonly orderId: string;
  readonly cartId: string;
}

/** The scope of a scan. */
export interface Scan {
  readonly sql: Sql;
  /** How long something that was begun may take, in milliseconds. */
  readonly leaseMs: number;
  /** How long a remainder that settles later may stay pending, in milliseconds. */
  readonly promisedRemainderMs: number;
  /** The reference after which this run's page of older charges begins. */
  readonly after: string;
  /** Limits the scan to this order or cart; null for everything. */
  readonly only: string | null;
  /** When the shop captures cards. */
  readonly capture: Settings["capture"];
}

/** Covers one order or cart, however new it is. */
export const scanOnly = (sql: Sql, only: string, capture: Settings["capture"] = "manual"): Scan => ({
  sql,
  leaseMs: 0,
  promisedRemainderMs: 0,
  after: "",
  only,
  capture,
});

/**
 * The charges that one recovery run checks against Medusa's orders, as a common table expression `scanned`: charges
 * that changed within the last day, charges of orders and carts at which recovery failed before, and one page of all
 * others, the next page in each run. Medusa has no index on changes, so a scan must not grow with the shop's
 * past, and must still find everything. `$1` is `after`, `$2` is `only`.
 *
 * Queries on these charges use subqueries that PostgreSQL can't turn into a join over a whole table.
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
 * The orders of those charges, orders that a bulk refund has or a person exempted from one, and the requested order,
 * as a common table expression `ordered` after `scanned`.
 */
export const ORDERED = `ordered as materialized (
  select order_id as id from scanned where order_id is not null
  union select order_id from giftcard_bulk_refund_order where state <> 'done' and $2::text is null
  union select $2::text where $2::text is not null
)`;

/** The states of a charge with which an order is placed, or being placed. */
export const ACTIVE = sqlList([...chargingStates, ...orderedStates]);

/** Whether a cart has no order by either of Medusa's links, and no charge with which one is being placed. */
export const hasNoOrder = (cartId: string) =>
  `(select count(*) from order_cart where cart_id = ${cartId} and deleted_at is null) = 0
   and (select count(*) from cart_payment_collection pays join order_payment_collection ordered
     on ordered.payment_collection_id = pays.payment_collection_id and ordered.deleted_at is null
     where pays.cart_id = ${cartId} and pays.deleted_at is null) = 0
   and (select count(*) from giftcard_charge other where other.cart_id = ${cartId} and other.state in (${ACTIVE})) = 0`;

/** Whether a person has exempted an order from being canceled, for a statement. */
export const isKeptSql = (orderId: string) =>
  `(select count(*) from giftcard_job where kind = 'cancel_order' and id = ${orderId} and exempted_at is not null) > 0`;

/** Reads where this run's page begins. The next run, in any process, continues after it. */
export async function takeScanPage(sql: Sql): Promise<string> {
  const [row] = await sql(
    `with begun as (select after from giftcard_scan),
     page as (select reference from giftcard_charge where reference > (select after from begun)
       order by reference limit ${SCAN_PAGE}),
     ended as (select case when count(*) = ${SCAN_PAGE} then max(reference) else '' end as after from page)
     update giftcard_scan set after = ended.after from ended, begun returning begun.after as begins_after`,
    [],
  );
  return String(row?.begins_after ?? "");
}
