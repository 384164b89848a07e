/** `medusa plugin:build` ends with 0 also when it fails, so this judges what it says and what it made. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const cli = createRequire(import.meta.url).resolve("@medusajs/cli/cli.js");
const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "plugin:build"], {
  cwd: import.meta.dirname,
  encoding: "utf8",
  // Without ts-node, Medusa's command line wants to be told that it needs none.
  env: { ...process.env, NODE_ENV: "production", MEDUSA_DISABLE_TELEMETRY: "true" },
});
const output = stdout + stderr;
const isBuilt = /Plugin build completed successfully/.test(output) && /admin extensions build completed successfully/.test(output);
const isThere = existsSync(new URL(".medusa/server/src/config.d.ts", import.meta.url));
if (status !== 0 || !isBuilt || !isThere) {
  process.stderr.write(output);
  process.exit(1);
}
