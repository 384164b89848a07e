import type { OrderLine } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { MathBN } from "@medusajs/framework/utils";
import { centsSql, toCents } from "../amount.js";
import { PROVIDER_ID, REFUND_AHEAD, REFUND_UNITS, unitsOfRefund } from "../names.js";
import { readRow } from "../rows.js";
import { type BookedItem, ITEMS } from "./order-items.js";
import { isRecordedSql, paymentsOf, sumOf } from "./payments.js";

export interface OpenPayment {
  readonly id: string;
  readonly sessionId: string;
  readonly providerId: string;
  readonly isGiftcard: boolean;
  readonly capturedCents: number;
  readonly leftCents: number;
  /** Authorized, and neither captured nor canceled. A capture that was begun and never finished doesn't count. */
  readonly uncapturedCents: number;
  /**
   * The rest of another method's payment of which a part is captured. Its method may hold it, or may have released it, so a
   * refund never captures it.
   */
  readonly restCents: number;
}

export interface BookedRefund {
  readonly id: string;
  readonly cents: number;
  readonly createdAt: string;
  /** How many units of each line are back once this refund is made, by the line's id; null if the refund names no units. */
  readonly units: ReadonlyMap<string, number> | null;
  /**
   * How much of it wasn't owed yet. If it names units, a person chose that on the order's page, since a card takes back only
   * whole charges. Otherwise Medusa waived as much in the order.
   */
  readonly aheadCents: number;
  /** The amount that Medusa waived in the order for this refund, in major units. */
  readonly waived: string;
}

/** The data that an order's refunds depend on, as recorded by Medusa and the plugin. */
export interface RefundableOrder {
  readonly orderId: string;
  readonly orderName: string;
  /** null if the order never was a cart. */
  readonly cartId: string | null;
  readonly isCanceled: boolean;
  readonly placedCents: number;
  /** The amount that the customer has to pay according to Medusa, in major units. Below 0, the order owes. */
  readonly pending: string;
  /**
   * The amount that staff or an integration settled beside payments and refunds: credit lines that neither Medusa nor the
   * plugin wrote, and transactions. Above 0, the customer doesn't have to pay it; below 0, the customer has it already.
   */
  readonly settledCents: number;
  /** Oldest first. */
  readonly payments: readonly OpenPayment[];
  /** Oldest first. */
  readonly refunds: readonly BookedRefund[];
  /** Whether Medusa has begun a refund that the order doesn't have yet. */
  readonly isRefunding: boolean;
  /** Whether such a refund is by another method: nobody knows whether it was made. */
  readonly isUndecided: boolean;
  /** Whether a credit line of it was begun and never confirmed. */
  readonly hasBegunLine: boolean;
  readonly items: readonly BookedItem[];
  /** In whole cents, as they were recorded; null if nobody has yet. */
  readonly lines: readonly OrderLine[] | null;
  /** Whether a return was requested that isn't received yet. */
  readonly awaitsReturn: boolean;
  /** Whether something was added to it, or its shipping changed, after it was placed. */
  readonly isExtended: boolean;
}

/** The reference of the credit lines with which the plugin keeps Medusa's books at the cents that it owes. */
export const BALANCE_REFERENCE = "giftcard_balance";

/** The amount that the customer has to pay according to a summary, in major units. */
const pendingOf = (summary: string) =>
  `coalesce(${summary}.totals -> 'raw_pending_difference' ->> 'value', ${summary}.totals ->> 'pending_difference', '0')`;

/**
 * The version of the order `o` with the cart `cart` that its customer paid. Draft orders have versions before it: the last one that was
 * confirmed before a payment of it was captured.
 */
const PLACED_VERSION = `case when cart.cart_id is not null then 1 else coalesce((select max(change.version) from order_change change
  where change.order_id = o.id and change.status = 'confirmed' and change.deleted_at is null
    and change.confirmed_at <= (select min(c.created_at) from ${paymentsOf("o.id")}
      join capture c on c.payment_id = p.id and c.deleted_at is null)), 1) end`;

/**
 * The amount that Medusa waived for the refund `r` of the payment `p`: the first credit line after it, if Medusa asked for money
 * then (it never asks for a cent or less), and if the line has the names that Medusa gives it. Recovery's line names its refund.
 */
const WAIVED = `coalesce((select (line.raw_amount ->> 'value')::numeric
  from order_change change join order_change_action line on line.order_change_id = change.id
    and line.action = 'CREDIT_LINE_ADD' and line.deleted_at is null
  left join order_summary before on before.order_id = o.id and before.version = change.version - 1 and before.deleted_at is null
  where change.order_id = o.id and change.change_type = 'credit_line' and change.status = 'confirmed' and change.deleted_at is null
    and case when line.reference = 'refund' then line.reference_id = r.id
      else change.created_at >= r.created_at and (line.raw_amount ->> 'value')::numeric between 0 and (r.raw_amount ->> 'value')::numeric
        and (${pendingOf("before")}::numeric > 0 or (line.raw_amount ->> 'value')::numeric <= 0.01)
        and (line.reference, line.reference_id) = (coalesce(reason.label, 'payment_collection'), coalesce(reason.code, line.reference_id))
        and (reason.id is not null or line.reference_id in (select payment_collection_id from order_payment_collection
          where order_id = o.id and deleted_at is null))
        and not exists (select from refund later join payment other on other.id = later.payment_id
          join order_payment_collection pays on pays.payment_collection_id = other.payment_collection_id and pays.deleted_at is null
          where pays.order_id = o.id and later.deleted_at is null and later.created_at > r.created_at
            and later.created_at <= change.created_at) end
  order by change.version limit 1), 0)`;

/** The credit lines of the order `o` in a version, without the plugin's own, in major units. Medusa copies them into each version. */
const creditLines = (
  version: string,
) => `(select coalesce(sum((raw_amount ->> 'value')::numeric), 0) from order_credit_line
  where order_id = o.id and version = ${version} and deleted_at is null and reference is distinct from '${BALANCE_REFERENCE}')`;

/** The transactions of the order `o` that are no capture or refund of its payments, in major units. */
const OTHER_TRANSACTIONS = `(select coalesce(sum((t.raw_amount ->> 'value')::numeric), 0) from order_transaction t
  where t.order_id = o.id and t.deleted_at is null and not exists (select from ${paymentsOf("o.id")}
    where t.reference_id = p.id or exists (select from capture where id = t.reference_id and payment_id = p.id)
      or exists (select from refund where id = t.reference_id and payment_id = p.id)))`;

/** The captures of the payment `p`, without one that Medusa began and never finished: its process died. */
const CAPTURED = `(select coalesce(sum((c.raw_amount ->> 'value')::numeric), 0) from capture c
  where c.payment_id = p.id and c.deleted_at is null
    and (p.captured_at is not null or ${isRecordedSql("c.id", "p.id", "'capture'", "l.order_id")}))`;

const PAYMENTS = `
select json_agg(json_build_object('id', p.id, 'session', p.payment_session_id, 'provider', p.provider_id,
    'captured', ${centsSql(CAPTURED)}::integer,
    'refunded', ${centsSql(`coalesce(${sumOf("refund")}, 0)`)}::integer,
    'amount', case when p.canceled_at is null then ${centsSql("(p.raw_amount ->> 'value')::numeric")}::integer else 0 end)
  order by p.created_at, p.id) as all
from ${paymentsOf("o.id")}`;

const REFUNDS = `
select json_agg(json_build_object('id', r.id, 'cents', ${centsSql("(r.raw_amount ->> 'value')::numeric")}::integer,
    'createdAt', r.created_at, 'units', r.metadata -> '${REFUND_UNITS}',
    'ahead', (r.metadata ->> '${REFUND_AHEAD}')::integer, 'waived', ${WAIVED}::text)
  order by r.created_at, r.id) as all
from ${paymentsOf("o.id")} join refund r on r.payment_id = p.id and r.deleted_at is null
left join refund_reason reason on reason.id = r.refund_reason_id`;

/** Whether the order `o` lacks a refund of its payments, for a statement. */
const lacksRefund = (payments = "true") => `exists (select from ${paymentsOf("o.id")}
  join refund r on r.payment_id = p.id and r.deleted_at is null
  where ${payments} and not ${isRecordedSql("r.id", "p.id", "'refund'", "o.id")})`;

const EXTENDED = `exists (select from order_change_action action join order_change change on change.id = action.order_change_id
  where change.order_id = o.id and change.status = 'confirmed' and change.deleted_at is null and action.deleted_at is null
    and action.action in ('ITEM_ADD', 'ITEM_UPDATE', 'SHIPPING_ADD', 'SHIPPING_UPDATE', 'SHIPPING_REMOVE'))`;

interface Row extends Omit<RefundableOrder, "settledCents" | "payments" | "refunds"> {
  readonly settled: string;
  readonly payments: {
    id: string;
    session: string;
    provider: string;
    captured: number;
    refunded: number;
    amount: number;
  }[];
  readonly refunds: (Omit<BookedRefund, "units" | "aheadCents"> & { units: unknown; ahead: number | null })[];
}

/** Reads what the customer has to pay according to Medusa, in major units. Below 0, the order owes. */
export async function readPending(sql: Sql, orderId: string): Promise<{ pending: string; isCanceled: boolean }> {
  const row = await readRow<{ pending: string; isCanceled: boolean }>(
    sql,
    `select ${pendingOf("summary")} as pending, o.status = 'canceled' as "isCanceled" from "order" o
     left join order_summary summary on summary.order_id = o.id and summary.version = o.version and summary.deleted_at is null
     where o.id = $1 and o.deleted_at is null`,
    [orderId],
  );
  return row ?? { pending: "0", isCanceled: false };
}

/** Reads what decides about an order's refunds; null if there is no such order. */
export async function readRefundable(sql: Sql, orderId: string): Promise<RefundableOrder | null> {
  const row = await readRow<Row>(
    sql,
    `select o.id as "orderId", '#' || o.display_id as "orderName", cart.cart_id as "cartId",
       o.canceled_at is not null as "isCanceled", fact.lines, coalesce(item.all, '[]') as items,
       coalesce(payment.all, '[]') as payments, coalesce(refund.all, '[]') as refunds, ${EXTENDED} as "isExtended",
       ${lacksRefund()} as "isRefunding", ${lacksRefund(`p.provider_id <> '${PROVIDER_ID}'`)} as "isUndecided",
       exists (select from order_change where order_id = o.id and change_type = 'credit_line'
         and status in ('pending', 'requested') and deleted_at is null) as "hasBegunLine",
       exists (select from order_item now where now.order_id = o.id and now.version = o.version and now.deleted_at is null
         and now.return_requested_quantity > 0) as "awaitsReturn",
       ${pendingOf("summary")} as pending,
       (${creditLines("o.version")} - ${creditLines("start.version")} + ${OTHER_TRANSACTIONS})::text as settled, coalesce(
         fact.total_cents, ${centsSql("(placed.totals -> 'raw_current_order_total' ->> 'value')::numeric")}, 0)::integer as "placedCents"
     from "order" o
     left join order_summary summary on summary.order_id = o.id and summary.version = o.version and summary.deleted_at is null
     left join giftcard_order fact on fact.order_id = o.id
     left join lateral (select cart_id from order_cart where order_id = o.id and deleted_at is null limit 1) cart on true
     cross join lateral (select ${PLACED_VERSION} as version) start
     left join order_summary placed on placed.order_id = o.id and placed.version = start.version and placed.deleted_at is null
     left join lateral (${ITEMS}) item on true
     left join lateral (${PAYMENTS}) payment on true
     left join lateral (${REFUNDS}) refund on true
     where o.id = $1 and o.deleted_at is null`,
    [orderId],
  );
  return row && toRefundable(row);
}

function toRefundable({ settled, payments, refunds, ...order }: Row): RefundableOrder {
  const waived = refunds.map((refund) => refund.waived);
  return {
    ...order,
    settledCents: toCents(MathBN.sub(settled, MathBN.sum(0, ...waived))),
    payments: payments.map(({ id, session, provider, captured, refunded, amount }) => {
      const isGiftcard = provider === PROVIDER_ID;
      const openCents = Math.max(0, amount - captured);
      const isPartial = captured > 0 && !isGiftcard;
      return {
        ...{ id, sessionId: session, providerId: provider, isGiftcard, capturedCents: captured },
        leftCents: Math.max(0, captured - refunded),
        uncapturedCents: isPartial ? 0 : openCents,
        restCents: isPartial ? openCents : 0,
      };
    }),
    refunds: refunds.map(({ units, ahead, ...refund }) => {
      const named = unitsOfRefund(units);
      const aheadCents = named ? (ahead ?? 0) : toCents(refund.waived);
      return { ...refund, units: named, aheadCents: Math.min(aheadCents, refund.cents) };
    }),
  };
}

/** A refund of a payment as Medusa writes it down before it calls the provider. */
export interface WrittenRefund {
  readonly id: string;
  /** In major units, possibly with fractions of a cent. */
  readonly amount: string;
  readonly metadata: unknown;
}

/**
 * Reads the amount of this session's payment, and the refunds that Medusa has written down for it, oldest first; null if
 * there is no payment.
 */
export const readRefunds = (
  sql: Sql,
  sessionId: string,
): Promise<{ amount: string; refunds: WrittenRefund[] } | null> =>
  readRow(
    sql,
    `select amount::text, (select coalesce(json_agg(json_build_object('id', id, 'amount', amount::text, 'metadata', metadata)
         order by created_at, id), '[]') from refund where payment_id = p.id and deleted_at is null) as refunds
     from payment p where payment_session_id = $1 and deleted_at is null`,
    [sessionId],
  );
