/** What every command of this repository does alike. */
import "./environment.mjs";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

export const root = fileURLToPath(new URL("../", import.meta.url));
const require = createRequire(import.meta.url);

/** vitest's own command, to be run by Node. */
export const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");

/** @typedef {import("node:util").ParseArgsOptionsConfig} Config */

/**
 * What was asked for.
 * @template {Config} Options
 * @typedef {object} Given
 * @property {ReturnType<typeof parseArgs<{ options: Options }>>["values"]} values
 * @property {string[]} positionals
 * @property {AbortSignal} signal is aborted by Ctrl-C
 * @property {(text: string) => void} say shows progress: beside the result where that is JSON
 */

/**
 * Runs a command to its end. `--help` prints its help. A fault on the command line ends it with 2, a failure with 1,
 * Ctrl-C with 130.
 *
 * @template {Config} Options
 * @param {{ help: string, options?: Options, positionals?: boolean }} about `json` among the options: the result is JSON
 * @param {(given: Given<Options>) => Promise<number | void>} run answers with the exit code; 0 when it has none
 */
export async function command({ help, options, positionals: allowPositionals = false }, run) {
  const interrupt = new AbortController();
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => interrupt.abort());
  /** @param {unknown} error @param {number} code @param {string} [more] */
  const end = (error, code, more = "") => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${more}`);
    process.exitCode = code;
  };
  let given;
  try {
    given = parseArgs({
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals,
    });
  } catch (error) {
    return end(error, 2, `\n${help}`);
  }
  const values = /** @type {Given<Options>["values"]} */ (given.values);
  if (given.values.help) return void process.stdout.write(help);
  const output = "json" in values && values.json ? process.stderr : process.stdout;
  const say = (/** @type {string} */ text) => void output.write(`${text}\n`);
  const { signal } = interrupt;
  try {
    const code = await run({ values, positionals: given.positionals, signal, say });
    process.exitCode = signal.aborted ? 130 : (code ?? 0);
  } catch (error) {
    if (signal.aborted) process.exitCode = 130;
    else if (error instanceof UsageError) end(error, 2, `\n${help}`);
    else end(error, 1);
  } finally {
    await (await loader)?.close();
  }
}

/**
 * Where npm brings no Node of its own, the machine's has to be new enough for what the repository is worked on with.
 * @param {string} whatNeeds how the sentence begins
 */
export function requireNode(whatNeeds) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return;
  throw new Error(`${whatNeeds} Node 22.12 or newer; this is ${process.versions.node}.`);
}

/**
 * Reads a port from the command line; 0 means any free one.
 * @param {string} text
 * @throws {UsageError}
 */
export function readPort(text) {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port ${text} is no port. Give a whole number, or 0 for a free one.`);
}

/** Waits for Ctrl-C. @param {AbortSignal} signal */
export async function interrupted(signal) {
  if (!signal.aborted) await once(signal, "abort");
}

/** What was asked for can't be done: the command's help is shown with it. */
export class UsageError extends Error {}

/** Vite, once something was loaded; it stays open, since what was loaded may load more. @type {Promise<any> | undefined} */
let loader;

async function openLoader() {
  const vite = createRequire(require.resolve("vitest/package.json")).resolve("vite");
  const { createServer } = await import(pathToFileURL(vite).href);
  return createServer({
    ...{ root, configFile: false, logLevel: "error", appType: "custom" },
    optimizeDeps: { noDiscovery: true },
    // Packages are Node's to load, also those of this repository.
    ssr: { external: true },
    server: { middlewareMode: true, watch: null, ws: false },
  });
}

/**
 * Loads TypeScript as the tests do, until the command ends.
 * @param {string} file from the repository's root
 * @returns {Promise<any>}
 */
export async function loadTypeScript(file) {
  loader ??= openLoader();
  return (await loader).ssrLoadModule(path.join(root, file));
}
