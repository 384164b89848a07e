import { randomUUID } from "node:crypto";
import { isUniqueViolation, type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import type { Sold, SoldOrder } from "../medusa-tables/bulk-refunds.js";
import { hasRows, readRow, readRows, readTexts } from "../rows.js";
import type { Reason } from "../sentences.js";
import type { PlannedCapture, RefundPart } from "./order-books.js";

export interface PlannedOrder extends SoldOrder {
  /** How many units of each line are back once it is refunded, by the line's id. */
  readonly units: Readonly<Record<string, number>>;
  readonly amountCents: number;
  readonly parts: readonly RefundPart[];
  /** The payments that are captured before. */
  readonly captures: readonly PlannedCapture[];
}

/** An order that contains it, but can't be refunded automatically. */
export interface RefusedOrder extends SoldOrder {
  readonly amountCents: number;
  readonly why: readonly Reason[];
  /** Above 0 if it is refused only because this amount isn't captured: the plan may capture it first. */
  readonly captureCents: number;
}

export interface BulkRefundPlan {
  readonly sold: Sold;
  /** Its display name. A person types it to confirm the refund. */
  readonly title: string;
  readonly orders: readonly PlannedOrder[];
  readonly refused: readonly RefusedOrder[];
  readonly amountCents: number;
  /** The amount that is captured before. */
  readonly captureCents: number;
  /** The refused orders that the plan could capture and refund. */
  readonly uncaptured: { readonly orders: number; readonly cents: number };
  /** By payment method, cards first. */
  readonly sums: readonly { readonly providerId: string; readonly isCard: boolean; readonly cents: number }[];
}

export interface BulkRefundOrder extends PlannedOrder {
  readonly bulkRefundId: string;
  readonly sold: Sold;
  readonly owner: string;
  /** A hash of what the parts were planned on, from when the first of them was begun; null before. */
  readonly basis: string | null;
}

export interface BulkRefundReport {
  readonly id: string;
  readonly title: string;
  /** The ids of whole orders are left out. */
  readonly sold: Sold;
  readonly actor: string;
  readonly createdAt: Date;
  readonly open: number;
  readonly done: number;
  readonly doneCents: number;
  readonly amountCents: number;
  readonly waiting: readonly Omit<RefusedOrder, "captureCents">[];
  /** The orders that its plan left out, each with the reason at that time: the first 200 of `refusedCount`. */
  readonly refused: readonly RefusedOrder[];
  readonly refusedCount: number;
}

const REFUSED_SHOWN = 200;
const REPORTS_SHOWN = 20;

/**
 * Records a planned bulk refund with all its orders. From then on the shop makes it, even if this process dies:
 * `workBulkRefunds` does it, in this process or another one.
 * @returns the bulk refund's id; null if another bulk refund has one of the orders by now
 */
export async function beginBulkRefund(sql: Sql, plan: BulkRefundPlan, actor: string): Promise<string | null> {
  const id = `gcbulk_${randomUUID()}`;
  const write = sql(
    `with bulk_refund as (insert into giftcard_bulk_refund (id, title, sold, actor, refused)
       values ($1, $2, $3::jsonb, $4, $6::jsonb) returning id)
     insert into giftcard_bulk_refund_order (bulk_refund_id, order_id, units, amount_cents, parts, captures)
     select bulk_refund.id, planned."orderId", planned.units, planned."amountCents", planned.parts, planned.captures
     from bulk_refund, jsonb_to_recordset($5::jsonb)
       as planned ("orderId" text, units jsonb, "amountCents" bigint, parts jsonb, captures jsonb)`,
    [id, plan.title, JSON.stringify(plan.sold), actor, JSON.stringify(plan.orders), JSON.stringify(plan.refused)],
  );
  return write.then(
    () => id,
    (error: unknown) => {
      if (isUniqueViolation(error)) return null;
      throw error;
    },
  );
}

/**
 * Tells whether a bulk refund has the order now, or a person has exempted it from one.
 * @param except a bulk refund that doesn't count
 */
export const isHeld = (sql: Sql, orderId: string, except?: string): Promise<boolean> =>
  hasRows(
    sql,
    "select 1 from giftcard_bulk_refund_order where order_id = $1 and bulk_refund_id is distinct from $2 and state <> 'done' limit 1",
    [orderId, except ?? null],
  );

/** Tells whether a bulk refund is about to refund the order. */
export const isInProgress = (sql: Sql, orderId: string): Promise<boolean> =>
  hasRows(sql, "select 1 from giftcard_bulk_refund_order where order_id = $1 and state = 'open' limit 1", [orderId]);

/** Leases the next order of a bulk refund; null if none is left. */
export const claimOrder = (
  sql: Sql,
  bulkRefundId: string,
  lease: { readonly owner: string; readonly forMs: number },
): Promise<BulkRefundOrder | null> =>
  readRow(
    sql,
    `update giftcard_bulk_refund_order o set lease_owner = $2, lease_until = now() + ${sqlInterval("$3")}, updated_at = now()
     from giftcard_bulk_refund r where r.id = o.bulk_refund_id and o.bulk_refund_id = $1 and o.order_id = (
       select order_id from giftcard_bulk_refund_order where bulk_refund_id = $1 and state = 'open'
         and (lease_until is null or lease_until <= now()) order by order_id limit 1 for update skip locked
     ) returning o.bulk_refund_id as "bulkRefundId", o.order_id as "orderId", '' as "orderName", o.lease_owner as owner,
       o.units, o.amount_cents::integer as "amountCents", o.parts, o.captures, o.basis,
       case when r.sold ? 'orderIds' then jsonb_build_object('orderIds', jsonb_build_array(o.order_id)) else r.sold end as sold`,
    [bulkRefundId, lease.owner, lease.forMs],
  );

type HeldOrder = Pick<BulkRefundOrder, "bulkRefundId" | "orderId" | "owner">;

/**
 * Renews the lease of an order, before each step.
 * @param basis the hash of what the parts are planned on, for the first part
 * @returns false if this owner has lost the lease: nothing may be done
 */
export const holdOrder = (
  sql: Sql,
  { bulkRefundId, orderId, owner }: HeldOrder,
  forMs: number,
  basis: string | null = null,
): Promise<boolean> =>
  hasRows(
    sql,
    `update giftcard_bulk_refund_order set lease_until = now() + ${sqlInterval("$4")}, updated_at = now(), basis = coalesce($5, basis)
     where bulk_refund_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open' returning 1`,
    [bulkRefundId, orderId, owner, forMs, basis],
  );

/** Records how an order ended: it is refunded, or needs a person's decision. */
export async function endOrder(
  sql: Sql,
  { bulkRefundId, orderId, owner }: HeldOrder,
  state: "done" | "person",
  why: readonly Reason[] | null = null,
): Promise<void> {
  await sql(
    `update giftcard_bulk_refund_order set state = $4, why = $5::jsonb, lease_owner = null, lease_until = null, updated_at = now()
     where bulk_refund_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open'`,
    [bulkRefundId, orderId, owner, state, why && JSON.stringify(why)],
  );
}

export const openBulkRefunds = (sql: Sql): Promise<string[]> =>
  readTexts(
    sql,
    `select id from giftcard_bulk_refund r where exists (
       select 1 from giftcard_bulk_refund_order where bulk_refund_id = r.id and state = 'open') order by created_at, id`,
    [],
  );

export const readBulkRefunds = (sql: Sql, { id }: { id?: string } = {}): Promise<BulkRefundReport[]> =>
  readRows(
    sql,
    `select r.id, r.title, r.sold, r.actor, r.created_at as "createdAt", coalesce(sum(o.amount_cents), 0)::float8 as "amountCents",
       count(*) filter (where o.state = 'open')::integer as open, count(*) filter (where o.state = 'done')::integer as done,
       coalesce(sum(o.amount_cents) filter (where o.state = 'done'), 0)::float8 as "doneCents",
       coalesce(json_agg(json_build_object('orderId', o.order_id, 'orderName', '#' || placed.display_id,
         'amountCents', o.amount_cents, 'why', o.why) order by placed.display_id) filter (where o.state = 'person'), '[]') as waiting,
       (select coalesce(jsonb_agg(one order by at), '[]') from jsonb_array_elements(r.refused) with ordinality as listed (one, at)
         where at <= ${REFUSED_SHOWN}) as refused, jsonb_array_length(r.refused) as "refusedCount"
     from (select id, title, actor, created_at, refused, case when sold ? 'orderIds' then '{"orderIds": []}'::jsonb else sold end as sold
       from giftcard_bulk_refund where $1::text is null or id = $1 order by created_at desc, id limit ${REPORTS_SHOWN}) r
     left join giftcard_bulk_refund_order o on o.bulk_refund_id = r.id
     left join "order" placed on placed.id = o.order_id
     group by r.id, r.title, r.sold, r.actor, r.refused, r.created_at order by r.created_at desc, r.id`,
    [id ?? null],
  );
