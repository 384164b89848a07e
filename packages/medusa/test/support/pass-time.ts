import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** The tables with timestamps that the plugin reads: ours, and Medusa's carts, orders, returns, payments and locks. */
const tables = `select table_name, array_agg(column_name::text) as columns from information_schema.columns
  where table_schema = 'public' and data_type = 'timestamp with time zone'
    and (table_name like any (array['giftcard\\_%', 'order%', 'return%']) or table_name in
      ('cart', 'payment_session', 'payment', 'capture', 'refund', 'locking'))
  group by table_name`;

/** Returns false if another transaction has locked a row. */
function unlessLocked(error: unknown): false {
  if (error instanceof pg.DatabaseError && error.code === "55P03") return false;
  throw error;
}

/**
 * Moves every timestamp in a shop's database back, so that a test need not wait for a lease to expire.
 * It never waits long for a row while it has locked others, since that could deadlock with the shop's jobs.
 */
export async function passTime(databaseUrl: string, ms: number): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ table_name: string; columns: string[] }>(tables);
    // Bypasses triggers, so that faults that a test installed stay in place.
    const statements = ["set session_replication_role = replica", "set lock_timeout = '20ms'"];
    for (const { table_name, columns } of rows) {
      const sets = columns.map((name) => `"${name}" = "${name}" - interval '${ms} milliseconds'`);
      statements.push(`update "${table_name}" set ${sets.join(", ")}`);
    }
    while (!(await database.query(statements.join("; ")).then(() => true, unlessLocked))) await sleep(20);
  } finally {
    await database.end();
  }
}
