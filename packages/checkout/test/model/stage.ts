import fs from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { createPostgresStore } from "../../src/index.js";
import type { CheckoutStore } from "../../src/store/index.js";
import { createSqliteStore } from "../../src/store/sqlite/store.js";
import type { Gate } from "./gate.js";

export type StoreName = "sqlite" | "postgres";
export type Row = Readonly<Record<string, unknown>>;

/** The content of a store. */
export interface Rows {
  readonly purchases: readonly Row[];
  readonly refunds: readonly Row[];
  readonly charges: readonly Row[];
  readonly tenders: readonly Row[];
  readonly actions: readonly Row[];
  readonly guesses: readonly Row[];
}

/** A store for sequences, one after the other, whose clock can be moved. */
export interface Stage {
  readonly name: StoreName;
  /** Returns the store of a process, with its gate. */
  open(gate: Gate): CheckoutStore;
  /** Advances the clock, by moving all stored times into the past. */
  advance(minutes: number): Promise<void>;
  /** Returns the cards on a cart that haven't expired. */
  cardsOf(cartId: string): Promise<Row[]>;
  rows(): Promise<Rows>;
  /** Empties it. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const tables = [
  "giftcard_action",
  "giftcard_charge",
  "giftcard_tender",
  "giftcard_guess",
  "giftcard_purchase",
  "giftcard_refund",
];
const isTime = (column: string) => /_(at|until)$/.test(column);
const onCart = "from giftcard_tender where state in ('applied', 'charging') and cart_id =";

/** Makes a store whose methods pass the gate first. */
function gated<T extends object>(part: T, gate: Gate): T {
  return new Proxy(part, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => gate.pass(() => Reflect.apply(method, target, args));
    },
  });
}

/** Opens an SQLite store. A method is a transaction, so crashes happen between methods. */
export async function openSqliteStage(folder: string): Promise<Stage> {
  const { DatabaseSync } = await import("node:sqlite");
  const file = path.join(folder, "shop.db");
  const store = await createSqliteStore({ file });
  const database: DatabaseSync = new DatabaseSync(file);
  database.exec("pragma busy_timeout = 10000; pragma synchronous = off");
  const all = (text: string, ...values: string[]) => database.prepare(text).all(...values) as Row[];
  const times = tables.map((table) => {
    const names = all(`select name from pragma_table_info('${table}')`).map(({ name }) => String(name));
    return { table, columns: names.filter(isTime) };
  });
  return {
    name: "sqlite",
    open: (gate) => ({ journal: gated(store.journal, gate), purchases: gated(store.purchases, gate) }),
    async advance(minutes) {
      for (const { table, columns } of times) {
        if (columns.length === 0) continue;
        database.exec(`update ${table} set ${columns.map((c) => `${c} = ${c} - ${minutes * 60_000}`).join(", ")}`);
      }
    },
    cardsOf: async (cartId) =>
      all(`select * ${onCart} ? and expires_at > cast(unixepoch('subsec') * 1000 as integer)`, cartId),
    rows: async () => ({
      purchases: all("select * from giftcard_purchase"),
      refunds: all("select * from giftcard_refund"),
      charges: all("select * from giftcard_charge order by created_at, rowid"),
      tenders: all("select * from giftcard_tender"),
      actions: all("select * from giftcard_action"),
      guesses: all("select * from giftcard_guess"),
    }),
    async reset() {
      for (const table of tables) database.exec(`delete from ${table}`);
    },
    async close() {
      database.close();
      store.close();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a PostgreSQL store. Each statement passes the gate. */
export async function openPostgresStage(databaseUrl: string, schema: string): Promise<Stage> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4, options: `-c search_path=${schema}` });
  pool.on("error", () => {});
  await createPostgresStore({ pool, schema }).migrate();
  const all = async (text: string, values: string[] = []) => (await pool.query(text, values)).rows as Row[];
  const columns = await all(
    "select table_name, column_name from information_schema.columns where table_schema = $1 order by 1, 2",
    [schema],
  );
  const advance = tables.flatMap((table) => {
    const names = columns.filter((c) => c.table_name === table).map((c) => String(c.column_name));
    const sets = names.filter(isTime).map((c) => `${c} = ${c} - interval '1 minute' * MINUTES`);
    return sets.length === 0 ? [] : [`update ${table} set ${sets.join(", ")}`];
  });
  return {
    name: "postgres",
    open: (gate) =>
      createPostgresStore({
        pool: { query: (text, params) => gate.pass(() => pool.query(text, params)) },
        schema,
      }),
    advance: async (minutes) => void (await pool.query(advance.join("; ").replaceAll("MINUTES", String(minutes)))),
    cardsOf: (cartId) => all(`select * ${onCart} $1 and expires_at > now()`, [cartId]),
    rows: async () => ({
      purchases: await all("select * from giftcard_purchase"),
      refunds: await all("select * from giftcard_refund"),
      charges: await all("select * from giftcard_charge order by created_at, reference"),
      tenders: await all("select * from giftcard_tender"),
      actions: await all("select * from giftcard_action"),
      guesses: await all("select * from giftcard_guess"),
    }),
    reset: async () => void (await pool.query(tables.map((table) => `delete from ${table}`).join("; "))),
    close: () => pool.end(),
  };
}
