/** Runs the tests: builds what they need, then runs vitest and, beside it, the tests that run in a page. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { command, requireNode, root, vitest } from "./lib/command.mjs";
import { findBrowser } from "./lib/find-browser.mjs";
import { chooseTests } from "./test/choice.mjs";
import { suites } from "./test/suites.mjs";
import { reportTimes } from "./test/times.mjs";

const HELP = `Builds what the tests need, and runs them. Nothing else must be installed. The suite "whole" installs the packed
packages in fresh folders, and needs the npm registry for that.

  npm test                      everything but the tests with the tag "long"
  npm test -- all               everything
  npm test -- quick             the money core, in three minutes
  npm test -- client service    these suites
  npm test -- medusa limits     the files of a suite whose names contain one of these words
  npm test -- limits            the same in all suites
  npm test -- medusa limits -t "per cart"   only the tests whose names match
  npm test -- all --times       everything, with a report of the times

Suites: ${Object.keys(suites).join(", ")}
`;

const options = /** @type {const} */ ({
  times: { type: "boolean" },
  name: { type: "string", short: "t" },
});

const cache = path.join(root, "node_modules", ".cache", "giftcard-pay");

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {import("./test/times.mjs").FileResult} FileResult */

/**
 * Runs Node and shows its output: immediately, or at its end if another process writes at the same time.
 * @param {string[]} args
 * @param {{ cwd: string, signal: AbortSignal, env?: Record<string, string>, isQuiet?: boolean }} options
 * @returns {Promise<{ code: number | null, output: string }>}
 */
async function show(args, { cwd, signal, env, isQuiet = false }) {
  const { FORCE_COLOR: _, ...rest } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    // Hundreds of processes load the same modules. All but the first find them compiled.
    env: { ...rest, NO_COLOR: "1", NODE_COMPILE_CACHE: path.join(cache, "compiled"), ...env },
  });
  const stop = () => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (!isQuiet) process.stdout.write(chunk);
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  signal.removeEventListener("abort", stop);
  if (isQuiet) process.stdout.write(output);
  return { code, output };
}

/**
 * @param {import("./test/choice.mjs").Choice} choice
 * @param {{ name: string | undefined, scratch: string, env: Record<string, string>, signal: AbortSignal }} options
 * @returns {Promise<{ counts: Counts, results: FileResult[] }>}
 */
async function runVitest({ names, files, isShort }, { name, scratch, env, signal }) {
  const file = path.join(scratch, "result.json");
  const args = [vitest, "run", ...names.map((suite) => `--project=${suite}`), ...(files ?? [])];
  args.push("--reporter=default", "--reporter=json", `--outputFile.json=${file}`);
  if (name !== undefined) args.push("--testNamePattern", name);
  if (isShort) args.push("--tagsFilter=!long");
  const { code } = await show(args, { cwd: root, env, signal });
  if (!existsSync(file)) return { counts: { passed: 0, failed: 1, skipped: 0 }, results: [] };
  const result = JSON.parse(await readFile(file, "utf8"));
  const { numPassedTests: passed, numFailedTests, numTotalTests: total, testResults: results } = result;
  // vitest also fails without a failed test: if a file doesn't load, or on an error outside of tests.
  const failed = Math.max(numFailedTests, code === 0 ? 0 : 1);
  return { counts: { passed, failed, skipped: Math.max(0, total - passed - failed) }, results };
}

/**
 * @param {string} folder
 * @param {string[] | undefined} files all of the folder when left out
 * @param {{ signal: AbortSignal, isShort: boolean, isQuiet: boolean }} options
 * @returns {Promise<Counts>}
 */
async function runInPage(folder, files, { signal, isShort, isQuiet }) {
  const require = createRequire(import.meta.url);
  const runner = path.join(path.dirname(require.resolve("@web/test-runner")), "bin.js");
  const cwd = path.join(root, folder);
  const chosen = files?.flatMap((file) => ["--files", path.relative(cwd, file)]) ?? [];
  /** @type {Record<string, string>} */
  const env = isShort ? { GIFTCARD_TEST_SHORT: "yes" } : {};
  const { code, output } = await show([runner, ...chosen], { cwd, env, signal, isQuiet });
  const last = [...output.matchAll(/(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/g)].at(-1);
  const count = (/** @type {number} */ group) => Number(last?.[group] ?? 0);
  return { passed: count(1), failed: Math.max(count(2), code === 0 ? 0 : 1), skipped: count(3) };
}

/** @param {Counts} counts */
const written = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

await command({ help: HELP, options, positionals: true }, async ({ values, positionals, signal, say }) => {
  const startedAt = performance.now();
  requireNode("The tests need");
  const choice = await chooseTests(positionals);
  const chosen = choice.names.map((name) => /** @type {import("./test/suites.mjs").Suite} */ (suites[name]));
  if (chosen.some(({ isBrowsing }) => isBrowsing)) {
    const browser = await findBrowser();
    say(`browser: ${browser.from} (${browser.path})`);
  }
  await build([...new Set(chosen.flatMap(({ needs }) => needs))], { progress: say, signal });
  const builtAt = performance.now();
  const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-tests-"));
  try {
    const times = path.join(scratch, "times");
    /** @type {Record<string, string>} */
    const env = values.times ? { GIFTCARD_TEST_TIMES: times } : {};
    const isBoth = choice.files?.length !== 0 && choice.pages.length > 0;
    const [{ counts: sum, results }, ...others] = await Promise.all([
      choice.files?.length === 0
        ? { counts: { passed: 0, failed: 0, skipped: 0 }, results: [] }
        : runVitest(choice, { name: values.name, scratch, env, signal }),
      ...choice.pages.map(({ folder, files }) =>
        runInPage(folder, files, { signal, isShort: choice.isShort, isQuiet: isBoth }),
      ),
    ]);
    for (const counts of others) {
      for (const key of /** @type {const} */ (["passed", "failed", "skipped"])) sum[key] += counts[key];
    }
    if (values.times) say(await reportTimes({ file: times, results, buildMs: builtAt - startedAt }));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    // A run without tests must not look like a success.
    const hasRun = sum.passed + sum.failed > 0;
    if (!hasRun) say(`\nNo test ran: no name matches ${values.name}.`);
    say(`\n${written(sum)} in ${seconds} s`);
    if (choice.isShort) say('Skipped are also the tests with the tag "long". Run them too: npm test -- all');
    return sum.failed > 0 || !hasRun ? 1 : 0;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});
