import type { DatabaseSync } from "node:sqlite";
import type { Database, Row } from "../sql/database.js";

/** Reads the key from the header of a JWE, its first part in base64url. */
const keyIdOf = (sealed: unknown): string =>
  String(JSON.parse(Buffer.from(String(sealed).split(".", 1)[0] ?? "", "base64url").toString()).kid);

/** Converts a parameter: times to milliseconds since 1970, and lists to JSON. */
function toValue(param: unknown): string | number | null {
  if (param instanceof Date) return param.getTime();
  return Array.isArray(param) ? JSON.stringify(param) : (param as string | number | null);
}

/** Configures an SQLite file, with each commit on disk, and makes the database of a store in it. */
export function openSqlite(database: DatabaseSync) {
  const exec = (sql: string) => database.exec(sql);
  // The timeout comes first: the other settings may have to wait for another process.
  exec("pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");

  // now() is the same in a whole write. It is first read with the file locked, so after waiting for another process.
  let nowMs: number | undefined;
  database.function("now", { deterministic: true }, () => (nowMs ??= Date.now()));
  database.function("key_id_of", { deterministic: true }, keyIdOf);

  function run(text: string, params: Readonly<Record<string, unknown>>): Row[] {
    const used = [...text.matchAll(/\$\w+/g)].map(([name]) => [name, toValue(params[name])]);
    return database.prepare(text).all(Object.fromEntries(used)) as Row[];
  }
  const query = (text: string, ...params: unknown[]): Row[] => {
    nowMs = undefined;
    return run(text, numbered(params));
  };

  /** Runs a write transaction. No other process writes meanwhile, so what it reads is still true when it writes. */
  function alone<T>(work: () => T): T {
    exec("begin immediate");
    try {
      nowMs = undefined;
      const result = work();
      exec("commit");
      return result;
    } catch (error) {
      exec("rollback");
      throw error;
    }
  }

  const store: Database = {
    query: async (text, params) => query(text, ...params),
    write: async (parts, result, params) =>
      alone(() => {
        const values: Record<string, unknown> = numbered(params);
        const known: string[] = [];
        const having = () => (known.length > 0 ? `with ${known.join(", ")} ` : "");
        for (const { name, text, table } of parts) {
          if (table) {
            values[`$${name}`] = run(`${having()}${text} returning rowid`, values).map(({ rowid }) => rowid);
            known.push(
              `${name} as (select rowid, * from ${table} where rowid in (select value from json_each($${name})))`,
            );
          } else known.push(`${name} as (${text})`);
        }
        return run(`${having()}${result}`, values);
      }),
    ms: (value) => `cast(${value} as integer)`,
    anyOf: (param) => `in (select value from json_each(${param}))`,
    among: (select) => `in (${select})`,
    forUpdate: "",
    skipLocked: "",
    sequence: "rowid",
    secondsUntil: (time) => `(${time} - now()) / 1000.0`,
    keyIdOf: (sealed) => `key_id_of(${sealed})`,
    append: (list, fields) => `json_insert(${list}, '$[#]', json_object(${fields}))`,
  };
  return { exec, query, alone, store };
}

const numbered = (params: readonly unknown[]) =>
  Object.fromEntries(params.map((param, index) => [`$${index + 1}`, param]));

export type Sqlite = ReturnType<typeof openSqlite>;
