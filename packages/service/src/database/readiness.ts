import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { createPool } from "./database.js";
import { compareMigrations } from "./migrations.js";

const PROBE_TIMEOUT_MS = 2000;

/** Opens a small pool to the same database, so that health checks work while all connections of the calls are busy. */
export function openProbe(pool: pg.Pool): pg.Pool {
  const probe = createPool({
    ...pool.options,
    // Not among the enumerable ones.
    password: pool.options.password,
    max: 2,
    min: 0,
    application_name: "giftcard-service probe",
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    statement_timeout: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
    allowExitOnIdle: true,
  });
  // Ignore broken connections here: the pool that serves calls reports them.
  probe.on("error", () => {});
  return probe;
}

export interface Readiness {
  /** The reason why not; undefined if it can. */
  readonly missing: string | undefined;
  /** Migrations of a newer program. This one keeps serving until it is updated. */
  readonly newerMigrations: readonly string[];
}

/** Creates the check whether this process can take calls. Concurrent checks share one answer. */
export function askReadiness(probe: pg.Pool): () => Promise<Readiness> {
  let asking: Promise<Readiness> | undefined;
  return () => {
    asking ??= findReadiness(probe).finally(() => (asking = undefined));
    return asking;
  };
}

async function findReadiness(probe: pg.Pool): Promise<Readiness> {
  try {
    const { missing, differing, newer } = await compareMigrations(probe);
    if (missing.length > 0) return notReady("database not migrated");
    if (differing.length > 0) return notReady("database migrated by another program");
    await requireWrites(probe);
    await writeTemporaryData(probe);
    await usePreparedStatement(probe);
    return { missing: undefined, newerMigrations: newer };
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    const [, says = "database unreachable"] = FAILURES.find(([codes]) => codes.test(code)) ?? [];
    return notReady(says);
  }
}

const notReady = (missing: string): Readiness => ({ missing, newerMigrations: [] });

const FAILURES: readonly (readonly [codes: RegExp, says: string])[] = [
  [/^53[124]00$/, "database has no room left"],
  [/^25006$/, "database takes no writes"],
  [/^(26000|42P05)$/, "pooler loses prepared statements"],
  [/^08P01$/, "pooler refuses a setting"],
];

/** Locks no row, but fails on a standby and on a former primary, which still answer reads. */
async function requireWrites(probe: pg.Pool): Promise<void> {
  await probe.query("select from migrations where false for update");
}

/** Writes some hundred kilobytes of temporary data: on a full disk, plain reads still succeed. */
async function writeTemporaryData(probe: pg.Pool): Promise<void> {
  await probe.query("set local work_mem = '64kB'; select from generate_series(1, 20000) offset 20000");
}

const STATEMENT = { name: "giftcard-service-probe", text: "select 1" };
/** How long the second use may wait if the pooler has a single connection. */
const TURN_MS = 200;

/**
 * Prepares a statement and reuses it while another connection is in a transaction. A pooler then gives the transaction the
 * session that prepared the statement, and the reuse another session, which must know the statement too.
 */
async function usePreparedStatement(probe: pg.Pool): Promise<void> {
  await withClient(probe, (user) =>
    withClient(probe, async (other) => {
      await user.query(STATEMENT);
      await other.query("begin");
      const again = user.query(STATEMENT);
      again.catch(() => {});
      await Promise.race([again, sleep(TURN_MS, undefined, { ref: false })]);
      await other.query("rollback");
      await again;
    }),
  );
}

/** Runs work on one connection, and closes the connection if the work fails. */
async function withClient(probe: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await probe.connect();
  let failure: Error | undefined;
  try {
    await work(client);
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}
