import { type RunSql, sqlInterval } from "@giftcard-pay/checkout";
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
export interface RunPlan {
  readonly sold: Sold;
  /** What people call it; the person who confirms types it. */
  readonly title: string;
  readonly orders: readonly PlannedOrder[];
  readonly refused: readonly RefusedOrder[];
  readonly amountCents: number;
  /** By payment method, cards first. */
  readonly sums: readonly { readonly providerId: string; readonly isCard: boolean; readonly cents: number }[];
}

/** One order of a run, as it stands. */
export interface RunOrder extends PlannedOrder {
  readonly runId: string;
  readonly sold: Sold;
  /** Who works on it now. */
  readonly owner: string;
  /** By what the parts were planned when the first of them was begun; null before. */
  readonly basis: string | null;
}

/** How far a run has come. */
export interface RunReport {
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

/** Writes a run and its orders, all of them or none. @returns false where another run has one of the orders */
export async function writeRun(run: RunSql, id: string, plan: RunPlan, actor: string): Promise<boolean> {
  const orders = plan.orders.map(({ orderId, units, amountCents, parts }) => ({
    ...{ order_id: orderId, units, amount_cents: amountCents, parts },
  }));
  const write = run(
    `with run as (insert into giftcard_refund_run (id, title, sold, actor) values ($1, $2, $3::jsonb, $4) returning id)
     insert into giftcard_refund_order (run_id, order_id, units, amount_cents, parts)
     select run.id, planned.order_id, planned.units, planned.amount_cents, planned.parts
     from run, jsonb_to_recordset($5::jsonb) as planned (order_id text, units jsonb, amount_cents bigint, parts jsonb)`,
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
 * Whether a run has the order now, or a person has left it as it was.
 *
 * @param except a run that doesn't count
 */
export async function isHeld(run: RunSql, orderId: string, except?: string): Promise<boolean> {
  const rows = await run(
    "select 1 from giftcard_refund_order where order_id = $1 and run_id is distinct from $2 and state <> 'done' limit 1",
    [orderId, except ?? null],
  );
  return rows.length > 0;
}

/** Takes the next order of a run that nobody is at; null where none is left. */
export async function claimOrder(
  run: RunSql,
  runId: string,
  lease: { readonly owner: string; readonly forMs: number },
): Promise<RunOrder | null> {
  const [row] = await run(
    `update giftcard_refund_order o set lease_owner = $2, lease_until = now() + ${sqlInterval("$3")}, updated_at = now()
     from giftcard_refund_run r where r.id = o.run_id and o.run_id = $1 and o.order_id = (
       select order_id from giftcard_refund_order where run_id = $1 and state = 'open'
         and (lease_until is null or lease_until <= now()) order by order_id limit 1 for update skip locked
     ) returning o.*, case when r.sold ? 'orderIds' then jsonb_build_object('orderIds', jsonb_build_array(o.order_id))
       else r.sold end as sold`,
    [runId, lease.owner, lease.forMs],
  );
  if (!row) return null;
  return {
    ...{ runId, orderId: String(row.order_id), orderName: "", sold: row.sold as Sold, owner: lease.owner },
    units: row.units as RunOrder["units"],
    amountCents: Number(row.amount_cents),
    parts: row.parts as RunOrder["parts"],
    basis: row.basis as string | null,
  };
}

type HeldOrder = Pick<RunOrder, "runId" | "orderId" | "owner">;

/**
 * Holds an order for longer, before each step.
 *
 * @param basis by what the parts are planned, if it is the first of them
 * @returns false if it isn't this owner's any more: then nothing may be done
 */
export async function holdOrder(
  run: RunSql,
  { runId, orderId, owner }: HeldOrder,
  forMs: number,
  basis: string | null = null,
): Promise<boolean> {
  const rows = await run(
    `update giftcard_refund_order set lease_until = now() + ${sqlInterval("$4")}, updated_at = now(), basis = coalesce($5, basis)
     where run_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open' returning 1`,
    [runId, orderId, owner, forMs, basis],
  );
  return rows.length === 1;
}

/** Writes down how an order ended: it is refunded, or a person has to look. */
export async function endOrder(
  run: RunSql,
  { runId, orderId, owner }: HeldOrder,
  state: "done" | "person",
  why: string | null = null,
): Promise<void> {
  await run(
    `update giftcard_refund_order set state = $4, why = $5, lease_owner = null, lease_until = null, updated_at = now()
     where run_id = $1 and order_id = $2 and lease_owner = $3 and state = 'open'`,
    [runId, orderId, owner, state, why],
  );
}

/** Runs that aren't over, oldest first. */
export async function openRuns(run: RunSql): Promise<string[]> {
  const rows = await run(
    `select id from giftcard_refund_run r where exists (
       select 1 from giftcard_refund_order where run_id = r.id and state = 'open') order by created_at, id`,
    [],
  );
  return rows.map((row) => String(row.id));
}

/** The newest runs. */
export async function readRuns(
  run: RunSql,
  { id, limit = 20 }: { id?: string; limit?: number } = {},
): Promise<RunReport[]> {
  const rows = await run(
    `select r.id, r.title, r.sold, r.actor, r.created_at, sum(o.amount_cents)::bigint as amount_cents,
       count(*) filter (where o.state = 'open')::integer as open, count(*) filter (where o.state = 'done')::integer as done,
       coalesce(sum(o.amount_cents) filter (where o.state = 'done'), 0)::bigint as done_cents,
       coalesce(json_agg(json_build_object('orderId', o.order_id, 'orderName', '#' || placed.display_id,
         'amountCents', o.amount_cents, 'why', o.why) order by placed.display_id) filter (where o.state = 'person'), '[]') as waiting
     from (select id, title, actor, created_at, case when sold ? 'orderIds' then '{"orderIds": []}'::jsonb else sold end as sold
       from giftcard_refund_run where $1::text is null or id = $1 order by created_at desc, id limit $2) r
     left join giftcard_refund_order o on o.run_id = r.id
     left join "order" placed on placed.id = o.order_id
     group by r.id, r.title, r.sold, r.actor, r.created_at order by r.created_at desc, r.id`,
    [id ?? null, limit],
  );
  return rows.map((row) => ({
    ...{ id: String(row.id), title: String(row.title), sold: row.sold as Sold, actor: String(row.actor) },
    createdAt: new Date(row.created_at as string),
    ...{ open: Number(row.open), done: Number(row.done), doneCents: Number(row.done_cents) },
    amountCents: Number(row.amount_cents ?? 0),
    waiting: row.waiting as RunReport["waiting"],
  }));
}
