import type pg from "pg";
import { centsSql } from "../../../scripts/shops/whole-cents.mjs";

export interface PaymentBooks {
  readonly cart_id: string;
  readonly session_id: string;
  readonly is_gift: boolean;
  readonly is_canceled: boolean;
  readonly cents: number;
  readonly captured: number;
  readonly refunded: number;
}

/** Reads Medusa's payments of these carts, also canceled ones. */
export async function readPayments(books: pg.Pool, cartIds: readonly string[]): Promise<PaymentBooks[]> {
  const total = (table: string) =>
    `(select coalesce(${centsSql("sum(amount)")}, 0) from ${table} where payment_id = p.id and deleted_at is null)`;
  const { rows } = await books.query(
    `select distinct on (p.id) link.cart_id, p.payment_session_id as session_id,
       p.provider_id = 'pp_giftcard_giftcard' as is_gift, p.canceled_at is not null as is_canceled,
       ${centsSql("p.amount")} as cents, ${total("capture")} as captured, ${total("refund")} as refunded
     from payment p join cart_payment_collection link on link.payment_collection_id = p.payment_collection_id
     where link.cart_id = any($1) and p.deleted_at is null order by p.id`,
    [cartIds],
  );
  return rows;
}
