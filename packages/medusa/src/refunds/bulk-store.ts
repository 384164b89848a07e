import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import type { Sold } from "../medusa-tables/sold-items.js";
import type { RefundPart } from "./order-refund.js";

/** One order's part of a refund of many. */
export interface PlannedOrder {
  readonly orderId: string;
  readonly orderName: string;
  /** How many units of each line are back once it is refunded, by the line's id. */
  readonly units: Readonly<Record<string, number>>;
  readonly amountCents: number;
  readonly parts: readonly RefundPart[];
}

/** An order that has it, and can't be refunded so. */
export interface RefusedOrder {
  readonly orderId: string;
  readonly orderName: string;
  readonly amountCents: number;
  /** In words, with what to do. */
  readonly why: string;
}

/** What a refund of many orders would do. */
export interface BulkRefundPlan {
  readonly sold: Sold;
  /** What people call it; the person who confirms types it. */
  readonly title: string;
  readonly orders: readonly PlannedOrder[];
  readonly refused: readonly RefusedOrder[];
  readonly amountCents: number;
  /** By payment method, cards first. */
  readonly sums: readonly { readonly providerId: string; readonly isCard: boolean; readonly cents: number }[];
}

/** One order of a bulk refund, as it stands. */
export interface BulkRefundOrder extends PlannedOrder {
  readonly bulkRefundId: string;
  readonly sold: Sold;
  /** Who works on it now. */
  readonly owner: string;
  /** By what the parts were planned when the first of them was begun; null before. */
  readonly basis: string | null;
}

/** How far a bulk refund has come. */
export interface BulkRefundReport {
  readonly id: string;
  readonly title: string;
  /** Of whole orders, without their ids. */
  readonly sold: Sold;
  readonly actor: string;
  readonly createdAt: Date;
  readonly open: number;
  readonly done: number;
  readonly doneCents: number;
  readonly amountCents: number;
  /** What a person has to look at, with why. */
  readonly waiting: readonly {
    readonly orderId: string;
    readonly orderName: string;
    readonly amountCents: number;
    readonly why: string;
  }[];
}

/** Writes a bulk refund and its orders, all of them or none. @returns false where another bulk refund has one of the orders */
export async function writeBulkRefund(
  sql: Sql,
  id: string,
  plan: BulkRefundPlan,
  actor: string,
): Promise<boolean> {
  const orders = plan.orders.map(({ orderId, units, amountCents, parts }) => ({
    ...{ order_id: orderId, units, amount_cents: amountCents, parts },
  }));
  const write = sql(
    `with bulk_refund as (insert into giftcard_bulk_refund (id, title, sold, actor) values ($1, $2, $3::jsonb, $4) returning id)
     insert into giftcard_bulk_refund_order (bulk_refund_id, order_id, units, amount_cents, parts)
     select bulk_refund.id, planned.order_id, planned.units, planned.amount_cents, planned.parts
     from bulk_refund, jsonb_to_recordset($5::jsonb) as planned (order_id text, units jsonb, amount_cents bigint, parts jsonb)`,
    [id, plan.title, JSON.stringify(plan.sold), actor, JSON.stringify(orders)],
  );
  return write.then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === "23505") return false;
      throw error;
    },
  );
}

/**
 * Whether a bulk refund has the order now, or a person has left it as it was.
 *
 * @param except a bulk refund that doesn't count
 */
export async function isHeld(sql: Sql, orderId: string, except?: string): Promise<boolean> {
  const rows = await sql(
    "select 1 from giftcard_bulk_refund_order where order_id = $1 and bulk_refund_id is distinct from $2 and state <> 'done' limit 1",
    [orderId, except ?? null],
  );
  return rows.length > 0;
}

/** Takes the next order of a bulk refund that nobody is at; null where none is left. */
export async function claimOrder(
  sql: Sql,
  bulkRefundId: string,
  lease: { readonly owner: string; readonly forMs: number },
): Promise<BulkRefundOrder | null> {
  const [row] = await sql(
    `update giftcard_bulk_refund_order o set lease_owner = $2, lease_until = now() + ${sqlInterval("$3")}, updated_at = now()
     from giftcard_bulk_refund r where r.id = o.bulk_refund_id and o.bulk_refund_id = $1 and o.order_id = (
       select order_id from giftcard_bulk_refund_order where bulk_refund_id = $1 and state = 'open'
         and (lease_until is null or lease_until <= now()) order by order_id limit 1 for update skip locked
     ) returning o.*, case when r.sold ? 'orderIds' then jsonb_build_object('orderIds', jsonb_build_array(o.order_id))
       else r.sold end as sold`,
    [bulkRefundId, lease.owner, lease.forMs],
  );
  if (!row) return null;
  return {
    ...{
      bulkRefundId,
      orderId: String(row.order_id),
      orderName: "",
      sold: row.sold as Sold,
      owner: lease.owner,
    },
    units: row.units as BulkRefundOrder["units"],
    amountCents: Number(row.amount_cents),
    parts: row.parts as BulkRefundOrder["parts"],
    basis: row.basis as string | null,
  };
}

type HeldOrder = Pick<BulkRefundOrder, "bulkRefundId" | "orderId" | "owner">;

/**
 * Holds an order for longer, before each step.
 *
 * @param basis by what the parts are planned, if it is the first of them
 * @returns false if it isn't this owner's any more: then nothing may be done
 */
export async function holdOrder(
  sql: Sql,
  { bulkRefundId, orderId, owner }: HeldOrder,
  forMs: number,
  basis: string | null = null,
): Promise<boolean> {
  const rows = await sql(
    `update giftcard_bulk_refund_order set lease_until = now() + ${sqlInterval("$4")}, updated_at = now(), basis = coalesce($5, basis)
     where bulk_refund_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open' returning 1`,
    [bulkRefundId, orderId, owner, forMs, basis],
  );
  return rows.length === 1;
}

/** Writes down how an order ended: it is refunded, or a person has to look. */
export async function endOrder(
  sql: Sql,
  { bulkRefundId, orderId, owner }: HeldOrder,
  state: "done" | "person",
  why: string | null = null,
): Promise<void> {
  await sql(
    `update giftcard_bulk_refund_order set state = $4, why = $5, lease_owner = null, lease_until = null, updated_at = now()
     where bulk_refund_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open'`,
    [bulkRefundId, orderId, owner, state, why],
  );
}

/** Runs that aren't over, oldest first. */
export async function openBulkRefunds(sql: Sql): Promise<string[]> {
  const rows = await sql(
    `select id from giftcard_bulk_refund r where exists (
       select 1 from giftcard_bulk_refund_order where bulk_refund_id = r.id and state = 'open') order by created_at, id`,
    [],
  );
  return rows.map((row) => String(row.id));
}

/** The newest bulk refunds. */
export async function readBulkRefunds(
  sql: Sql,
  { id, limit = 20 }: { id?: string; limit?: number } = {},
): Promise<BulkRefundReport[]> {
  const rows = await sql(
    `select r.id, r.title, r.sold, r.actor, r.created_at, sum(o.amount_cents)::bigint as amount_cents,
       count(*) filter (where o.state = 'open')::integer as open, count(*) filter (where o.state = 'done')::integer as done,
       coalesce(sum(o.amount_cents) filter (where o.state = 'done'), 0)::bigint as done_cents,
       coalesce(json_agg(json_build_object('orderId', o.order_id, 'orderName', '#' || placed.display_id,
         'amountCents', o.amount_cents, 'why', o.why) order by placed.display_id) filter (where o.state = 'person'), '[]') as waiting
     from (select id, title, actor, created_at, case when sold ? 'orderIds' then '{"orderIds": []}'::jsonb else sold end as sold
       from giftcard_bulk_refund where $1::text is null or id = $1 order by created_at desc, id limit $2) r
     left join giftcard_bulk_refund_order o on o.bulk_refund_id = r.id
     left join "order" placed on placed.id = o.order_id
     group by r.id, r.title, r.sold, r.actor, r.created_at order by r.created_at desc, r.id`,
    [id ?? null, limit],
  );
  return rows.map((row) => ({
    ...{ id: String(row.id), title: String(row.title), sold: row.sold as Sold, actor: String(row.actor) },
    createdAt: new Date(row.created_at as string),
    ...{ open: Number(row.open), done: Number(row.done), doneCents: Number(row.done_cents) },
    amountCents: Number(row.amount_cents ?? 0),
    waiting: row.waiting as BulkRefundReport["waiting"],
  }));
}
