import type { Journal } from "./journal.js";
import {
  type Purchase,
  type PurchaseBook,
  purchaseStates,
  toPurchase,
  unsettledStates,
} from "./purchase-book.js";
import { createSqlJournal, type RunSql } from "./sql-journal.js";
import { journalSchema, sqlList } from "./sql-journal-schema.js";
import { ms } from "./sql-move.js";

/** Where the money flow is written down: the journal of charges, and the purchases that they belong to. */
export interface CheckoutStore {
  readonly journal: Journal;
  readonly purchases: PurchaseBook;
}

/** What is needed of a `pg` pool. */
export interface PgPool {
  /** Runs one statement, with `$1` and so on for the parameters. */
  query(text: string, params: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

const purchaseSchema = [
  `create table if not exists giftcard_purchase (
    order_id text primary key,
    cart_id text not null,
    run_id text not null unique,
    state text not null check (state in (${sqlList(purchaseStates)})),
    total_cents bigint not null check (total_cents >= 0),
    remainder_cents bigint not null check (remainder_cents between 0 and total_cents),
    remainder_data text,
    lease_until timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index if not exists giftcard_purchase_open on giftcard_purchase (lease_until)
    where state in (${sqlList(unsettledStates)})`,
];

const MIGRATION_LOCK = 5_000_2498;

/** Puts the schema before the tables' names. Index names stay bare: they live where their table does. */
function qualify(text: string, schema: string): string {
  return text.replace(/(?<!['"\w])giftcard_(tender|attempt|action|guess|purchase)(?!\w)/g, `"${schema}".$&`);
}

/**
 * A store on PostgreSQL, shared by as many processes as there are.
 *
 * @param options.pool a `pg` pool, which stays yours to end
 * @param options.schema the schema of the tables. Default `public`
 * @returns the store, and `migrate`, which makes its tables
 * @throws {TypeError} when the schema's name isn't a plain one
 */
export function createPostgresStore(options: { pool: PgPool; schema?: string }): CheckoutStore & {
  /** Makes or updates the tables; run it before the shop starts. */
  migrate(): Promise<void>;
} {
  const { pool, schema = "public" } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TypeError("The schema's name must be lower-case letters, digits and underscores.");
  }
  const run: RunSql = async (text, params) => (await pool.query(qualify(text, schema), params)).rows;
  return {
    journal: createSqlJournal(run),
    purchases: createSqlPurchases(run),
    async migrate() {
      // One statement list in one call is one transaction, and the lock goes with it.
      const statements = [
        `select pg_advisory_xact_lock(${MIGRATION_LOCK})`,
        `create schema if not exists "${schema}"`,
        ...[...journalSchema.up, ...purchaseSchema].map((statement) => qualify(statement, schema)),
      ];
      await pool.query(`begin; ${statements.join("; ")}; commit`, undefined as never);
    },
  };
}

function createSqlPurchases(run: RunSql): PurchaseBook {
  const one = async (text: string, params: unknown[]): Promise<Purchase | null> => {
    const [row] = await run(text, params);
    return row ? toPurchase(row) : null;
  };
  const read = (orderId: string) => one("select * from giftcard_purchase where order_id = $1", [orderId]);
  return {
    read,
    async begin({ orderId, cartId, runId, totalCents, remainderCents }, leaseMs) {
      const begun = await one(
        `insert into giftcard_purchase as old
           (order_id, cart_id, run_id, state, total_cents, remainder_cents, lease_until)
         values ($1, $2, $3, 'charging', $4, $5, now() + ${ms("$6")})
         on conflict (order_id) do update set cart_id = $2, run_id = $3, state = 'charging', total_cents = $4,
           remainder_cents = $5, remainder_data = null, lease_until = now() + ${ms("$6")}, updated_at = now()
         where old.state = 'failed' returning *`,
        [orderId, cartId, runId, totalCents, remainderCents, leaseMs],
      );
      if (begun) return begun;
      const there = await read(orderId);
      if (!there) throw new Error("A purchase vanished while it was being begun.");
      return there;
    },
    change(orderId, { from, to, runId, remainderCents, remainderData, leaseMs }) {
      const params: unknown[] = [orderId, to];
      const p = (value: unknown) => `$${params.push(value)}`;
      const sets = ["state = $2", "updated_at = now()"];
      if (remainderCents !== undefined) sets.push(`remainder_cents = ${p(remainderCents)}`);
      if (remainderData !== undefined) sets.push(`remainder_data = ${p(remainderData)}`);
      if (leaseMs === null) sets.push("lease_until = null");
      else if (leaseMs !== undefined) sets.push(`lease_until = now() + ${ms(p(leaseMs))}`);
      const mine = runId === undefined ? "" : `and run_id = ${p(runId)}`;
      return one(
        `update giftcard_purchase set ${sets.join(", ")}
         where order_id = $1 and state in (${sqlList(from)}) ${mine} returning *`,
        params,
      );
    },
    async claim(leaseMs, limit, orderId) {
      const rows = await run(
        `update giftcard_purchase set lease_until = now() + ${ms("$1")} where order_id in (
           select order_id from giftcard_purchase
           where state in (${sqlList(unsettledStates)}) and (lease_until is null or lease_until <= now())
             and ($3::text is null or order_id = $3)
           order by lease_until nulls first limit $2 for update skip locked
         ) returning *`,
        [leaseMs, limit, orderId ?? null],
      );
      return rows.map(toPurchase);
    },
  };
}
