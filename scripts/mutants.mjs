/** Mutates the files that decide about money, one place at a time, and reports the mutants that no test detects. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "./build.mjs";
import { command, root } from "./command.mjs";

const HELP = `Runs StrykerJS over the files of packages/checkout that decide about money. Takes an hour or two; a second run tests
only what has changed since. The report is .cache/mutants/report.html; docs/mutants.md lists the survivors. Exits with 1
below 85 %.

  npm run mutants                                  every file (scripts/mutants/stryker.config.mjs lists them)
  npm run mutants -- --file engine/recovery        one of them
  npm run mutants -- --file engine/recovery:40-80  some of its lines
  npm run mutants -- --force                       includes unchanged code, for example after a change of the conformance cases
`;

const options = /** @type {const} */ ({
  force: { type: "boolean" },
  file: { type: "string", multiple: true },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["service"], { progress: say, signal });
  const require = createRequire(import.meta.url);
  const stryker = path.join(
    path.dirname(require.resolve("@stryker-mutator/core/package.json")),
    "bin",
    "stryker.js",
  );
  const mutate = values.file?.map((file) => {
    const [name, lines] = file.split(":");
    return `packages/checkout/src/${name}.ts${lines ? `:${lines}` : ""}`;
  });
  const args = [stryker, "run", "scripts/mutants/stryker.config.mjs"];
  if (mutate) args.push("--mutate", mutate.join(","));
  if (values.force) args.push("--force");
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  // On SIGTERM, Stryker saves its results so far.
  signal.addEventListener("abort", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
});
