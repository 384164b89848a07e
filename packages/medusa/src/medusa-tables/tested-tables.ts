import { createHash } from "node:crypto";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { readRows } from "../rows.js";

/** The tables that `card-payments.ts` writes, each with the hashes of what it is in the tested releases of Medusa. */
const tested: Readonly<Record<string, readonly string[]>> = {
  // Since Medusa 2.17.2, and before.
  payment_session: ["629519fcec542f5e", "bc2e1c8f042d998f"],
  payment: ["e0576878e00f737e"],
  payment_collection: ["b15c4f26730c3e04"],
};

/**
 * Finds the tables that differ from those of every tested release of Medusa: in a column, its type or default, a constraint,
 * a unique index, a trigger, a rule or a policy. Names and order don't count. Reads only PostgreSQL's catalog.
 */
export async function findUntestedTables(sql: Sql): Promise<string[]> {
  const rows = await readRows<{ name: string; parts: string[] }>(
    sql,
    `select c.relname as name, array_agg(part) as parts from pg_class c cross join lateral (
       select concat_ws(' ', 'column', attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
           pg_get_expr(adbin, adrelid)) as part
         from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
         where attrelid = c.oid and attnum > 0 and not attisdropped
       union all select 'constraint ' || pg_get_constraintdef(oid) from pg_constraint where conrelid = c.oid and contype <> 'n'
       union all select 'unique ' || regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', '') from pg_index
         where indrelid = c.oid and indisunique
       union all select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger where tgrelid = c.oid and not tgisinternal
       union all select 'rule ' || rulename from pg_rewrite where ev_class = c.oid
       union all select 'policies' where c.relrowsecurity) described
     where c.oid in (select to_regclass(wanted) from unnest($1::text[]) wanted) group by c.relname`,
    [Object.keys(tested)],
  );
  const hashOf = (parts: readonly string[]) =>
    createHash("sha256").update(parts.toSorted().join("\n")).digest("hex").slice(0, 16);
  const found = new Map(rows.map(({ name, parts }) => [name, hashOf(parts)]));
  return Object.keys(tested).filter((name) => !tested[name]?.includes(found.get(name) ?? ""));
}
