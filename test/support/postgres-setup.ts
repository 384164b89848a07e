import pg from "pg";
import type { TestProject } from "vitest/node";
import { readCpuSeconds, recordTime } from "../../scripts/lib/process/times.mjs";
import type { TestPostgres } from "./postgres.js";

/** The server of this run. Each suite loads a copy of this module, so the server is global. */
const run = globalThis as { giftcardPostgres?: { server: Promise<TestPostgres>; users: number } | undefined };

/** Starts one server per run, as vitest's `globalSetup`. `testDatabase()` creates a test file's database on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.giftcardPostgres ??= { server: startServer(), users: 0 };
  const shared = run.giftcardPostgres;
  shared.users += 1;
  const server = await shared.server;
  project.provide("postgresUrl", server.url);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    run.giftcardPostgres = undefined;
    if (process.env.GIFTCARD_TEST_TIMES) await recordServer(server.url);
    await server.stop();
  };
}

/** Records the server's own processor time. Its processes aren't children of a test file. */
async function recordServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: string }>("select pg_read_file('postmaster.pid') as pid");
  await client.end();
  recordTime({ file: "PostgreSQL", cpuSeconds: readCpuSeconds(Number.parseInt(rows[0]?.pid ?? "", 10)) });
}

/** Starts the server. If `GIFTCARD_TEST_PGBOUNCER` is set, each service connects through a PgBouncer. */
async function startServer(): Promise<TestPostgres> {
  // Not at the top: the service may not be built yet when vitest loads this file.
  const { startPostgres } = await import("./postgres.js");
  const { startPgBouncer } = await import("./pgbouncer.js");
  const server = await startPostgres();
  const mode = process.env.GIFTCARD_TEST_PGBOUNCER;
  if (!mode) return server;
  const pooler = await startPgBouncer(server.url, { keepsStatements: mode === "prepared" });
  process.env.GIFTCARD_TEST_DOOR = pooler.door;
  return { ...server, stop: () => pooler.stop().then(server.stop) };
}
