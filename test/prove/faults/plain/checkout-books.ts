import type { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import type { ChargeRow } from "../verdict.js";

/** The payment of an order, as the checkout wrote it down. */
export interface PurchaseRow {
  readonly order_id: string;
  readonly state: string;
  readonly total_cents: number | string;
  readonly remainder_cents: number | string;
}

/** A part of an order that went back, or is to. */
export interface RefundRow {
  readonly amount_cents: number | string;
  readonly remainder_cents: number | string;
  readonly done_at: unknown;
}

/** The checkout's books, in whichever store they are. */
export interface CheckoutBooks {
  charges(cartId: string): Promise<ChargeRow[]>;
  purchases(cartId: string): Promise<PurchaseRow[]>;
  refunds(cartId: string): Promise<RefundRow[]>;
  /** Lets every lease and pause of a cart run out now, as if that time had passed. */
  age(cartId: string): Promise<void>;
}

const read = (table: string) => `select * from giftcard_${table} where cart_id = $1`;
const readRefunds = `select r.* from giftcard_refund r join giftcard_purchase p on p.order_id = r.order_id
  where p.cart_id = $1 order by r.number`;
const past = (now: string) => [
  `update giftcard_purchase set next_try_at = ${now} where cart_id = $1`,
  `update giftcard_purchase set lease_until = ${now} where cart_id = $1 and lease_until is not null`,
  `update giftcard_charge set next_try_at = ${now} where cart_id = $1`,
  `update giftcard_charge set lease_until = ${now} where cart_id = $1 and lease_until is not null`,
];

export function openPostgresBooks(pool: pg.Pool): CheckoutBooks {
  return {
    charges: async (cartId) => (await pool.query(read("charge"), [cartId])).rows,
    purchases: async (cartId) => (await pool.query(read("purchase"), [cartId])).rows,
    refunds: async (cartId) => (await pool.query(readRefunds, [cartId])).rows,
    async age(cartId) {
      for (const statement of past("now()")) await pool.query(statement, [cartId]);
    },
  };
}

export function openSqliteBooks(file: DatabaseSync): CheckoutBooks {
  const all = <T>(text: string, cartId: string) => file.prepare(text.replace("$1", "?")).all(cartId) as unknown as T[];
  return {
    charges: async (cartId) => all(read("charge"), cartId),
    purchases: async (cartId) => all(read("purchase"), cartId),
    refunds: async (cartId) => all(readRefunds, cartId),
    async age(cartId) {
      for (const statement of past("0")) file.prepare(statement.replace("$1", "?")).run(cartId);
    },
  };
}
