/** A user's project with the packed packages: installed by npm, type-checked, and run. */
import { execFile } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runNode, startNode } from "../lib/process.mjs";
import { checkOldestTypes } from "./oldest-types.mjs";
import { outsideEnv, runNpm } from "./pack.mjs";
import { checkSdkTypes } from "./sdk-types.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** @typedef {import("./pack.mjs").Node} Node */
/** @typedef {"esm" | "cjs"} Kind */
/** @typedef {{ progress?: (text: string) => void, signal?: AbortSignal | undefined }} Watched */

/**
 * Creates a new project, installs the packages there by npm, type-checks a shop by `node16` (and by `bundler`, as ES
 * modules), and runs it with each Node.
 *
 * @param {object} options
 * @param {Kind} options.kind
 * @param {Record<string, string>} options.specs what npm installs, by the packages' names: tarballs, as `packPackages`
 *   gives them, or names with versions
 * @param {Node[]} options.nodes the first one also runs npm and the compiler
 * @param {string} options.folder a new one
 * @param {boolean} [options.withFrameworks] also installs React, Vue and Svelte, and type-checks pages with them
 * @param {Watched} [watched]
 * @returns {Promise<string[]>} the output of each run
 * @throws with the output of the compiler or the shop
 */
export async function tryProject({ kind, specs, nodes, folder, withFrameworks = false }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  const [{ path: node }] = /** @type {[Node]} */ (nodes);
  await writeProject(folder, kind, withFrameworks);
  const { "@giftcard-pay/medusa": _, "@giftcard-pay/medusa-events": _events, ...ours } = specs;
  progress(`${kind}: npm install`);
  await runNpm(["install", ...Object.values(ours), ...(await libraries(withFrameworks))], {
    cwd: folder,
    node,
    ...early,
  });
  // A bundler resolves both kinds in the same way.
  for (const resolution of kind === "esm" ? ["node16", "bundler"] : ["node16"]) {
    progress(`${kind}: types by ${resolution}`);
    await checkTypes({ folder, node, project: `tsconfig.${resolution}.json`, ...early });
  }
  if (kind === "esm") {
    progress("types by the oldest TypeScript");
    // The tests skip the other resolutions: attw finds the same faults in less time.
    await checkOldestTypes({ folder, node, ...(withFrameworks ? {} : { by: ["node16"] }), ...early });
    progress("types by the SDKs of Stripe and Mollie");
    await checkSdkTypes({ folder, node, ...early });
  }
  const said = [];
  for (const one of nodes) {
    progress(`${kind}: service and shop on Node ${one.version}`);
    said.push(await runShop({ folder, node: one, ...early }));
  }
  return said;
}

/** Returns the shop's other dependencies, in the versions that we build with. @param {boolean} withFrameworks */
async function libraries(withFrameworks) {
  const names = ["typescript", "@types/node", "pg", "@types/pg"];
  if (withFrameworks) names.push("react", "@types/react", "@lit/react", "vue", "svelte");
  /** @type {Record<string, string>} */
  const known = {};
  for (const folder of [".", "packages/service", "packages/widget"]) {
    const { dependencies, devDependencies } = await readJson(path.join(root, folder, "package.json"));
    Object.assign(known, dependencies, devDependencies);
  }
  return names.map((name) => `${name}@${known[name]}`);
}

/** @param {string} folder @param {Kind} kind @param {boolean} withFrameworks */
async function writeProject(folder, kind, withFrameworks) {
  const pages = path.join(root, "packages/widget/test/frameworks");
  await cp(path.join(root, "test/packed/project"), path.join(folder, "src"), { recursive: true });
  for (const name of await readdir(pages)) {
    // Svelte's own types are for ES modules only.
    const isUsable = withFrameworks && /\.tsx?$/.test(name) && (kind === "esm" || name !== "svelte.ts");
    if (name === "plain.ts" || isUsable) await cp(path.join(pages, name), path.join(folder, "src", name));
  }
  const type = kind === "esm" ? "module" : "commonjs";
  const options = {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    jsx: "react-jsx",
    rootDir: "src",
  };
  const byNode = { module: "node16", moduleResolution: "node16", outDir: "dist" };
  const byBundler = { module: "esnext", moduleResolution: "bundler", noEmit: true };
  const write = (/** @type {string} */ name, /** @type {object} */ value) =>
    writeFile(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
  await write("package.json", { name: `shop-${kind}`, private: true, type });
  await write("tsconfig.node16.json", { compilerOptions: { ...options, ...byNode }, include: ["src"] });
  await write("tsconfig.bundler.json", { compilerOptions: { ...options, ...byBundler }, include: ["src"] });
}

/**
 * Compiles the project. Ignores errors in other packages' types.
 * @param {{ folder: string, node: string, project: string, noEmit?: boolean, signal?: AbortSignal }} options
 */
export async function checkTypes({ folder, node, project, noEmit = false, signal }) {
  const tsc = path.join(folder, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "--project", project, "--pretty", "false", ...(noEmit ? ["--noEmit"] : [])];
  const running = promisify(execFile)(node, args, {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
    ...(signal && { signal }),
  });
  const text = await running.then(
    ({ stdout }) => stdout,
    (error) => {
      // Not a list of type errors, but for example out of memory.
      if (!/error TS/.test(error.stdout ?? "")) throw error;
      return String(error.stdout);
    },
  );
  const ours = text.split("\n").filter((line) => /error TS/.test(line) && !isTheirs(line));
  if (ours.length > 0) throw new Error(`The types of ${folder} by ${project}:\n${ours.join("\n")}`);
}

/** @param {string} line */
const isTheirs = (line) => line.startsWith("node_modules/") && !line.startsWith("node_modules/@giftcard-pay/");

/**
 * Runs the shop against the service, both installed from the packages.
 * @param {{ folder: string, node: Node, signal?: AbortSignal }} options
 * @returns {Promise<string>} the shop's output
 */
async function runShop({ folder, node, signal }) {
  const service = await startPackedService({ folder, node, ...(signal && { signal }) });
  try {
    const settings = {
      GIFTCARD_BASE_URL: service.url,
      GIFTCARD_API_KEY: service.apiKey,
      GIFTCARD_COMPANY_ID: String(service.companyId),
      CARDS: JSON.stringify([await service.issueCard(7500), await service.issueCard(7500)]),
      SQLITE_FILE: hasSqlite(node.version) ? path.join(folder, `shop-${node.version}.db`) : "",
    };
    const said = await runNode({
      name: `The shop on Node ${node.version}`,
      node: node.path,
      args: ["--import", warningsAreErrors, "dist/shop.js"],
      cwd: folder,
      env: { ...outsideEnv(node.path), ...settings },
      ...(signal && { signal }),
    });
    const events = path.join(folder, "node_modules", "@giftcard-pay", "events", "events.csv");
    await runNode({
      name: `giftcard-events on Node ${node.version}`,
      node: node.path,
      args: [await programOf(folder, "@giftcard-pay/events", "giftcard-events"), "check", events],
      cwd: folder,
      env: outsideEnv(node.path),
      ...(signal && { signal }),
    });
    return said.trim();
  } finally {
    await service.stop();
  }
}

/**
 * Returns the script of a program from a project's dependency. Only npm links to it from `.bin`.
 * @param {string} folder @param {string} dependency @param {string} program
 */
export async function programOf(folder, dependency, program) {
  const its = path.join(folder, "node_modules", dependency);
  return path.join(its, (await readJson(path.join(its, "package.json"))).bin[program]);
}

/** @typedef {{ companyId: number, apiKey: string }} Company */

/**
 * Starts the service that is installed in a project, with its own database there. Creates a company unless one is given.
 * @param {{ folder: string, node: Node, port?: number, company?: Company, signal?: AbortSignal }} options
 */
export async function startPackedService({ folder, node, port = 0, company, signal }) {
  const program = await programOf(folder, "@giftcard-pay/service", "giftcard-service");
  const env = {
    ...outsideEnv(node.path),
    GIFTCARD_DATA_DIR: path.join(folder, `giftcard-data-${node.version}`),
    GIFTCARD_PASSWORD: "a shop's password",
  };
  const common = { node: node.path, cwd: folder, env, ...(signal && { signal }) };
  const { match, stop } = await startNode({
    ...common,
    name: "The gift card service",
    args: [program, "serve", "--environment", "sandbox", "--port", String(port), "--json"],
    ready: /"url":"([^"]+)"/,
  });
  const command = async (/** @type {string[]} */ ...args) =>
    JSON.parse(await runNode({ ...common, name: args.join(" "), args: [program, ...args, "--json"] }));
  try {
    const { companyId, apiKey } = company ?? (await makeCompany(command));
    /** @returns {Promise<import("../shops/card-service.mjs").IssuedCard>} */
    const issueCard = (/** @type {number} */ balanceCents) =>
      command("card", "issue", "--balance", String(balanceCents));
    return { url: String(match[1]), companyId, apiKey, issueCard, command, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {(...args: string[]) => Promise<any>} command @returns {Promise<Company>} */
async function makeCompany(command) {
  const made = await command("company", "create", "--name", "A shop", "--email", "shop@example.com");
  return { companyId: made.company_id, apiKey: made.apikey };
}

/** Fails on Node's warnings about experimental module loading. SQLite itself is experimental in some versions of Node. */
const warningsAreErrors = `data:text/javascript,${encodeURIComponent(
  `process.on("warning", (warning) => { if (!/SQLite/.test(warning.message)) throw warning; });`,
)}`;

/** @param {string} version */
function hasSqlite(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 13);
}

/** @param {string} file */
const readJson = async (file) => JSON.parse(await readFile(file, "utf8"));
