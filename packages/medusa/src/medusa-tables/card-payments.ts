import type { Sql } from "@giftcard-pay/checkout/plugin";
import { generateEntityId } from "@medusajs/framework/utils";
import { PROVIDER_ID } from "../names.js";

/*
 * Writes what Medusa's payment module writes for a session and its payment, in one statement each. Through the module,
 * a completion would wait for about 25 statements per card.
 */

/** The payment session of a card. */
export interface NewCardSession {
  readonly collectionId: string;
  readonly amountCents: number;
  readonly lastFour: string;
  readonly metadata: Record<string, string>;
}

/** The part of a session that people see in Medusa before its card is charged. */
export const newCopy = (session_id: string, amount_cents: number, last_four: string) => ({
  ...{ session_id, state: "intent", amount_cents, last_four },
});

/** An amount as Medusa stores it beside the number. */
const rawAmount = (amount: string) => `jsonb_build_object('value', (${amount})::text, 'precision', 20)`;

/**
 * Creates the session with which a card pays.
 * @returns the session's id
 */
export async function createCardSession(sql: Sql, session: NewCardSession): Promise<string> {
  const { collectionId, amountCents, lastFour, metadata } = session;
  const id = generateEntityId(undefined, "payses");
  const data = newCopy(id, amountCents, lastFour);
  await sql(
    `insert into payment_session
       (id, payment_collection_id, provider_id, currency_code, amount, raw_amount, status, data, metadata)
     select $1, $2, $3, 'eur', amount, ${rawAmount("amount")}, 'pending', $5, $6
     from (select trim_scale($4::integer / 100.0) as amount) part`,
    [id, collectionId, PROVIDER_ID, amountCents, data, metadata],
  );
  return id;
}

/**
 * Authorizes a card's session if all its charges are `devalued` and leased to `owner`: creates its payment, and adds its
 * amount to the collection's.
 * @param data what people see of the payment in Medusa
 * @returns false if the session is deleted or has a payment, or one of its charges was reversed or taken over
 */
export async function authorizeCardSession(
  sql: Sql,
  { sessionId, owner, data }: { sessionId: string; owner: string; data: object },
): Promise<boolean> {
  const rows = await sql(
    `with session as (
       update payment_session s set status = 'authorized', authorized_at = now(), data = $2, updated_at = now()
       where id = $1 and provider_id = $3 and status = 'pending' and deleted_at is null
         and (select bool_and(state = 'devalued' and lease_owner = $5) from giftcard_charge where external_id = s.id)
       returning *
     ), payment as (
       insert into payment (id, amount, raw_amount, currency_code, provider_id, data, payment_collection_id, payment_session_id)
       select $4, amount, raw_amount, currency_code, provider_id, data, payment_collection_id, id from session
     ), authorized as (
       select payment_collection_id as id, amount + coalesce((select sum(other.amount) from payment_session other
         where other.payment_collection_id = session.payment_collection_id and other.status = 'authorized'
           and other.deleted_at is null), 0) as amount
       from session
     )
     update payment_collection c set updated_at = now(),
       status = case when c.status = 'completed' then c.status
         when round(authorized.amount, 2) >= round(c.amount, 2) then 'authorized' else 'partially_authorized' end,
       authorized_amount = authorized.amount, raw_authorized_amount = ${rawAmount("trim_scale(authorized.amount)")},
       captured_amount = coalesce(c.captured_amount, 0),
       raw_captured_amount = coalesce(c.raw_captured_amount, ${rawAmount("0")}),
       refunded_amount = coalesce(c.refunded_amount, 0),
       raw_refunded_amount = coalesce(c.raw_refunded_amount, ${rawAmount("0")})
     from authorized where c.id = authorized.id returning c.id`,
    [sessionId, data, PROVIDER_ID, generateEntityId(undefined, "pay"), owner],
  );
  return rows.length > 0;
}
