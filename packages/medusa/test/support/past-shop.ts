import { generateEntityId } from "@medusajs/framework/utils";
import type pg from "pg";

/** The size of a shop's past. */
export interface Past {
  readonly orders: number;
  /** Orders of which a card paid 10.00; another method paid all others. */
  readonly withCards: number;
  /** Carts of the last month that were abandoned after a card was applied. */
  readonly abandoned: number;
  /** Further orders of the last hours. Every 40th never was a cart, and its customer has an abandoned cart. */
  readonly recent: number;
}

const recent = `
  create temporary table recent as select i, '$now' || lpad(i::text, 16, '0') as id, i % 40 = 0 as is_alone,
    now() - interval '1 hour' - i * interval '20 hours' / $recent as at from generate_series(1, $recent) i;
  insert into "order" (id, currency_code, status, customer_id, created_at, updated_at)
    select id, 'eur', 'pending', 'cus_' || i / 40, at, at from recent;
  insert into order_cart (order_id, cart_id, id, created_at) select id, 'recent_' || i, 'recent_' || i, at from recent
    where not is_alone;
  drop table recent;`;

const price = `25.00, '{"value": "25"}'::jsonb`;
const part = (cents: number) => `${cents / 100}, '{"value": "${cents / 100}"}'::jsonb`;

/** Every 40th order was canceled, every 50th refunded. They date from a year to a minute ago. */
const orders = `
  create temporary table past as select i, i <= $with as has_card, i % 40 = 0 as is_canceled, i % 50 = 1 as is_refunded,
    now() - interval '1 minute' - i * interval '365 days' / $orders as at from generate_series(1, $orders) i;
  insert into "order" (id, currency_code, status, created_at, updated_at, canceled_at)
    select 'order_' || i, 'eur', (case when is_canceled then 'canceled' else 'pending' end)::order_status_enum, at, at,
      case when is_canceled then at end from past;
  insert into cart (id, currency_code, created_at, updated_at, completed_at)
    select 'cart_' || i, 'eur', at, at, at from past;
  insert into order_cart (order_id, cart_id, id, created_at) select 'order_' || i, 'cart_' || i, 'ordercart_' || i, at from past;
  insert into payment_collection (id, currency_code, amount, raw_amount, status, created_at)
    select 'pay_col_' || i, 'eur', ${price}, 'completed', at from past;
  insert into cart_payment_collection (cart_id, payment_collection_id, id, created_at)
    select 'cart_' || i, 'pay_col_' || i, 'capaycol_' || i, at from past;
  insert into order_payment_collection (order_id, payment_collection_id, id, created_at)
    select 'order_' || i, 'pay_col_' || i, 'ordpay_' || i, at from past;`;

/** One method's payments: session, payment, its capture or refund, and the order's transaction. */
const payments = (kind: string, provider: string, cents: number, which: string) => `
  insert into payment_session (id, currency_code, amount, raw_amount, provider_id, data, status, payment_collection_id, created_at)
    select '${kind}ses_' || i, 'eur', ${part(cents)}, '${provider}', jsonb_build_object('session_id', '${kind}ses_' || i), 'authorized', 'pay_col_' || i, at
    from past where ${which};
  insert into payment (id, currency_code, amount, raw_amount, provider_id, data, payment_collection_id, payment_session_id,
      created_at, captured_at, canceled_at)
    select '${kind}pay_' || i, 'eur', ${part(cents)}, '${provider}', jsonb_build_object('session_id', '${kind}ses_' || i), 'pay_col_' || i, '${kind}ses_' || i, at,
      case when not is_canceled then at end, case when is_canceled then at end from past where ${which};
  insert into capture (id, amount, raw_amount, payment_id, created_at)
    select '${kind}capt_' || i, ${part(cents)}, '${kind}pay_' || i, at from past where ${which} and not is_canceled;
  insert into refund (id, amount, raw_amount, payment_id, created_at)
    select '${kind}ref_' || i, ${part(cents)}, '${kind}pay_' || i, at from past
    where ${which} and is_refunded and not is_canceled;
  insert into order_transaction (id, order_id, amount, raw_amount, currency_code, reference, reference_id, created_at)
    select '${kind}trx_' || i, 'order_' || i, ${part(cents)}, 'eur', 'capture', '${kind}capt_' || i, at from past
    where ${which} and not is_canceled;
  insert into order_transaction (id, order_id, amount, raw_amount, currency_code, reference, reference_id, created_at)
    select '${kind}back_' || i, 'order_' || i, ${part(-cents)}, 'eur', 'refund', '${kind}ref_' || i, at from past
    where ${which} and is_refunded and not is_canceled;`;

const journal = `
  insert into giftcard_order (order_id, cart_id, total_cents, paid_at)
    select 'order_' || i, 'cart_' || i, 2500, at from past where has_card;
  insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at, created_at, updated_at)
    select 'gct_' || i, 'cart_' || i, case when is_canceled then 'removed' else 'spent' end, '0000', md5(i::text), 5000,
      at + interval '2 hours', at, at from past where has_card;
  insert into giftcard_charge (reference, tender_id, cart_id, external_id, order_id, environment, base_url, company_id,
      state, last_four, amount_cents, deducted_cents, sealed_token, balance_before_cents, created_at, updated_at)
    select 'gc_' || md5(i::text), 'gct_' || i, 'cart_' || i, 'giftses_' || i, 'order_' || i, 'sandbox', 'http://127.0.0.1:1', 1,
      case when is_canceled or is_refunded then 'reversed' else 'captured' end, lpad(i::text, 4, '0'), 1000, 1000, 'sealed', 5000, at, at
    from past where has_card;
  insert into cart (id, currency_code, customer_id, created_at)
    select 'left_' || i, 'eur', 'cus_' || i, now() - i * interval '30 days' / $abandoned from generate_series(1, $abandoned) i;
  insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at, created_at, updated_at)
    select 'gcl_' || i, 'left_' || i, 'applied', '0000', md5(i::text), 5000, at + interval '2 hours', at, at
    from (select i, now() - i * interval '30 days' / $abandoned as at from generate_series(1, $abandoned) i) carts;`;

/** Writes a shop's past into its database: rows that recovery reads, with no open work among them. */
export async function writePast(database: pg.Client, past: Past): Promise<void> {
  const script = [
    orders,
    payments("bank", "pp_bank_bank", 1500, "true"),
    payments("gift", "pp_giftcard_giftcard", 1000, "has_card"),
    journal,
    recent,
    "drop table past; analyze;",
  ].join("\n");
  const values: Record<string, unknown> = {
    orders: past.orders,
    with: past.withCards,
    abandoned: past.abandoned,
    recent: past.recent,
    // Medusa's ids begin with the time.
    now: generateEntityId(undefined, "order").slice(0, "order_".length + 10),
  };
  await database.query(script.replace(/\$([a-z]+)/g, (_, name: string) => String(values[name])));
}
