import type { DatabaseSync } from "node:sqlite";

/** A row of a result. */
export type Row = Record<string, unknown>;
/** A parameter of a statement. */
export type Value = string | number | null;

export const DAY_MS = 24 * 60 * 60_000;

/** Configures a database, with each commit on disk, and returns the functions of the store. */
export function openSqlite(database: DatabaseSync) {
  const exec = (sql: string) => database.exec(sql);
  // The timeout comes first: the other settings may have to wait for another process.
  exec("pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  const all = (sql: string, ...values: Value[]) => database.prepare(sql).all(...values) as Row[];
  const first = (sql: string, ...values: Value[]) => database.prepare(sql).get(...values) as Row | undefined;
  const run = (sql: string, ...values: Value[]) => Number(database.prepare(sql).run(...values).changes);
  const now = () => Number(first("select cast(unixepoch('subsec') * 1000 as integer) as now")?.now);

  /** Runs a write transaction. No other process writes meanwhile, so what it reads is still true when it writes. */
  function alone<T>(work: (nowMs: number) => T): T {
    exec("begin immediate");
    try {
      const result = work(now());
      exec("commit");
      return result;
    } catch (error) {
      exec("rollback");
      throw error;
    }
  }

  const insert = (table: string, row: Record<string, Value>) => {
    const columns = Object.keys(row);
    const values = columns.map(() => "?").join(", ");
    return run(`insert into ${table} (${columns.join(", ")}) values (${values})`, ...Object.values(row));
  };

  return { exec, all, first, run, now, alone, insert };
}

export type Sqlite = ReturnType<typeof openSqlite>;
