/** Shared functions of this repository's commands. */
import "./environment.mjs";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const require = createRequire(import.meta.url);

/** The path of vitest's command, for Node to run. */
export const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");

/** @typedef {import("node:util").ParseArgsOptionsConfig} Config */

/**
 * The parsed command line.
 * @template {Config} Options
 * @typedef {object} Given
 * @property {ReturnType<typeof parseArgs<{ options: Options }>>["values"]} values
 * @property {string[]} positionals
 * @property {AbortSignal} signal is aborted by Ctrl-C
 * @property {(text: string) => void} say shows progress: on standard error if the result is JSON
 */

/**
 * Runs a command. `--help` prints its help. The exit code is 2 for a usage error, 1 for a failure and 130 for Ctrl-C.
 *
 * @template {Config} Options
 * @param {{ help: string, options?: Options, positionals?: boolean }} about with a `json` option, the result can be JSON
 * @param {(given: Given<Options>) => Promise<number | void>} run returns the exit code; 0 by default
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
 * Runs the subcommand that the first word of the command line names: the program of that name in a folder.
 *
 * @param {readonly string[]} names
 * @param {URL} folder with a slash at its end
 * @returns {Promise<boolean>} whether there was one
 */
export async function runSubcommand(names, folder) {
  const [name = ""] = process.argv.slice(2);
  if (!names.includes(name)) return false;
  process.argv.splice(2, 1);
  await import(new URL(`${name}.mjs`, folder).href);
  return true;
}

/**
 * Checks that Node is new enough for the repository's tools. npm can't install a Node on every system.
 * @param {string} whatNeeds the beginning of the error message
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
  throw new UsageError(`--port ${text} is not a port. Give a whole number, or 0 for a free port.`);
}

/** Waits for Ctrl-C. @param {AbortSignal} signal */
export async function interrupted(signal) {
  if (!signal.aborted) await once(signal, "abort");
}

/** An error on the command line. The command prints its help with it. */
export class UsageError extends Error {}

/** Vite, after the first load. It stays open because loaded modules may import others later. @type {Promise<any> | undefined} */
let loader;

async function openLoader() {
  const vite = createRequire(require.resolve("vitest/package.json")).resolve("vite");
  const { createServer } = await import(pathToFileURL(vite).href);
  return createServer({
    ...{ root, configFile: false, logLevel: "error", appType: "custom" },
    optimizeDeps: { noDiscovery: true },
    // Node loads packages, including those of this repository.
    ssr: { external: true },
    server: { middlewareMode: true, watch: null, ws: false },
  });
}

/**
 * Loads a TypeScript module as the tests do. Vite stays open until the command ends.
 * @param {string} file from the repository's root
 * @returns {Promise<any>}
 */
export async function loadTypeScript(file) {
  loader ??= openLoader();
  return (await loader).ssrLoadModule(path.join(root, file));
}
