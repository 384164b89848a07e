import { isAborted } from "../database/conflicts.js";
import type { Queryable } from "../database/database.js";
import { type LockoutRule, ruleText } from "../limits/limits.js";
import { Batcher } from "./batcher.js";

/** More runs would make small batches; fewer would make a call wait at medium load. */
const RUNS_AT_ONCE = 4;
const MAX_ITEMS = 32;

/** The arguments that each of the database's functions on a card has, with secrets as hashes. */
export interface CardArguments {
  readonly companyId: number;
  readonly apiKeyHash: Buffer;
  readonly numberHashes: readonly Buffer[];
  readonly pinHashes: readonly Buffer[];
  readonly rule: LockoutRule;
  /** The further arguments, in the order of the function's parameters. */
  readonly further?: readonly unknown[];
}

/** The database's functions on a card. They check API key, number and PIN themselves. */
export type CardFunction = "devalue" | "read_card";

export type RunCall<Row> = (args: CardArguments) => Promise<Row>;

/** Runs each call as its own statement, which waits for locks. */
export const alone =
  <Row extends { outcome: string }>(db: Queryable, called: CardFunction): RunCall<Row> =>
  async (args) => {
    const { rows } = await db.query<Row>({ name: called, ...statementOf(called, [args], { waits: true }) });
    return rows[0] as Row;
  };

/**
 * Runs concurrent calls as one statement, so that they share one commit. Each is judged on its own, and answered after the
 * commit. A call that would wait for a lock runs alone, so that it does not delay the others.
 *
 * @param db retries statements after conflicts
 */
export function inBatches<Row extends { outcome: string }>(db: Queryable, called: CardFunction): RunCall<Row> {
  const runAlone = alone<Row>(db, called);
  const together = async (all: readonly CardArguments[]) => {
    let rows: (Row | { outcome: "busy" })[];
    try {
      const statement = statementOf(called, all, { waits: false });
      ({ rows } = await db.query<Row | { outcome: "busy" }>({ name: `${called}-${all.length}`, ...statement }));
    } catch (error) {
      // If one of them failed, all were rolled back: run each alone.
      if (!isAborted(error)) throw error;
      rows = [];
    }
    return all.map((args, index) => {
      const row = rows[index];
      return row === undefined || row.outcome === "busy" ? runAlone(args) : (row as Row);
    });
  };
  const batcher = new Batcher({
    run: together,
    runsAtOnce: RUNS_AT_ONCE,
    maxItems: MAX_ITEMS,
    laneOf: ({ numberHashes }: CardArguments) => numberHashes[0]?.toString("latin1") ?? "",
  });
  return (args) => batcher.add(args);
}

/** Creates a statement with one select per call. They run in this order, and each sees the effects of those before. */
function statementOf(
  name: CardFunction,
  all: readonly CardArguments[],
  { waits }: { waits: boolean },
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const selects = all.map((args) => {
    const { companyId, apiKeyHash, numberHashes, pinHashes, rule, further = [] } = args;
    const common = [companyId, apiKeyHash, numberHashes, pinHashes, ruleText(rule)];
    const places = [...common, ...further].map((value) => `$${values.push(value)}`);
    return `select * from ${name}(${waits}, ${places.join(", ")})`;
  });
  return { text: selects.join(" union all "), values };
}
