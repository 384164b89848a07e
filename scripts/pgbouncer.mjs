/** Runs the service's tests of contract, races and repetition with a PgBouncer between each service and its database. */
import { spawn } from "node:child_process";
import path from "node:path";
import { build } from "./build.mjs";
import { command, loadTypeScript, root, vitest } from "./command.mjs";

const HELP = `The service's tests of contract, races and repetition, with PgBouncer in transaction mode before the database.

  npm run pgbouncer                  statements aren't prepared: any version will do
  npm run pgbouncer -- --prepared    PgBouncer keeps what is prepared: from version 1.21 on

Takes the machine's pgbouncer (Debian: apt install pgbouncer), or the program that PGBOUNCER names. Ends with 1 when a test
fails; without a PgBouncer it says so, and ends with 0.
`;

const FILES = ["contract", "races", "issuer-races", "idempotency", "ending", "batches", "pgbouncer"];
const options = /** @type {const} */ ({ prepared: { type: "boolean" } });

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["service"], { progress: say, signal });
  /** @type {typeof import("../test/support/pgbouncer.js")} */
  const { findPgBouncer, canKeepStatements } = await loadTypeScript("test/support/pgbouncer.ts");
  const version = findPgBouncer();
  if (version === undefined) return say("No PgBouncer is installed: nothing was tried.");
  if (values.prepared && !canKeepStatements(version))
    throw new Error(
      `This PgBouncer (${version}) keeps no prepared statements. Take 1.21 or newer, or leave out --prepared.`,
    );
  say(`PgBouncer ${version}, ${values.prepared ? "with" : "without"} prepared statements`);
  const files = FILES.map((name) => `test/${name}.test.ts`);
  const child = spawn(process.execPath, [vitest, "run", ...files], {
    cwd: path.join(root, "packages/service"),
    stdio: "inherit",
    signal,
    env: { ...process.env, GIFTCARD_TEST_PGBOUNCER: values.prepared ? "prepared" : "unprepared" },
  });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return code === 0 ? 0 : 1;
});
