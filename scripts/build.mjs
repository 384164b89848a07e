/** Builds the packages and the example shop in dependency order. Skips parts that are up to date. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { command, root, UsageError } from "./lib/command.mjs";
import { runNode } from "./lib/process.mjs";

const stamps = path.join(root, "node_modules", ".cache", "giftcard-pay", "built");
const commonJs = fileURLToPath(new URL("build/commonjs.mjs", import.meta.url));
const medusaPlugin = fileURLToPath(new URL("build/medusa-plugin.mjs", import.meta.url));
const vendurePlugin = fileURLToPath(new URL("build/vendure-plugin.mjs", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/**
 * A part of the build.
 * @typedef {object} Part
 * @property {string} folder the working directory of the build
 * @property {string[]} args the arguments for Node
 * @property {string[]} [forced] extra arguments for a forced build
 * @property {boolean} [commonJs] whether its `exports` have files for `require`, which a second step writes
 * @property {string[]} output files that must exist after the build, relative to the folder
 * @property {string[]} needs the parts that must be built first
 * @property {string[]} [beside] other source folders, relative to the repository's root
 * @property {Record<string, string>} [env]
 */

const compiled = {
  args: [tsc, "--build"],
  forced: ["--force"],
  commonJs: true,
  output: ["dist/index.js", "dist/index.d.ts", "dist/index.cjs", "dist/index.d.cts"],
};

/** All parts, in build order. @satisfies {Record<string, Part>} */
const parts = {
  client: { ...compiled, folder: "packages/client", needs: [] },
  checkout: {
    ...compiled,
    folder: "packages/checkout",
    output: compiled.output.map((file) => file.replace("dist/", "dist/src/")),
    needs: ["client"],
  },
  events: { ...compiled, folder: "packages/events", needs: ["client"] },
  service: { ...compiled, folder: "packages/service", needs: ["client", "events"] },
  widget: {
    folder: "packages/widget",
    args: ["build.mjs"],
    commonJs: true,
    output: ["dist/index.js", "dist/index.cjs", "dist/giftcard-pay.standalone.js"],
    needs: ["checkout"],
  },
  medusa: {
    folder: "packages/medusa",
    // The storefront's files ship with the package: its command line copies them into a Next.js storefront.
    args: [medusaPlugin, "--copy", "../../examples/nextjs/src/modules/gift-cards", "nextjs"],
    output: [".medusa/server/src/config.js", ".medusa/server/src/config.d.ts"],
    needs: ["client", "checkout"],
    beside: ["examples/nextjs/src", "scripts/build"],
  },
  "medusa-events": {
    folder: "packages/medusa-events",
    args: [medusaPlugin],
    output: [".medusa/server/src/index.js", ".medusa/server/src/index.d.ts"],
    needs: ["client", "events"],
    beside: ["scripts/build"],
  },
  vendure: {
    folder: "packages/vendure",
    // Installs Vendure the first time: it is not a part of the workspaces.
    args: [vendurePlugin],
    output: ["dist/index.js", "dist/index.d.ts", "dist/storefront.mjs", "node_modules/@vendure/core/package.json"],
    needs: ["client", "checkout"],
    beside: ["scripts/build"],
  },
  store: {
    folder: "examples/medusa-store",
    args: ["medusa.cjs", "build"],
    output: [".medusa/server/medusa-config.js"],
    needs: ["medusa", "medusa-events"],
    // The admin pages take half a minute more; the demo builds them when it needs them.
    env: { NODE_ENV: "production", MEDUSA_DISABLE_TELEMETRY: "true", DISABLE_ADMIN: "true" },
  },
  storefront: {
    folder: "examples/medusa-store/storefront",
    args: ["--input-type=module", "--eval", 'await (await import("./serve.mjs")).buildStorefront()'],
    output: ["dist/index.html"],
    needs: ["widget"],
  },
};

/** @typedef {keyof typeof parts} PartName */
export const partNames = /** @type {PartName[]} */ (Object.keys(parts));

/**
 * Builds these parts and their dependencies. Skips each part whose sources, and those of its dependencies, haven't
 * changed since its last build here. Independent parts are built concurrently.
 *
 * @param {string[]} [names] all parts by default
 * @param {{ force?: boolean, progress?: (text: string) => void, signal?: AbortSignal }} [options]
 * @throws {Error} naming the part that failed, with the end of its output
 */
export async function build(names = partNames, { force = false, progress = () => {}, signal } = {}) {
  const wanted = new Set(names.flatMap((name) => [...needsOf(name), name]));
  /** The hash of each part's sources, once it is built. @type {Map<string, Promise<string>>} */
  const builds = new Map();
  /** @type {Promise<unknown>} */
  let previous = Promise.resolve();
  for (const name of partNames.filter((part) => wanted.has(part))) {
    const needed = parts[name].needs.map((need) => builds.get(need));
    // A forced build also recompiles its dependencies, so two at once would write the same files.
    const ready = force ? previous.then(() => Promise.all(needed)) : Promise.all(needed);
    const built = ready.then((hashes) => buildPart(name, hashes, { force, progress, ...(signal && { signal }) }));
    builds.set(name, built);
    previous = built;
  }
  const outcomes = await Promise.allSettled(builds.values());
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}

/**
 * @param {PartName} name
 * @param {(string | undefined)[]} neededHashes
 * @param {{ force: boolean, progress: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<string>} the hash of its sources
 */
async function buildPart(name, neededHashes, { force, progress, signal }) {
  /** @type {Part} */
  const part = parts[name];
  const hash = await hashOf(part, neededHashes);
  const stamp = path.join(stamps, name);
  const isBuilt = () => part.output.every((file) => existsSync(path.join(root, part.folder, file)));
  if (!force && isBuilt() && (await readStamp(stamp)) === hash) {
    progress(`${name}: up to date`);
    return hash;
  }
  progress(`${name}: building`);
  const startedAt = performance.now();
  await rm(stamp, { force: true });
  const run = (/** @type {string} */ step, /** @type {string[]} */ args) =>
    runNode({
      name: step,
      args,
      cwd: path.join(root, part.folder),
      ...(part.env && { env: part.env }),
      ...(signal && { signal }),
    });
  await run(`The build of ${name}`, force ? [...part.args, ...(part.forced ?? [])] : part.args);
  if (part.commonJs) await run(`The CommonJS build of ${name}`, [commonJs, "."]);
  if (!isBuilt()) throw new Error(`The build of ${name} succeeded without making ${part.output.join(", ")}.`);
  await mkdir(stamps, { recursive: true });
  await writeFile(stamp, hash);
  progress(`${name}: built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return hash;
}

/** @param {string} name @returns {string[]} */
function needsOf(name) {
  if (!Object.hasOwn(parts, name)) throw new Error(`There is no part "${name}". The parts: ${partNames.join(", ")}.`);
  const { needs } = parts[/** @type {PartName} */ (name)];
  return needs.flatMap((need) => [...needsOf(need), need]);
}

/** @param {string} stamp */
async function readStamp(stamp) {
  return readFile(stamp, "utf8").catch(() => undefined);
}

const notSources = new Set(["dist", "node_modules", "test", "coverage"]);
/** Files among the sources that don't affect the build. */
const notBuilt = /\.md$|^(vitest|web-test-runner)\.config\./;

/**
 * Returns a hash over the names and contents of all sources. Modification times would be wrong after a checkout.
 * @param {Part} part
 * @param {(string | undefined)[]} neededHashes
 */
async function hashOf(part, neededHashes) {
  const hash = createHash("sha256");
  for (const needed of neededHashes) hash.update(needed ?? "");
  const files = [path.join(root, "tsconfig.base.json"), path.join(root, "package-lock.json"), commonJs];
  for (const folder of [part.folder, ...(part.beside ?? [])]) await listSources(path.join(root, folder), files);
  for (const file of files) hash.update(`${path.relative(root, file)}\0`).update(await readFile(file));
  return hash.digest("hex");
}

/** @param {string} folder @param {string[]} files */
async function listSources(folder, files) {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const isHidden = entry.name.startsWith(".");
    // A package inside another (the shop's storefront) is a part of its own.
    if (isHidden || notSources.has(entry.name) || notBuilt.test(entry.name)) continue;
    const inside = path.join(folder, entry.name);
    if (entry.isFile()) files.push(inside);
    else if (entry.isDirectory() && !existsSync(path.join(inside, "package.json"))) await listSources(inside, files);
  }
}

const HELP = `Builds the packages and the example shop. Skips parts that are up to date.

  npm run build                     everything
  npm run build -- client service   these parts and their dependencies
  npm run build -- --force          rebuilds parts that are up to date too

Parts: ${partNames.join(", ")}
`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const options = /** @type {const} */ ({ force: { type: "boolean" } });
  await command({ help: HELP, options, positionals: true }, async ({ values, positionals, signal, say }) => {
    const startedAt = performance.now();
    const wrong = positionals.find((name) => !Object.hasOwn(parts, name));
    if (wrong !== undefined) throw new UsageError(`There is no part "${wrong}".`);
    const names = positionals.length > 0 ? positionals : partNames;
    await build(names, { force: values.force ?? false, progress: say, signal });
    say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  });
}
