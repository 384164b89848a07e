import { sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { orderedStates } from "@giftcard-pay/checkout/store";
import { readRows } from "../rows.js";
import { type PlacedCart, SCANNED, type Scan } from "./scan.js";

/** An order with card payments to capture. */
export interface UncapturedOrder extends PlacedCart {
  readonly paymentIds: readonly string[];
}

/**
 * Finds paid orders whose cards are still to be captured; none if the shop captures by hand. Leaves out a capture that was
 * begun: it is an unrecorded payment, and an order that a person has exempted. Reads order, payment and capture, and
 * giftcard_order and giftcard_job.
 */
export const findUncaptured = ({ sql, after, only, leaseMs, capture }: Scan): Promise<UncapturedOrder[]> =>
  readRows(
    sql,
    `with ${SCANNED}, card as (
       select distinct order_id, cart_id, external_id from scanned
       where order_id is not null and state in (${sqlList(orderedStates)}) and $4 <> 'manual'
     )
     select card.order_id as "orderId", card.cart_id as "cartId", json_agg(p.id order by p.id) as "paymentIds"
     from card
     cross join lateral (select id from payment where payment_session_id = card.external_id
       and captured_at is null and canceled_at is null and deleted_at is null offset 0) p
     cross join lateral (select 1 from "order" where id = card.order_id and canceled_at is null and deleted_at is null
       and created_at <= now() - ${sqlInterval("$3")} offset 0) o
     where (select count(*) from capture where payment_id = p.id and deleted_at is null) = 0
       and (select count(*) from giftcard_job where kind = 'capture' and id = card.order_id and exempted_at is not null) = 0
       and (select count(*) from giftcard_order where order_id = card.order_id and paid_at is not null) > 0
     group by card.order_id, card.cart_id order by card.order_id`,
    [after, only, leaseMs, capture],
  );
