/** Runs the service's contract, race and idempotency tests with a PgBouncer between each service and its database. */
import { spawn } from "node:child_process";
import path from "node:path";
import { build } from "../build.mjs";
import { command, loadTypeScript, root, vitest } from "../lib/command.mjs";

const HELP = `Runs the service's contract, race and idempotency tests with PgBouncer in transaction mode before the database.

  npm run prove -- pgbouncer              without prepared statements: any version of PgBouncer
  npm run prove -- pgbouncer --prepared   with prepared statements: PgBouncer 1.21 or newer

Uses the installed pgbouncer (Debian: apt install pgbouncer), or the program that PGBOUNCER names. Exits with 1 if a test
fails. Without a PgBouncer it prints a notice and exits with 0.
`;

const FILES = ["contract", "races", "issuer-races", "idempotency", "ending", "batches", "pgbouncer"];
const options = /** @type {const} */ ({ prepared: { type: "boolean" } });

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["service"], { progress: say, signal });
  /** @type {typeof import("../../test/support/pgbouncer.js")} */
  const { findPgBouncer, canKeepStatements } = await loadTypeScript("test/support/pgbouncer.ts");
  const version = findPgBouncer();
  if (version === undefined) return say("PgBouncer is not installed: no tests were run.");
  if (values.prepared && !canKeepStatements(version))
    throw new Error(
      `This PgBouncer (${version}) doesn't support prepared statements. Use 1.21 or newer, or omit --prepared.`,
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
