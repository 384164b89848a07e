import { isAborted } from "../database/conflicts.js";
import type { Queryable } from "../database/database.js";
import { Batcher } from "./batcher.js";
import {
  type DevalueArguments,
  type DevalueRow,
  devalueAlone,
  devalueStatement,
  type RunDevalue,
} from "./devalue.js";

/** More would make small batches, fewer would make a call at half load wait for the one before it. */
const RUNS_AT_ONCE = 4;
const MAX_ITEMS = 32;

/** What `devalue_unless_busy` answers: as `devalue`, or that a lock is taken. */
type BatchedRow = DevalueRow | { outcome: "busy" };

/**
 * Runs devalues that are in flight at the same time as one statement, so that they share one commit. Each is judged by
 * itself, in its turn, and answered after the commit. One that would have to wait for a lock is not done in the batch but
 * alone, so that it holds nobody up.
 *
 * @param db repeats a statement that was undone because of others
 */
export function devalueInBatches(db: Queryable): RunDevalue {
  const alone = devalueAlone(db);
  const together = async (all: readonly DevalueArguments[]) => {
    let rows: BatchedRow[];
    try {
      const statement = devalueStatement("devalue_unless_busy", all);
      ({ rows } = await db.query<BatchedRow>({ name: `devalue-${all.length}`, ...statement }));
    } catch (error) {
      // One of them failed, and with it all were undone: each for itself, then.
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
