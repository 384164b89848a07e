import type pg from "pg";
import { isAborted, retrying } from "../conflicts.js";
import type { Queryable } from "../database.js";
import { Gathering } from "./gather.js";

/** More would make small batches, fewer would make a call at half load wait for the one before it. */
const RUNS_AT_ONCE = 4;
const MAX_ITEMS = 32;
/** The prepared statement that is a devalue. */
const NAME = "devalue";
/** Where in a devalue's values the hashes of its card number are. */
const NUMBERS = 1;

interface Outcome extends pg.QueryResultRow {
  outcome: string;
}

/**
 * A database on which devalues that are in flight at the same time go as one statement, and so share one commit.
 * Each is judged by itself, in its turn, and answered after the commit. One that would have to wait for a lock is
 * not done in the batch but alone, so that it holds nobody up.
 */
export function batchDevalues(pool: pg.Pool): Queryable {
  const db = retrying(pool);
  const alone = async (values: readonly unknown[]): Promise<Outcome> => {
    const text = textOf([values], "devalue");
    const { rows } = await db.query<Outcome>({ name: NAME, text, values: [...values] });
    return rows[0] as Outcome;
  };
  const together = async (items: readonly (readonly unknown[])[]) => {
    let rows: Outcome[];
    try {
      ({ rows } = await db.query<Outcome>({
        name: `${NAME}-${items.length}`,
        text: textOf(items, "devalue_unless_busy"),
        values: items.flat(),
      }));
    } catch (error) {
      // One of them failed, and with it all were undone: each for itself, then.
      if (!isAborted(error)) throw error;
      rows = [];
    }
    return items.map((values, index) => {
      const row = rows[index];
      return row === undefined || row.outcome === "busy" ? alone(values) : row;
    });
  };
  const gathering = new Gathering({
    run: together,
    runsAtOnce: RUNS_AT_ONCE,
    maxItems: MAX_ITEMS,
    laneOf: (values: readonly unknown[]) => (values[NUMBERS] as Buffer[])[0]?.toString("latin1") ?? "",
  });
  const query = async (config: pg.QueryConfig) => {
    if (config.name !== NAME) return db.query(config);
    return { rows: [await gathering.add(config.values ?? [])] };
  };
  return { query } as unknown as Queryable;
}

/** One select per devalue, done in this order; each begins with what those before it have left. */
function textOf(items: readonly (readonly unknown[])[], fn: string): string {
  let last = 0;
  return items
    .map((values) => `select * from ${fn}(${values.map(() => `$${++last}`).join(", ")})`)
    .join(" union all ");
}
