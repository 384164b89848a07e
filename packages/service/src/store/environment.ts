import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";

/** Whether a database's cards are real money or for testing. */
export const environments = ["live", "sandbox"] as const;
/** The environment of a service. Only in `live`, cards are real money. */
export type Environment = (typeof environments)[number];

/** Reads the environment of a database; undefined if no service has run on it yet. */
export async function readEnvironment(db: Queryable): Promise<Environment | undefined> {
  const { rows } = await db.query<{ name: Environment }>("select name from environment");
  return rows[0]?.name;
}

/**
 * Records the environment of a database at the first start. Later starts must have the same one.
 *
 * @throws {OperatorError} if the database belongs to the other environment
 */
export async function claimEnvironment(db: Queryable, environment: Environment): Promise<void> {
  const known = (await readEnvironment(db)) ?? (await writeFirst(db, environment));
  if (known === environment) return;
  throw new OperatorError(
    `This database belongs to the ${known} environment, not to ${environment}. Use --environment ${known} or another ` +
      "database. `environment set` changes the environment of a database.",
    exitCodes.usage,
  );
}

/** Inserts the environment, unless a concurrent start already has. */
async function writeFirst(db: Queryable, environment: Environment): Promise<Environment> {
  await db.query("insert into environment (name) values ($1) on conflict do nothing", [environment]);
  return (await readEnvironment(db)) ?? environment;
}

/** Changes the environment of a database. Running services must be restarted. @returns the environment before */
export function changeEnvironment(pool: pg.Pool, environment: Environment, act: Act): Promise<Environment | undefined> {
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
