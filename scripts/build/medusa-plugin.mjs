/**
 * Runs `medusa plugin:build` in a separate folder. The command exits with 0 even if it fails, and empties its output
 * first. If the output is complete, the folder replaces the old build in one rename, so a running shop never loads
 * half a build.
 *
 *   node scripts/build/medusa-plugin.mjs [--copy FROM TO]     copies FROM into the build as TO
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const plugin = process.cwd();
const output = path.join(plugin, ".medusa");
const workshop = path.join(output, `build-${process.pid}`);
const server = path.join(output, "server");
const cli = createRequire(path.join(plugin, "package.json")).resolve("@medusajs/cli/cli.js");
const [, , option, from, to] = process.argv;

mkdirSync(workshop, { recursive: true });
try {
  for (const name of ["package.json", "tsconfig.json", "src"]) {
    cpSync(path.join(plugin, name), path.join(workshop, name), { recursive: true });
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "plugin:build"], {
    cwd: workshop,
    encoding: "utf8",
    // Without NODE_ENV, Medusa's command line asks for ts-node.
    env: { ...process.env, NODE_ENV: "production", MEDUSA_DISABLE_TELEMETRY: "true" },
  });
  const log = stdout + stderr;
  const isBuilt =
    /Plugin build completed successfully/.test(log) && /extensions build completed successfully/.test(log);
  const built = path.join(workshop, ".medusa/server");
  if (status === 0 && isBuilt && existsSync(path.join(built, "src/index.d.ts"))) {
    if (option === "--copy" && from && to)
      cpSync(path.resolve(plugin, from), path.join(built, to), { recursive: true });
    if (existsSync(server)) renameSync(server, path.join(workshop, "old"));
    renameSync(built, server);
  } else {
    process.stderr.write(log);
    process.exitCode = 1;
  }
} finally {
  rmSync(workshop, { recursive: true, force: true });
}
