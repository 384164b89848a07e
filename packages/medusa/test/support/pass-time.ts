import pg from "pg";

/** Every table with a moment that recovery goes by: ours, and Medusa's of carts, orders, payments and locks. */
const tables = `select table_name, array_agg(column_name::text) as columns from information_schema.columns
  where table_schema = 'public' and data_type = 'timestamp with time zone'
    and (table_name like 'giftcard\\_%' or table_name in
      ('cart', 'order', 'order_cart', 'payment_session', 'payment', 'capture', 'refund', 'locking'))
  group by table_name`;

/** Makes every moment in a shop's database so much longer ago: so nobody has to wait until a lease has run out. */
export async function passTime(databaseUrl: string, ms: number): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ table_name: string; columns: string[] }>(tables);
    // Past every trigger: what a test has broken stays broken.
    const statements = ["set session_replication_role = replica"];
    for (const { table_name, columns } of rows) {
      const sets = columns.map((name) => `"${name}" = "${name}" - interval '${ms} milliseconds'`);
      statements.push(`update "${table_name}" set ${sets.join(", ")}`);
    }
    await database.query(statements.join("; "));
  } finally {
    await database.end();
  }
}
