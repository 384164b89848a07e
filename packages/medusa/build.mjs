/**
 * Runs `medusa plugin:build`, which ends with 0 also when it fails and empties its output first. So it builds in a
 * folder of its own, is judged by what it says and made, and takes the old build's place in one move: a shop that runs
 * from here never meets half a build.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const output = path.join(import.meta.dirname, ".medusa");
const workshop = path.join(output, `build-${process.pid}`);
const server = path.join(output, "server");
const storefrontFiles = path.join(import.meta.dirname, "../../examples/nextjs/src/modules/gift-cards");
const cli = createRequire(import.meta.url).resolve("@medusajs/cli/cli.js");

mkdirSync(workshop, { recursive: true });
try {
  for (const name of ["package.json", "tsconfig.json", "src"]) {
    cpSync(path.join(import.meta.dirname, name), path.join(workshop, name), { recursive: true });
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "plugin:build"], {
    cwd: workshop,
    encoding: "utf8",
    // Without ts-node, Medusa's command line wants to be told that it needs none.
    env: { ...process.env, NODE_ENV: "production", MEDUSA_DISABLE_TELEMETRY: "true" },
  });
  const said = stdout + stderr;
  const isBuilt =
    /Plugin build completed successfully/.test(said) && /extensions build completed successfully/.test(said);
  const built = path.join(workshop, ".medusa/server");
  if (status === 0 && isBuilt && existsSync(path.join(built, "src/config.d.ts"))) {
    // The storefront's files go with the package: its command line puts them into a checkout of the storefront.
    cpSync(storefrontFiles, path.join(built, "nextjs"), { recursive: true });
    if (existsSync(server)) renameSync(server, path.join(workshop, "old"));
    renameSync(built, server);
  } else {
    process.stderr.write(said);
    process.exitCode = 1;
  }
} finally {
  rmSync(workshop, { recursive: true, force: true });
}
