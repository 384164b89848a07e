/** Runs every test: brings what they need, builds, then vitest and beside it what runs in a page, and counts. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { command, requireNode, root, UsageError, vitest } from "./command.mjs";
import { findBrowser } from "./find-browser.mjs";
import { buildAdmin } from "./shops/medusa-store.mjs";

/**
 * One of vitest's projects.
 * @typedef {object} Suite
 * @property {string[]} needs the parts to build first
 * @property {boolean} [browser] whether it opens pages
 * @property {boolean} [admin] whether it opens Medusa's admin, which is built then
 * @property {string} [inPage] the folder with tests that run in a page, besides those in Node
 */

/** @type {Record<string, Suite>} */
const suites = {
  client: { needs: ["client", "service"] },
  service: { needs: ["service"] },
  checkout: { needs: ["checkout", "service"] },
  widget: { needs: ["widget"], browser: true, inPage: "packages/widget" },
  events: { needs: ["events", "service"] },
  medusa: { needs: ["service", "store"] },
  "medusa-events": { needs: ["service", "store"] },
  whole: { needs: ["service", "store", "storefront"], browser: true, admin: true },
};

const HELP = `Runs every test. Nothing has to be installed besides what npm has brought; the suite "whole" tries the packed packages in
fresh folders, for which it needs the npm registry.

  npm test                      everything
  npm test -- client service    these suites

Suites: ${Object.keys(suites).join(", ")}
`;

const cache = path.join(root, "node_modules", ".cache", "giftcard-pay");

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/**
 * Runs Node to its end with its output shown: as it comes, or all of it at its end, where another run's comes meanwhile.
 * @param {string[]} args
 * @param {{ cwd: string, signal: AbortSignal, atEnd?: boolean }} options
 * @returns {Promise<{ code: number | null, output: string }>}
 */
async function show(args, { cwd, signal, atEnd = false }) {
  const { FORCE_COLOR: _, ...rest } = process.env;
  // Hundreds of processes load the same modules: each but the first finds them compiled.
  const env = { ...rest, NO_COLOR: "1", NODE_COMPILE_CACHE: path.join(cache, "compiled") };
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"], env });
  const stop = () => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (!atEnd) process.stdout.write(chunk);
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  signal.removeEventListener("abort", stop);
  if (atEnd) process.stdout.write(output);
  return { code, output };
}

/** @param {string[]} names @param {AbortSignal} signal @returns {Promise<Counts>} */
async function runVitest(names, signal) {
  const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-tests-"));
  try {
    const file = path.join(scratch, "result.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const projects = names.map((name) => `--project=${name}`);
    const { code } = await show([vitest, "run", ...projects, ...reporters], { cwd: root, signal });
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
    const result = JSON.parse(await readFile(file, "utf8"));
    const { numPassedTests: passed, numFailedTests: failed, numTotalTests: total } = result;
    // A runner that fails without a failed test (a file that doesn't load, an error outside of tests) has failed.
    return { passed, failed: Math.max(failed, code === 0 ? 0 : 1), skipped: total - passed - failed };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {AbortSignal} signal @returns {Promise<Counts>} */
async function runInPage(folder, signal) {
  const require = createRequire(import.meta.url);
  const runner = path.join(path.dirname(require.resolve("@web/test-runner")), "bin.js");
  const { code, output } = await show([runner], { cwd: path.join(root, folder), signal, atEnd: true });
  const last = [...output.matchAll(/(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/g)].at(-1);
  const count = (/** @type {number} */ group) => Number(last?.[group] ?? 0);
  return { passed: count(1), failed: Math.max(count(2), code === 0 ? 0 : 1), skipped: count(3) };
}

/** @param {Counts} counts */
const written = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

await command({ help: HELP, positionals: true }, async ({ positionals, signal, say }) => {
  const unknown = positionals.find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined) throw new UsageError(`There is no suite "${unknown}".`);
  const names = positionals.length > 0 ? positionals : Object.keys(suites);
  const chosen = names.map((name) => /** @type {Suite} */ (suites[name]));
  const startedAt = performance.now();
  requireNode("The tests need");
  if (chosen.some(({ browser }) => browser)) {
    const browser = await findBrowser();
    say(`browser: ${browser.from} (${browser.path})`);
  }
  await build([...new Set(chosen.flatMap(({ needs }) => needs))], { progress: say, signal });
  if (chosen.some(({ admin }) => admin)) await buildAdmin({ progress: say, signal });
  const pages = chosen.flatMap(({ inPage }) => (inPage === undefined ? [] : [runInPage(inPage, signal)]));
  const [sum, ...others] = await Promise.all([runVitest(names, signal), ...pages]);
  for (const counts of others) {
    for (const key of /** @type {const} */ (["passed", "failed", "skipped"])) sum[key] += counts[key];
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  // No test is no success.
  if (sum.passed + sum.failed === 0) sum.failed = 1;
  say(`\n${written(sum)} in ${seconds} s`);
  return sum.failed > 0 ? 1 : 0;
});
