import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";

/** What a database's cards are: real money, or for trying out. */
export const environments = ["live", "sandbox"] as const;
/** Which of the two installations a service is: money moves in `live` alone. */
export type Environment = (typeof environments)[number];

/** Reads which environment a database belongs to; undefined where no service has run on it yet. */
export async function readEnvironment(db: Queryable): Promise<Environment | undefined> {
  const { rows } = await db.query<{ name: Environment }>("select name from environment");
  return rows[0]?.name;
}

/**
 * Writes down what a database's cards are, where nobody has yet. A sandbox's cards are never served as live ones, nor the
 * other way round.
 *
 * @throws {OperatorError} when it belongs to the other environment
 */
export async function claimEnvironment(db: Queryable, environment: Environment): Promise<void> {
  const known = (await readEnvironment(db)) ?? (await writeFirst(db, environment));
  if (known === environment) return;
  throw new OperatorError(
    `This database is of the ${known} environment, and this is to be ${environment}. Serve it with --environment ${known}, ` +
      "or give another database. What it is, is changed by `environment set`.",
    exitCodes.usage,
  );
}

/** Of two that start at once, one writes. */
async function writeFirst(db: Queryable, environment: Environment): Promise<Environment> {
  await db.query("insert into environment (name) values ($1) on conflict do nothing", [environment]);
  return (await readEnvironment(db)) ?? environment;
}

/** Changes what a database's cards are. Services that run on it must be started anew. @returns what they were */
export function changeEnvironment(
  pool: pg.Pool,
  environment: Environment,
  act: Act,
): Promise<Environment | undefined> {
  return transaction(pool, async (db) => {
    const before = await readEnvironment(db);
    if (before === environment) return before;
    await db.query(
      "insert into environment (name) values ($1) on conflict (is_only) do update set name = excluded.name",
      [environment],
    );
    const details = { from: before ?? null, to: environment };
    await writeAudit(db, act, { action: "environment set", details });
    return before;
  });
}
