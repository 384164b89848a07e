/** Runs every test: brings what they need, builds, then one suite after the other, and counts. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { findBrowser } from "./find-browser.mjs";
import { buildAdmin } from "./medusa-store.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
const SUITE_TIMEOUT_MS = 20 * 60 * 1000;

/**
 * A folder with tests.
 * @typedef {object} Suite
 * @property {string} folder
 * @property {string[]} needs the parts to build first
 * @property {boolean} [browser] whether it opens pages
 * @property {boolean} [admin] whether it opens Medusa's admin, which is built then
 * @property {boolean} [widget] whether it has tests that run in a page, besides those in Node
 */

/** In the order in which they run: what is quick and what others build on comes first. @type {[string, Suite][]} */
const suites = Object.entries({
  client: { folder: "packages/client", needs: ["client", "service"] },
  service: { folder: "packages/service", needs: ["service"] },
  checkout: { folder: "packages/checkout", needs: ["checkout", "service"] },
  widget: { folder: "packages/widget", needs: ["widget"], browser: true, widget: true },
  events: { folder: "examples/events-cli", needs: ["client", "service"] },
  medusa: { folder: "packages/medusa", needs: ["service", "store"] },
  whole: { folder: "test", needs: ["service", "store", "storefront"], browser: true, admin: true },
});
const suiteNames = suites.map(([name]) => name);

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** The process that runs now, to end with this one. @type {import("node:child_process").ChildProcess | undefined} */
let running;
const interrupt = new AbortController();

/**
 * Runs Node to its end with its output shown as it comes.
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<{ code: number | null, output: string }>}
 */
async function show(args, cwd) {
  const { FORCE_COLOR: _, ...rest } = process.env;
  const env = { ...rest, NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"], env });
  running = child;
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const timer = setTimeout(() => {
    process.stdout.write(`\nStopped: not finished after ${SUITE_TIMEOUT_MS / 60_000} minutes.\n`);
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
  }, SUITE_TIMEOUT_MS);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, output };
  } finally {
    clearTimeout(timer);
    running = undefined;
  }
}

/** @param {string} folder @returns {Promise<Counts>} */
async function runVitest(folder) {
  const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-tests-"));
  try {
    const file = path.join(scratch, "result.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const { code } = await show([vitest, "run", "--slowTestThreshold=10000", ...reporters], folder);
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
    const result = JSON.parse(await readFile(file, "utf8"));
    const { numPassedTests: passed, numFailedTests: failed, numTotalTests: total } = result;
    // A runner that fails without a failed test (a file that doesn't load, an error outside of tests) has failed.
    return { passed, failed: Math.max(failed, code === 0 ? 0 : 1), skipped: total - passed - failed };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @param {string} folder @returns {Promise<Counts>} */
async function runInBrowser(folder) {
  const runner = path.join(path.dirname(require.resolve("@web/test-runner")), "bin.js");
  const { code, output } = await show([runner], folder);
  const last = [...output.matchAll(/(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/g)].at(-1);
  const count = (/** @type {number} */ group) => Number(last?.[group] ?? 0);
  return { passed: count(1), failed: Math.max(count(2), code === 0 ? 0 : 1), skipped: count(3) };
}

/** @param {Suite} suite @returns {Promise<Counts>} */
async function runSuite(suite) {
  const folder = path.join(root, suite.folder);
  const counts = await runVitest(folder);
  if (!suite.widget || interrupt.signal.aborted) return counts;
  const more = await runInBrowser(folder);
  return {
    passed: counts.passed + more.passed,
    failed: counts.failed + more.failed,
    skipped: counts.skipped + more.skipped,
  };
}

/** @param {number} startedAt */
const secondsSince = (startedAt) => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

/** @param {string} text */
const say = (text) => void process.stdout.write(`${text}\n`);

/** @param {Counts} counts */
const written = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** @param {typeof suites} chosen @returns {Promise<boolean>} whether all passed */
async function runAll(chosen) {
  const startedAt = performance.now();
  requireNode();
  if (chosen.some(([, suite]) => suite.browser)) {
    const browser = await findBrowser();
    say(`browser: ${browser.from} (${browser.path})`);
  }
  await build([...new Set(chosen.flatMap(([, suite]) => suite.needs))], {
    progress: say,
    signal: interrupt.signal,
  });
  if (chosen.some(([, suite]) => suite.admin)) await buildAdmin({ progress: say, signal: interrupt.signal });
  const summary = [];
  const failures = [];
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const [index, [name, suite]] of chosen.entries()) {
    const suiteStartedAt = performance.now();
    say(`\n── ${name} (${index + 1} of ${chosen.length}) ──`);
    const counts = await runSuite(suite);
    if (interrupt.signal.aborted) return false;
    if (counts.passed + counts.failed === 0) counts.failed = 1; // no test is no success
    for (const key of /** @type {const} */ (["passed", "failed", "skipped"])) sum[key] += counts[key];
    if (counts.failed > 0) failures.push(name);
    const mark = counts.failed > 0 ? "✗" : "✓";
    summary.push(`${mark} ${name.padEnd(9)} ${written(counts)} in ${secondsSince(suiteStartedAt)}`);
  }
  say(`\n${summary.join("\n")}\n`);
  if (failures.length > 0) say(`To run only what failed: npm test -- ${failures.join(" ")}`);
  say(`${written(sum)} in ${secondsSince(startedAt)}`);
  return failures.length === 0;
}

const HELP = `Runs every test. Nothing has to be installed besides what npm has brought; the suite "whole" tries the packed packages in
fresh folders, for which it needs the npm registry.

  npm test                      everything
  npm test -- client service    these suites

Suites: ${suiteNames.join(", ")}
`;

/** Where npm brings no Node of its own, the machine's has to be new enough for the test runner. */
function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return;
  throw new Error(`The tests need Node 22.12 or newer; this is ${process.versions.node}.`);
}

/** @returns {typeof suites | undefined} undefined when there is nothing to run */
function readCommandLine() {
  try {
    const { values, positionals } = parseArgs({
      options: { help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => !suiteNames.includes(name));
    if (unknown !== undefined) throw new Error(`There is no suite "${unknown}".`);
    if (!values.help)
      return suites.filter(([name]) => positionals.length === 0 || positionals.includes(name));
    process.stdout.write(HELP);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exitCode = 2;
  }
  return undefined;
}

const chosen = readCommandLine();
if (chosen) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
    process.on(signal, () => {
      interrupt.abort();
      running?.kill("SIGTERM");
    });
  }
  try {
    process.exitCode = (await runAll(chosen)) ? 0 : 1;
  } catch (error) {
    if (!interrupt.signal.aborted)
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
  if (interrupt.signal.aborted) process.exitCode = 130;
}
