import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { chargingStates } from "@giftcard-pay/checkout/store";
import { PLAN } from "../names.js";
import { everyPage } from "./page.js";
import { type PlacedCart, toPlacedCart } from "./placed-cart.js";
import type { Scan } from "./scan.js";
import { stateList } from "./state-list.js";

/**
 * Why an order ends unpaid: nobody paid it; the payment that was to settle later hasn't in all its time (`lapsed`), or
 * its method says that it won't (`declined`). Only the first leaves a promise to pay later in force.
 */
export type UnpaidReason = "unpaid" | "remainder_lapsed" | "remainder_declined";

/** An order that may have to be canceled, because nobody paid it. */
export interface UnpaidOrder extends PlacedCart {
  readonly reason: UnpaidReason;
}

/** Neither written down as paid, nor left as it is by a person. */
const isOpen = (orderId: string) =>
  `(select count(*) from giftcard_order where order_id = ${orderId} and paid_at is not null) = 0
   and (select count(*) from giftcard_unpaid_order where order_id = ${orderId} and kept_at is not null) = 0`;

/**
 * Orders whose cart still holds a gift card that nobody charges now. A completion that ended well leaves none, but for
 * cards that weren't needed; one that died before it had charged the cards, or was voided, leaves them. Beside an order
 * that is paid, only a card that can still be taken off is anybody's affair.
 *
 * Reads order_cart and order, beside the tenders and charges.
 */
export function findCardsBesideOrders({ sql, leaseMs, only }: Scan): Promise<UnpaidOrder[]> {
  const read = (after: string, limit: number) =>
    sql(
      `select distinct placed.order_id, placed.cart_id from giftcard_tender tender
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = tender.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select created_at from "order"
         where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
       where tender.state in ('applied', 'charging') and placed.order_id > $2
         and ($4::text is null or placed.order_id = $4)
         and o.created_at < now() - ${sqlInterval("$1")}
         and (tender.state = 'applied' or (${isOpen("placed.order_id")}))
         and (select count(*) from giftcard_charge charge where charge.cart_id = tender.cart_id
           and charge.state in (${stateList(chargingStates)})) = 0
       order by placed.order_id limit $3`,
      [leaseMs, after, limit, only],
    );
  return everyPlaced(read, "unpaid");
}

/**
 * Orders beside whose cards another method has promised to pay the remainder, and hasn't in all this time.
 *
 * Reads payment_session, order_cart and order, beside giftcard_remainder.
 */
export function findLapsedRemainders({ sql, pendingRemainderLifeMs, only }: Scan): Promise<UnpaidOrder[]> {
  const read = (after: string, limit: number) =>
    sql(
      `select distinct placed.order_id, placed.cart_id from giftcard_remainder remainder
       cross join lateral (select 1 from payment_session
         where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null
           and created_at < now() - ${sqlInterval("$1")} offset 0) session
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select 1 from "order"
         where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
       where placed.order_id > $2 and ($4::text is null or placed.order_id = $4) and ${isOpen("placed.order_id")}
       order by placed.order_id limit $3`,
      [pendingRemainderLifeMs, after, limit, only],
    );
  return everyPlaced(read, "remainder_lapsed");
}

/**
 * Orders that a person canceled while another method had promised to pay the remainder. Medusa cancels payments, and leaves
 * the promise in force: nobody may pay by it any more, and what was paid by it since goes back.
 *
 * Reads order_cart and order, beside giftcard_remainder.
 */
export function findCanceledRemainders({ sql, only }: Scan): Promise<UnpaidOrder[]> {
  const read = (after: string, limit: number) =>
    sql(
      `select distinct placed.order_id, placed.cart_id from giftcard_remainder remainder
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select 1 from "order"
         where id = placed.order_id and canceled_at is not null and deleted_at is null offset 0) o
       where placed.order_id > $1 and ($3::text is null or placed.order_id = $3) and ${isOpen("placed.order_id")}
         and (select count(*) from giftcard_unpaid_order where order_id = placed.order_id) = 0
       order by placed.order_id limit $2`,
      [after, limit, only],
    );
  return everyPlaced(read, "unpaid");
}

async function everyPlaced(
  read: (after: string, limit: number) => Promise<Record<string, unknown>[]>,
  reason: UnpaidReason,
): Promise<UnpaidOrder[]> {
  const rows = await everyPage(read, (row) => String(row.order_id));
  return rows.map((row) => ({ ...toPlacedCart(row), reason }));
}

/**
 * The order that waits for this session's payment beside gift cards, or null.
 *
 * Reads payment_session, order_payment_collection and order_cart.
 */
export async function orderOfPendingSession(sql: Sql, sessionId: string): Promise<PlacedCart | null> {
  const [row] = await sql(
    `select placed.order_id, placed.cart_id from payment_session session
     join order_payment_collection link on link.payment_collection_id = session.payment_collection_id
       and link.deleted_at is null
     join order_cart placed on placed.order_id = link.order_id and placed.deleted_at is null
     where session.id = $1 and session.status = 'pending_authorization' and session.deleted_at is null
       and session.metadata ? '${PLAN}'`,
    [sessionId],
  );
  return row ? toPlacedCart(row) : null;
}

/** Writes down, before it is asked, that a method may pay this cart's remainder later. */
export async function expectRemainder(sql: Sql, sessionId: string, cartId: string): Promise<void> {
  await sql(
    "insert into giftcard_remainder (session_id, cart_id) values ($1, $2) on conflict (session_id) do nothing",
    [sessionId, cartId],
  );
}

/**
 * Forgets remainders that nobody waits for any more.
 *
 * Reads payment_session; writes giftcard_remainder.
 */
export async function forgetRemainders(sql: Sql): Promise<void> {
  await sql(
    `delete from giftcard_remainder remainder where created_at < now() - interval '1 day' and (select count(*)
       from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) = 0`,
    [],
  );
}

/**
 * Remainders that another method has promised to pay beside cards, and hasn't yet.
 *
 * Reads payment_session, beside giftcard_remainder.
 */
export const PENDING_REMAINDERS = `select count(*) from giftcard_remainder remainder where (select count(*)
  from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) > 0`;

/** How many these are. */
export async function countPendingRemainders(sql: Sql): Promise<number> {
  const [row] = await sql(PENDING_REMAINDERS, []);
  return Number(row?.count);
}
