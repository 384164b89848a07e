import pg from "pg";
import { lacksMigration } from "./migrations.js";

const PROBE_TIMEOUT_MS = 2000;

/**
 * Opens a small pool to the same database, so that questions about health are answered while the calls' own
 * connections are all busy.
 */
export function openProbe(pool: pg.Pool): pg.Pool {
  const probe = new pg.Pool({
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
  // A connection that breaks while idle is replaced when it is needed; the calls' pool reports it.
  probe.on("error", () => {});
  return probe;
}

/** Why the service can't take calls now; undefined when it can. */
export async function findReadinessFailure(probe: pg.Pool): Promise<string | undefined> {
  try {
    return (await lacksMigration(probe)) ? "database not migrated" : undefined;
  } catch {
    return "database unreachable";
  }
}
