import { type Sql, sqlList } from "@giftcard-pay/checkout/plugin";
import { heldStates } from "@giftcard-pay/checkout/store";
import { centsSql, toCents } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { readRows } from "../rows.js";
import { paymentsOf, sumOf } from "./payments.js";

/** An action of a person on an order. Recovery never cancels such an order. */
export type Touch = "fulfilled" | "edited" | "captured" | "refunded" | "completed";

/** A payment that holds or took money, according to Medusa. */
interface HeldPayment {
  readonly id: string;
  readonly isGiftcard: boolean;
  /** The captured amount minus its refunds, in major units; null if nothing was captured. */
  readonly capturedLeft: string | null;
}

/** A payment that paid a part of an order, in whole cents. */
interface PaidPart {
  readonly providerId: string;
  /** The card's last four digits; null for any other method. */
  readonly lastFour: string | null;
  /** Without what was refunded before the order was placed. */
  readonly amountCents: number;
  /** The amount refunded since then, or still owed. */
  readonly refundedCents: number;
}

/** How an order was paid, read at the moment of the call. For gift cards, the journal decides. */
export interface OrderPayment {
  readonly orderId: string;
  /** null if the order never was a cart, or a crash left no link to it. */
  readonly cartId: string | null;
  readonly isCanceled: boolean;
  /** ISO 4217, in lower case. */
  readonly currency: string;
  /** The total now, after edits and returns; null if Medusa doesn't have it. */
  readonly currentTotalCents: number | null;
  /** The total when the order was placed, before any edit; null if Medusa doesn't have it. */
  readonly totalCents: number | null;
  readonly paidAt: Date | null;
  /**
   * Every payment that was ever authorized and not voided, regardless of refunds after the order was placed: cards
   * first, in the order in which they were charged. A payment that was refunded before the order was placed belonged to
   * an earlier attempt, and paid nothing of this order.
   */
  readonly paid: readonly PaidPart[];
  readonly paidCents: number;
  /** The amount that other methods have accepted, and will settle later. */
  readonly pendingCents: number;
  readonly touches: readonly Touch[];
  /** Must be empty for a canceled order. */
  readonly heldPayments: readonly HeldPayment[];
  /** Sessions without a payment. Nobody may pay by them once the order is canceled. */
  readonly openSessionIds: readonly string[];
}

const EDITS = "'edit', 'exchange', 'claim', 'return_request', 'return_receive', 'credit_line'";
/** The refunds of the payment `p` before the order `o` was placed, or since, in major units. */
const refunded = (when: "<" | ">=") => `coalesce((select sum((raw_amount ->> 'value')::numeric) from refund
  where payment_id = p.id and deleted_at is null and created_at ${when} o.created_at), 0)`;
/** The total of the order `o` in a version, in cents. */
const totalOf = (version: string) => `
  select ${centsSql("(totals -> 'raw_current_order_total' ->> 'value')::numeric")} as total_cents from order_summary
  where order_id = o.id and version = ${version} and deleted_at is null limit 1`;
const byPeople = (table: string) =>
  `(select count(*) from ${table} where payment_id = p.id and deleted_at is null and created_by is not null) > 0`;

/**
 * The cart of the order `o`: by Medusa's link, or else the cart of its payment collection, if that cart has no other
 * order. Medusa writes both links at once, so that a crash may leave any of them.
 */
export const ORDER_ORIGIN = `
  select cart_id, true as is_placed from order_cart where order_id = o.id and deleted_at is null
  union all
  select pays.cart_id, false from order_payment_collection ordered
  join cart_payment_collection pays on pays.payment_collection_id = ordered.payment_collection_id and pays.deleted_at is null
  where ordered.order_id = o.id and ordered.deleted_at is null
    and (select count(*) from order_cart where cart_id = pays.cart_id and deleted_at is null) = 0
  limit 1`;

/**
 * Joins by id alone, and counts instead of `exists`, so that PostgreSQL looks at these orders and never scans a
 * table. Medusa keeps a summary for each version of an order. Version 1 is the order as it was placed.
 */
const STATEMENT = `
select o.id as "orderId", cart.cart_id as "cartId", o.currency_code as currency, fact.paid_at as "paidAt",
  (o.canceled_at is not null or o.status = 'canceled') as "isCanceled", coalesce(fact.total_cents, placed.total_cents)::float8 as "totalCents",
  latest.total_cents::float8 as "currentTotalCents", o.status in ('completed', 'archived') as completed,
  coalesce(payment.all, '[]') as payments, coalesce(session.all, '[]') as sessions,
  (select count(*) from order_fulfillment l join fulfillment f on f.id = l.fulfillment_id
    where l.order_id = o.id and l.deleted_at is null and f.canceled_at is null and f.deleted_at is null) > 0 as fulfilled,
  (select count(*) from order_change where order_id = o.id and status = 'confirmed' and deleted_at is null
    and change_type in (${EDITS})) > 0 as edited
from unnest($1::text[]) wanted (id)
cross join lateral (select id, status, currency_code, version, canceled_at, created_at from "order"
  where id = wanted.id and deleted_at is null offset 0) o
left join lateral (${ORDER_ORIGIN}) cart on true
left join lateral (select paid_at, total_cents from giftcard_order where order_id = o.id offset 0) fact on true
left join lateral (${totalOf("1")}) placed on true
left join lateral (${totalOf("o.version")}) latest on true
left join lateral (
  select json_agg(json_build_object('id', p.id, 'provider', p.provider_id, 'amount',
    ((p.raw_amount ->> 'value')::numeric - ${refunded("<")})::text, 'refundedSince', ${refunded(">=")}::text,
    'isCanceled', p.canceled_at is not null, 'refunded', ${sumOf("refund")}::text,
    'wasCaptured', ${byPeople("capture")}, 'wasRefunded', ${byPeople("refund")},
    'left', (${sumOf("capture")} - coalesce(${sumOf("refund")}, 0))::text,
    'isCharged', charge.is_charged, 'lastFour', charge.last_four, 'heldCents', charge.held_cents)
    order by p.created_at, p.id) as all
  from ${paymentsOf("o.id")}
  left join lateral (select bool_and(state in (${sqlList(heldStates)}) or reason = 'refunded') as is_charged,
      min(last_four) as last_four, coalesce(sum(amount_cents) filter (where state in (${sqlList(heldStates)})), 0) as held_cents
    from giftcard_charge where external_id = p.payment_session_id offset 0) charge on true
) payment on true
left join lateral (
  select json_agg(json_build_object('id', s.id, 'status', s.status, 'amount', s.raw_amount ->> 'value')) as all
  from order_payment_collection l
  join payment_session s on s.payment_collection_id = l.payment_collection_id and s.deleted_at is null
  where l.order_id = o.id and l.deleted_at is null
    and (select count(*) from payment where payment_session_id = s.id and deleted_at is null) = 0
) session on true`;

type Facts = "orderId" | "cartId" | "currency" | "paidAt" | "isCanceled" | "totalCents" | "currentTotalCents";

interface Row extends Pick<OrderPayment, Facts>, Record<"fulfilled" | "edited" | "completed", boolean> {
  payments: PaymentRow[];
  sessions: { id: string; status: string; amount: string }[];
}

interface PaymentRow {
  id: string;
  provider: string;
  amount: string;
  isCanceled: boolean;
  refunded: string | null;
  refundedSince: string;
  wasCaptured: boolean;
  wasRefunded: boolean;
  left: string | null;
  /** Whether every charge of it is on its card, or was refunded; null if it has none. */
  isCharged: boolean | null;
  lastFour: string | null;
  /** The amount that the card is charged according to the journal. */
  heldCents: number | null;
}

/** Reads how orders were paid, in one statement. Leaves out orders that don't exist (any more). */
export async function readOrderPayments(sql: Sql, orderIds: readonly string[]): Promise<OrderPayment[]> {
  if (orderIds.length === 0) return [];
  return (await readRows<Row>(sql, STATEMENT, [[...new Set(orderIds)]])).map(toOrderPayment);
}

/** Reads how one order was paid; null if it doesn't exist (any more). */
export async function readOrderPayment(sql: Sql, orderId: string): Promise<OrderPayment | null> {
  return (await readOrderPayments(sql, [orderId]))[0] ?? null;
}

/** Whether the card is charged, or was until a person refunded it. */
const wasCharged = ({ isCharged, refunded }: PaymentRow) => isCharged !== null && (isCharged || refunded !== null);

/** Counts the part of a card payment that the card is no longer charged as refunded, even if Medusa has no refund. */
function toPaidPart(payment: PaymentRow): PaidPart {
  const { provider: providerId, lastFour, heldCents } = payment;
  const amountCents = toCents(payment.amount);
  const isCard = providerId === PROVIDER_ID;
  const refundedCents = isCard
    ? Math.max(0, amountCents - (heldCents ?? 0))
    : Math.min(amountCents, toCents(payment.refundedSince));
  return { providerId, lastFour: isCard ? lastFour : null, amountCents, refundedCents };
}

function toOrderPayment({ payments, sessions, fulfilled, edited, completed, ...order }: Row): OrderPayment {
  const pending = sessions.filter(({ status }) => status === "pending_authorization");
  const paid = payments
    .filter((p) => !p.isCanceled && (p.provider !== PROVIDER_ID || wasCharged(p)))
    .map(toPaidPart)
    .filter(({ amountCents }) => amountCents > 0)
    .sort((a, b) => Number(a.lastFour === null) - Number(b.lastFour === null));
  const isHeld = (p: PaymentRow) => !p.isCanceled && (p.left === null || Number(p.left) > 0);
  const captured = payments.some(({ wasCaptured }) => wasCaptured);
  const refunded = payments.some(({ wasRefunded }) => wasRefunded);
  const touches: Record<Touch, boolean> = { fulfilled, edited, captured, refunded, completed };
  return {
    ...order,
    paid,
    paidCents: paid.reduce((sum, { amountCents }) => sum + amountCents, 0),
    pendingCents: pending.reduce((sum, { amount }) => sum + toCents(amount), 0),
    touches: (Object.keys(touches) as Touch[]).filter((touch) => touches[touch]),
    heldPayments: payments
      .filter(isHeld)
      .map(({ id, provider, left }) => ({ id, isGiftcard: provider === PROVIDER_ID, capturedLeft: left })),
    openSessionIds: sessions.map(({ id }) => id),
  };
}
