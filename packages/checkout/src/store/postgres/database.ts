import type { Database, Sql } from "../sql/database.js";

/** Converts a parameter in milliseconds to an interval. @param param such as `$1` */
export const sqlInterval = (param: string | number) => `(${param}::float8 * interval '1 millisecond')`;

/** The header of a JWE: its first part, in base64url. */
const headerOf = (sealed: string) => `translate(split_part(${sealed}, '.', 1), '-_', '+/')`;

/** Makes the database of a store on PostgreSQL. Each write is one statement, and therefore atomic over any connection pool. */
export const postgresDatabase = (query: Sql): Database => ({
  query,
  write(parts, result, params, whenLost) {
    const named = parts.map(({ name, text, table }) => `${name} as (${text}${table ? " returning *" : ""})`);
    return query(`with ${named.join(", ")} ${result}`, params, whenLost);
  },
  ms: sqlInterval,
  anyOf: (param) => `= any(${param}::text[])`,
  // An array is evaluated once. PostgreSQL may run a plain subquery for each row.
  among: (select) => `= any(array(${select}))`,
  forUpdate: "for update",
  skipLocked: "for update skip locked",
  sequence: "created_at",
  // now() is when this transaction began.
  secondsUntil: (time) => `extract(epoch from ${time} - clock_timestamp())`,
  keyIdOf(sealed) {
    const header = headerOf(sealed);
    const padded = `rpad(${header}, (length(${header}) + 3) / 4 * 4, '=')`;
    return `convert_from(decode(${padded}, 'base64'), 'utf8')::json ->> 'kid'`;
  },
  append: (list, fields) => `(${list}::jsonb || jsonb_build_object(${fields}))::text`,
});
