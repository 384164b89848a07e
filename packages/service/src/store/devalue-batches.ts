import { isAborted } from "../database/conflicts.js";
import type { Queryable } from "../database/database.js";
import { Batcher } from "./batcher.js";
import { type DevalueArguments, type DevalueRow, devalueAlone, devalueStatement, type RunDevalue } from "./devalue.js";

/** More runs would make small batches; fewer would make a call wait at medium load. */
const RUNS_AT_ONCE = 4;
const MAX_ITEMS = 32;

/** The result of `devalue_unless_busy`: that of `devalue`, or that a lock is held. */
type BatchedRow = DevalueRow | { outcome: "busy" };

/**
 * Runs concurrent devalues as one statement, so that they share one commit. Each is judged on its own, and answered after
 * the commit. A devalue that would wait for a lock runs alone, so that it does not delay the others.
 *
 * @param db retries statements after conflicts
 */
export function devalueInBatches(db: Queryable): RunDevalue {
  const alone = devalueAlone(db);
  const together = async (all: readonly DevalueArguments[]) => {
    let rows: BatchedRow[];
    try {
      const statement = devalueStatement("devalue_unless_busy", all);
      ({ rows } = await db.query<BatchedRow>({ name: `devalue-${all.length}`, ...statement }));
    } catch (error) {
      // If one of them failed, all were rolled back: run each alone.
      if (!isAborted(error)) throw error;
      rows = [];
    }
    return all.map((args, index) => {
      const row = rows[index];
      return row === undefined || row.outcome === "busy" ? alone(args) : row;
    });
  };
  const batcher = new Batcher({
    run: together,
    runsAtOnce: RUNS_AT_ONCE,
    maxItems: MAX_ITEMS,
    laneOf: ({ numberHashes }: DevalueArguments) => numberHashes[0]?.toString("latin1") ?? "",
  });
  return (args) => batcher.add(args);
}
