import { centsSql } from "../../../scripts/shops/whole-cents.mjs";
import { readCards } from "../books/issuer.js";
import { type PaymentBooks, readPayments } from "../books/medusa.js";
import type { Held } from "../faults/medusa/bank.js";
import type { Round } from "./round.js";
import type { Stage } from "./stage.js";

export interface OrderBooks {
  readonly id: string;
  readonly cart_id: string;
  readonly is_canceled: boolean;
  /** Whether an edit or a return was confirmed. */
  readonly is_changed: boolean;
  /** The total when placed, followed by its highest and lowest value so far. */
  readonly placed: number;
  readonly highest: number;
  readonly lowest: number;
  /** The amounts in the order's summary. */
  readonly paid: number;
  readonly refunded: number;
  /** The sums of the order's transactions. */
  readonly bookedPaid: number;
  readonly bookedRefunded: number;
}

export interface ChargeBooks {
  readonly reference: string;
  readonly cart_id: string;
  readonly tender_id: string;
  readonly external_id: string;
  readonly order_id: string | null;
  readonly state: string;
  readonly last_four: string;
  readonly amount_cents: number;
  readonly deducted_cents: number | null;
  readonly reason: string | null;
  /** The Medusa refund that the charge was reversed for. */
  readonly refund_id: string | null;
}

/** A refund of a gift card payment in Medusa. */
export interface CardRefundBooks {
  readonly id: string;
  readonly cart_id: string;
  readonly cents: number;
}

/** The records of Medusa, the journal, the bank and the service about a round's carts. Amounts are in cents. */
export interface Books {
  readonly carts: readonly { readonly id: string; readonly is_completed: boolean }[];
  readonly orders: readonly OrderBooks[];
  readonly payments: readonly PaymentBooks[];
  readonly charges: readonly ChargeBooks[];
  readonly cardRefunds: readonly CardRefundBooks[];
  readonly tenders: readonly { readonly id: string; readonly cart_id: string; readonly state: string }[];
  readonly leases: readonly string[];
  /** Payments that the bank has promised for later. */
  readonly pending: readonly { readonly cart_id: string; readonly cents: number }[];
  readonly bank: readonly Held[];
  /** The cents that the service took from each card, minus what it returned. */
  readonly takenCents: readonly number[];
}

const total = (name: string) => `coalesce(${centsSql(`(totals->>'${name}')::numeric`)}, 0)`;

/**
 * An earlier transaction of the order for the same capture of the bank. If a webhook and a completion write the capture
 * at the same time, each in a process with its own lock, Medusa records it twice.
 */
const TWIN = `select 1 from order_transaction twin join capture on capture.id = twin.reference_id
  join payment on payment.id = capture.payment_id and payment.provider_id <> 'pp_giftcard_giftcard'
  where twin.order_id = entry.order_id and twin.reference_id = entry.reference_id and twin.id < entry.id
    and twin.deleted_at is null`;

/** Reads the books of Medusa, the journal, the bank and the service. */
export async function readBooks({ world }: Stage, { carts, cards }: Round): Promise<Books> {
  const ids = carts.map(({ id }) => id);
  const read = async (sql: string) => (await world.shopBooks.query(sql, [ids])).rows;
  const [cartRows, orders, payments, charges, cardRefunds, tenders, leases, pending] = await Promise.all([
    read("select id, completed_at is not null as is_completed from cart where id = any($1) order by id"),
    read(`select o.id, link.cart_id, o.status = 'canceled' as is_canceled,
        (select count(*) from order_change where order_id = o.id and status = 'confirmed' and deleted_at is null) > 0 as is_changed,
        first.*, latest.*, booked.*
      from order_cart link join "order" o on o.id = link.order_id and o.deleted_at is null
      cross join lateral (select ${total("current_order_total")} as placed from order_summary
        where order_id = o.id and deleted_at is null order by version limit 1) first
      cross join lateral (select max(${total("current_order_total")}) over () as highest,
        min(${total("current_order_total")}) over () as lowest, ${total("paid_total")} as paid,
        ${total("refunded_total")} as refunded from order_summary
        where order_id = o.id and deleted_at is null order by version desc limit 1) latest
      cross join lateral (select coalesce(${centsSql("sum(greatest(amount, 0))")}, 0) as "bookedPaid",
        coalesce(${centsSql("sum(greatest(-amount, 0))")}, 0) as "bookedRefunded" from order_transaction entry
        where order_id = o.id and deleted_at is null and not exists (${TWIN})) booked
      where link.cart_id = any($1) and link.deleted_at is null order by o.id`),
    readPayments(world.shopBooks, ids),
    read(`select reference, cart_id, tender_id, external_id, order_id, state, last_four, amount_cents, deducted_cents, reason,
        refund_id from giftcard_charge where cart_id = any($1) order by created_at, position`),
    read(`select r.id, link.cart_id, ${centsSql("r.amount")} as cents from refund r
      join payment p on p.id = r.payment_id and p.provider_id = 'pp_giftcard_giftcard' and p.deleted_at is null
      join cart_payment_collection link on link.payment_collection_id = p.payment_collection_id
      where link.cart_id = any($1) and r.deleted_at is null order by r.id`),
    read("select id, cart_id, state from giftcard_tender where cart_id = any($1) order by id"),
    read("select cart_id from giftcard_cart_lease where cart_id = any($1) and until > now()"),
    read(`select link.cart_id, ${centsSql("s.amount")} as cents from payment_session s
      join cart_payment_collection link on link.payment_collection_id = s.payment_collection_id
      where link.cart_id = any($1) and s.status = 'pending_authorization' and s.deleted_at is null`),
  ]);
  return {
    ...{ carts: cartRows, orders, payments, charges, cardRefunds, tenders, pending },
    leases: leases.map(({ cart_id }) => cart_id),
    bank: world.bank.held().filter(({ cart }) => cart !== undefined && ids.includes(cart)),
    takenCents: (await readCards(world.giftcards, cards)).map((card) => card.issuedCents - card.balanceCents),
  };
}
