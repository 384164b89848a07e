import type { DatabaseSync } from "node:sqlite";
import type { CheckoutStore } from "./postgres-store.js";
import {
  type Purchase,
  type PurchaseBook,
  purchaseStates,
  toPurchase,
  unsettledStates,
} from "./purchase-book.js";
import { sqlList } from "./sql-journal-schema.js";
import { createSqliteJournal, openSqlite, type Sqlite } from "./sqlite-journal.js";

const schema = `create table if not exists giftcard_purchase (
  order_id text primary key, cart_id text not null, run_id text not null unique,
  state text not null check (state in (${sqlList(purchaseStates)})),
  total_cents integer not null check (total_cents >= 0),
  remainder_cents integer not null check (remainder_cents between 0 and total_cents),
  remainder_data text, lease_until integer, created_at integer not null, updated_at integer not null
) strict`;

/**
 * A store in one SQLite file, for a shop on one machine; its processes may share the file. Needs `node:sqlite`, which
 * Node has from 22.13.
 *
 * @param options.file where it stands; made if it isn't there. Keep it private (mode 0600) and back it up
 * @returns the store, and `close`
 */
export async function createSqliteStore(options: { file: string }): Promise<
  CheckoutStore & {
    /** Closes the file; nothing can be read or written after it. */
    close(): void;
  }
> {
  // Imported here, so that a shop on PostgreSQL needs no Node that has it.
  const { DatabaseSync } = await import("node:sqlite");
  const database: DatabaseSync = new DatabaseSync(options.file);
  const journal = createSqliteJournal(database);
  database.exec(schema);
  return { journal, purchases: createSqlitePurchases(openSqlite(database)), close: () => database.close() };
}

function createSqlitePurchases({ one, all, run, alone }: Sqlite): PurchaseBook {
  const find = (orderId: string): Purchase | null => {
    const row = one("select * from giftcard_purchase where order_id = ?", orderId);
    return row ? toPurchase(row) : null;
  };
  return {
    read: async (orderId) => find(orderId),
    async begin({ orderId, cartId, runId, totalCents, remainderCents }, leaseMs) {
      return alone((nowMs) => {
        const there = find(orderId);
        if (there && there.state !== "failed") return there;
        run(
          `insert into giftcard_purchase (order_id, cart_id, run_id, state, total_cents, remainder_cents, lease_until,
             created_at, updated_at) values (?, ?, ?, 'charging', ?, ?, ?, ?, ?)
           on conflict (order_id) do update set cart_id = excluded.cart_id, run_id = excluded.run_id, state = 'charging',
             total_cents = excluded.total_cents, remainder_cents = excluded.remainder_cents, remainder_data = null,
             lease_until = excluded.lease_until, updated_at = excluded.updated_at`,
          ...[orderId, cartId, runId, totalCents, remainderCents, nowMs + leaseMs, nowMs, nowMs],
        );
        return find(orderId) as Purchase;
      });
    },
    async change(orderId, { from, to, runId, remainderCents, remainderData, leaseMs }) {
      return alone((nowMs) => {
        const there = find(orderId);
        if (!there || !from.includes(there.state)) return null;
        if (runId !== undefined && there.runId !== runId) return null;
        const set: Record<string, string | number | null> = { state: to, updated_at: nowMs };
        if (remainderCents !== undefined) set.remainder_cents = remainderCents;
        if (remainderData !== undefined) set.remainder_data = remainderData;
        if (leaseMs !== undefined) set.lease_until = leaseMs === null ? null : nowMs + leaseMs;
        const columns = Object.keys(set).map((column) => `${column} = ?`);
        run(
          `update giftcard_purchase set ${columns.join(", ")} where order_id = ?`,
          ...Object.values(set),
          orderId,
        );
        return find(orderId);
      });
    },
    async claim(leaseMs, limit, orderId) {
      return alone((nowMs) => {
        const rows = all(
          `select order_id from giftcard_purchase where state in (${sqlList(unsettledStates)})
             and (lease_until is null or lease_until <= ?) and (? is null or order_id = ?)
           order by lease_until limit ?`,
          ...[nowMs, orderId ?? null, orderId ?? null, limit],
        );
        return rows.flatMap((row) => {
          const id = String(row.order_id);
          run("update giftcard_purchase set lease_until = ? where order_id = ?", nowMs + leaseMs, id);
          return find(id) ?? [];
        });
      });
    },
  };
}
