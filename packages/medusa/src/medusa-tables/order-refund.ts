import type { OrderLine, RunSql } from "@giftcard-pay/checkout";
import { toCents } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { sumOf } from "./amounts.js";

/** A payment of an order. */
export interface OpenPayment {
  readonly id: string;
  readonly sessionId: string;
  readonly providerId: string;
  readonly isGiftcard: boolean;
  /** Captured and not refunded. */
  readonly leftCents: number;
  /** Authorized, and neither captured nor canceled. */
  readonly uncapturedCents: number;
}

/** What an order has to give back, and what it can give back. */
export interface RefundableOrder {
  readonly orderId: string;
  /** null where the order never was a cart. */
  readonly cartId: string | null;
  /** What Medusa says that the order owes its customer; 0 where it owes nothing. */
  readonly owedCents: number;
  /** Oldest first. */
  readonly payments: readonly OpenPayment[];
  /** As its cards were charged by them; null where they were charged as a whole. */
  readonly lines: readonly OrderLine[] | null;
  /** How many units of each line were sold and aren't any more, by the line's id. */
  readonly returned: ReadonlyMap<string, number>;
  /** Whether a return was requested that isn't received yet: Medusa takes it for owed, and keeps its money in the total. */
  readonly awaitsReturn: boolean;
  /** Whether an edit of it was confirmed. */
  readonly isEdited: boolean;
}

/** What Medusa keeps of an item that isn't the buyer's any more, or won't be. */
const BACK = ["return_requested", "return_received", "return_dismissed", "written_off"]
  .map((what) => `coalesce(now.${what}_quantity, 0)`)
  .join(" - ");

/**
 * What an order has to give back; null where there is no such order.
 *
 * Reads order, order_summary, order_item, order_change, order_cart, order_payment_collection, payment, capture and refund, beside
 * giftcard_order.
 */
export async function readRefundable(run: RunSql, orderId: string): Promise<RefundableOrder | null> {
  const [row] = await run(
    `select cart.cart_id, fact.lines, exists (select from order_change where order_id = o.id and status = 'confirmed'
         and change_type = 'edit' and deleted_at is null) as is_edited,
       exists (select from order_item now where now.order_id = o.id and now.version = o.version and now.deleted_at is null
         and now.return_requested_quantity > 0) as awaits_return, item.all as items, payment.all as payments,
       greatest(0, -coalesce((summary.totals ->> 'pending_difference')::numeric, 0))::text as owed
     from "order" o
     left join order_summary summary on summary.order_id = o.id and summary.version = o.version and summary.deleted_at is null
     left join giftcard_order fact on fact.order_id = o.id
     left join lateral (select cart_id from order_cart where order_id = o.id and deleted_at is null limit 1) cart on true
     left join lateral (
       select json_agg(json_build_object('id', sold.item_id, 'sold', sold.quantity::text,
         'kept', (coalesce(now.quantity, 0) - ${BACK})::text)) as all
       from order_item sold
       left join order_item now on now.order_id = o.id and now.item_id = sold.item_id and now.version = o.version
         and now.deleted_at is null
       where sold.order_id = o.id and sold.version = 1 and sold.deleted_at is null
     ) item on true
     left join lateral (
       select json_agg(json_build_object('id', p.id, 'session', p.payment_session_id, 'provider', p.provider_id,
         'left', (coalesce(${sumOf("capture")}, 0) - coalesce(${sumOf("refund")}, 0))::text, 'uncaptured', case
           when p.canceled_at is null then ((p.raw_amount ->> 'value')::numeric - coalesce(${sumOf("capture")}, 0))::text else '0' end)
         order by p.created_at, p.id) as all
       from order_payment_collection l
       join payment p on p.payment_collection_id = l.payment_collection_id and p.deleted_at is null
       where l.order_id = o.id and l.deleted_at is null
     ) payment on true
     where o.id = $1 and o.deleted_at is null`,
    [orderId],
  );
  if (!row) return null;
  const items = (row.items ?? []) as Record<"id" | "sold" | "kept", string>[];
  const payments = (row.payments ?? []) as Record<
    "id" | "session" | "provider" | "left" | "uncaptured",
    string
  >[];
  return {
    orderId,
    cartId: row.cart_id as string | null,
    owedCents: toCents(String(row.owed)),
    isEdited: row.is_edited === true,
    lines: row.lines as readonly OrderLine[] | null,
    awaitsReturn: row.awaits_return === true,
    returned: new Map(items.map(({ id, sold, kept }) => [id, Math.max(0, Number(sold) - Number(kept))])),
    payments: payments.map(({ id, session, provider, left, uncaptured }) => ({
      ...{ id, sessionId: session, providerId: provider, isGiftcard: provider === PROVIDER_ID },
      leftCents: toCents(left),
      uncapturedCents: toCents(uncaptured),
    })),
  };
}
