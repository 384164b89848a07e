import type { DatabaseSync } from "node:sqlite";

/** A row as SQLite gives it. */
export type Row = Record<string, unknown>;
/** What SQLite takes. */
export type Value = string | number | null;

export const DAY_MS = 24 * 60 * 60_000;

/** Opens a database for use, on disk with each commit, and gives what the store does with it. */
export function openSqlite(database: DatabaseSync) {
  const exec = (sql: string) => database.exec(sql);
  // First of all, since the next ones may already meet another process.
  exec(
    "pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on",
  );
  const all = (sql: string, ...values: Value[]) => database.prepare(sql).all(...values) as Row[];
  const one = (sql: string, ...values: Value[]) => database.prepare(sql).get(...values) as Row | undefined;
  const run = (sql: string, ...values: Value[]) => Number(database.prepare(sql).run(...values).changes);
  const now = () => Number(one("select cast(unixepoch('subsec') * 1000 as integer) as now")?.now);

  /** Nobody else writes while it runs, so what was read is still true when it is changed. */
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

  return { exec, all, one, run, now, alone, insert };
}

export type Sqlite = ReturnType<typeof openSqlite>;
