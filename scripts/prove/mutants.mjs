/** Changes the files that decide about money, one place at a time, and reports the mutants that no test detects. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "../build.mjs";
import { writeTable } from "../check/written-tables.mjs";
import { command, root, UsageError } from "../lib/command.mjs";
import { sampleOf } from "./mutants/sample.mjs";
import { serverFiles } from "./mutants/server-files.mjs";
import { mutantsTable } from "./mutants/table.mjs";

const HELP = `Runs StrykerJS over the files that decide about money: those of packages/checkout (an hour or two), or of the plugin or
the service. Each mutant of those two runs the tests nearest to its file, half a minute or more each, so take a sample. A
second run continues where the first ended, and repeats only what has changed. Reports are in .cache/mutants;
docs/how-it-is-tested.md lists the survivors. A run over all files of packages/checkout writes its table there.
Exits with 1 if fewer mutants than required are killed: 85 % in checkout, 80 % in a file of the others. The plugin and the service are mutated in place: don't edit or build them meanwhile.

  npm run prove -- mutants                                packages/checkout (scripts/prove/mutants/stryker.config.mjs lists the files)
  npm run prove -- mutants medusa                         the plugin (scripts/prove/mutants/server-files.mjs lists files and tests)
  npm run prove -- mutants service --sample 10            the service, ten random mutants of each file
  npm run prove -- mutants medusa --only amount           one file; may be repeated
  npm run prove -- mutants --only engine/charge-recovery:40-80   some of its lines
  npm run prove -- mutants --force                        repeats what hasn't changed too, for example after a change of tests
`;

const require = createRequire(import.meta.url);
const REPORT = ".cache/mutants/report.json";
const core = path.dirname(require.resolve("@stryker-mutator/core/package.json"));

/**
 * Runs Stryker.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, signal: AbortSignal }} options when aborted, Stryker stores its results so far
 * @returns {Promise<number>} its exit code
 */
function runStryker(args, { env, signal }) {
  const child = spawn(process.execPath, [path.join(core, "bin", "stryker.js"), "run", ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

/**
 * Returns the places to mutate in a file.
 *
 * @param {string} folder of the source
 * @param {string} file its name in that folder, with lines perhaps
 * @param {number | undefined} sample how many random mutants
 */
async function placesIn(folder, file, sample) {
  const [name, lines] = file.split(":");
  const source = `${folder}/${name}.ts`;
  if (sample !== undefined) return sampleOf(source, sample);
  return [lines ? `${source}:${lines}` : source];
}

/** @typedef {{ only: string[] | undefined, sample: number | undefined, force: string[], signal: AbortSignal }} Choice */

/** @param {Choice} choice */
async function mutateCheckout({ only, sample, force, signal }) {
  const folder = "packages/checkout/src";
  if (sample !== undefined && !only) throw new UsageError("In checkout, --sample needs --only.");
  const places = await Promise.all((only ?? []).map((file) => placesIn(folder, file, sample)));
  const mutate = places.length > 0 ? ["--mutate", places.flat().join(",")] : [];
  const code = await runStryker(["scripts/prove/mutants/stryker.config.mjs", ...mutate, ...force], { signal });
  if (!only && !signal.aborted)
    await writeTable(
      "npm run prove -- mutants",
      mutantsTable(JSON.parse(await readFile(path.join(root, REPORT), "utf8"))),
    );
  return code;
}

/** @param {"medusa" | "service"} name @param {Choice} choice @param {(text: string) => void} say */
async function mutateServer(name, { only, sample, force, signal }, say) {
  const known = serverFiles[name];
  const files = only ?? Object.keys(known);
  let worst = 0;
  for (const file of files) {
    const [plain = ""] = file.split(":");
    const tests = known[plain];
    if (!tests)
      throw new UsageError(`${name} has no file "${plain}" to mutate. It has: ${Object.keys(known).join(", ")}.`);
    say(`${name}: ${file}, by ${tests.join(", ")}`);
    const places = await placesIn(`packages/${name}/src`, file, sample);
    const paths = tests.map((test) => `packages/${name}/test/${test}.test.ts`).join(" ");
    const env = { MUTANTS_PACKAGE: name, MUTANTS_FILE: plain, MUTANTS_TESTS: paths };
    const args = ["scripts/prove/mutants/server.config.mjs", "--mutate", places.join(","), ...force];
    const source = path.join(root, "packages", name, "src", `${plain}.ts`);
    const original = await readFile(source);
    try {
      worst = Math.max(worst, await runStryker(args, { env, signal }));
    } finally {
      // A Stryker that is killed leaves its mutants in the file.
      await writeFile(source, original);
    }
    if (signal.aborted) break;
  }
  // The built files contain mutants.
  await build([name], { progress: say });
  return worst;
}

const options = /** @type {const} */ ({
  force: { type: "boolean" },
  only: { type: "string", multiple: true },
  sample: { type: "string" },
});

await command({ help: HELP, options, positionals: true }, async ({ values, positionals, signal, say }) => {
  const [name = "checkout", ...others] = positionals;
  if (others.length > 0 || !(name === "checkout" || name === "medusa" || name === "service"))
    throw new UsageError("Give checkout, medusa or service.");
  const sample = values.sample === undefined ? undefined : Number(values.sample);
  if (sample !== undefined && !(Number.isInteger(sample) && sample > 0))
    throw new UsageError("--sample takes a whole number, 1 or more.");
  const choice = { only: values.only, sample, force: values.force ? ["--force"] : [], signal };
  await build([name === "checkout" ? "service" : name], { progress: say, signal });
  return name === "checkout" ? mutateCheckout(choice) : mutateServer(name, choice, say);
});
