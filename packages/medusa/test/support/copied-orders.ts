import type pg from "pg";

/** The tables of an order and its payments. */
const tables = `select table_name, json_object_agg(column_name, data_type) as columns from information_schema.columns
  where table_schema = 'public' and is_generated = 'NEVER'
    and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')
    and (table_name like any (array['order%', 'return%', 'payment%']) or table_name in
      ('capture', 'refund', 'giftcard_charge', 'giftcard_order', 'giftcard_tender'))
  group by table_name`;

/** An id of Medusa or of the journal, or the beginning of a longer one. */
const ID = "[a-z_]+_([0-9A-Z]{26}|[0-9a-f-]{32,36})";

/** Returns the value of a column in a copy: its ids get the copy's number. Sealed values are long, and contain none. */
function copied(column: string, type: string): string {
  if (type === "text" || type === "character varying")
    return `case when length("${column}") < 200 then regexp_replace("${column}", '${ID}', '\\&_' || copy, 'g') else "${column}" end`;
  if (type === "jsonb") return `regexp_replace("${column}"::text, '"${ID}', '\\&_' || copy, 'g')::jsonb`;
  return `"${column}"`;
}

/** Copies all orders of a shop with their payments and charges. Each copy has ids of its own. */
export async function copyOrders(database: pg.Client, copies: number): Promise<void> {
  const { rows } = await database.query<{ table_name: string; columns: Record<string, string> }>(tables);
  await database.query("set session_replication_role = replica");
  for (const { table_name, columns } of rows) {
    const names = Object.keys(columns).map((name) => `"${name}"`);
    const values = Object.entries(columns).map(([name, type]) => copied(name, type));
    // Rows that belong to no order, such as payment providers, have other ids. They stay as they are.
    await database.query(
      `insert into "${table_name}" (${names.join(", ")}) select ${values.join(", ")}
       from "${table_name}", generate_series(1, ${copies}) copy on conflict do nothing`,
    );
  }
  await database.query("set session_replication_role = default; analyze");
}
