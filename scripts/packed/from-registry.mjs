/** Tests the packages from a registry, for what tarballs can't show: names, programs, upgrades. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { publishPackages } from "../release/publish.mjs";
import { packAs } from "./older.mjs";
import { runNpm } from "./pack.mjs";
import { tryPages } from "./page.mjs";
import { tryPlainShop } from "./plain-shop.mjs";
import { startRegistry } from "./registry.mjs";
import { tryUpgrade } from "./upgrade.mjs";

/** A version older than every release. */
const OLDER = "0.0.9";

/**
 * Starts a registry, publishes the packages there as an older release and as the current one, and points npm to it.
 *
 * @param {object} options
 * @param {Record<string, string>} options.tarballs as `packPackages` gives them
 * @param {string} options.folder a new one
 * @param {(text: string) => void} options.say
 * @param {AbortSignal} [options.signal]
 * @returns the registry, and the specs for npm to install, by the packages' names
 */
export async function publishHere({ tarballs, folder, say, signal }) {
  const early = signal ? { signal } : {};
  const registry = await startRegistry({ folder: path.join(folder, "registry"), say, ...early });
  try {
    const older = await packAs(tarballs, OLDER, path.join(folder, "older"), signal);
    const there = { registry: registry.url, env: registry.publishEnv, say, ...early };
    await publishPackages({ ...there, tarballs: older });
    const outcomes = await publishPackages({ ...there, tarballs });
    const specs = Object.fromEntries(outcomes.map(({ name, version }) => [name, `${name}@${version}`]));
    registry.use();
    return { registry, specs, version: String(outcomes[0]?.version) };
  } catch (error) {
    await registry.stop();
    throw error;
  }
}

/**
 * Upgrades a shop and a service with their data. Runs the programs by npx, the plain shop, and the tag in pages.
 *
 * @param {object} options
 * @param {string} options.version that of the packages
 * @param {import("./pack.mjs").Node} options.node with SQLite
 * @param {string} options.folder a new one
 * @param {import("./project.mjs").Watched} [watched]
 */
export async function tryFromRegistry({ version, node, folder }, watched = {}) {
  const names = ["client", "checkout", "service"].map((name) => `@giftcard-pay/${name}`);
  await tryUpgrade({ names, from: OLDER, to: version, node, folder: path.join(folder, "upgraded") }, watched);
  const programs = path.join(folder, "programs");
  await tryPrograms({ version, node, folder: programs }, watched);
  const shop = path.join(folder, "plain-shop");
  await tryPlainShop({ folder: shop, serviceFolder: programs, node }, watched);
  await tryPages({ folder: path.join(folder, "pages"), version, node }, watched);
}

/**
 * Runs the npx commands from the READMEs of service and events. npx may not install anything else.
 * @param {{ version: string, node: import("./pack.mjs").Node, folder: string }} options
 * @param {import("./project.mjs").Watched} [watched]
 */
export async function tryPrograms({ version, node, folder }, { progress = () => {}, signal } = {}) {
  const npm = (/** @type {string[]} */ ...args) =>
    runNpm(args, { cwd: folder, node: node.path, ...(signal && { signal }) });
  progress("programs: by npx");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "name": "an-office", "private": true }\n');
  await npm("install", "--ignore-scripts", "@giftcard-pay/service", "@giftcard-pay/events");
  await cp(path.join(folder, "node_modules/@giftcard-pay/events/events.csv"), path.join(folder, "events.csv"));
  const said = await npm("exec", "--no", "--", "giftcard-service", "--version");
  if (!said.includes(version)) throw new Error(`npx giftcard-service --version said ${said}, not ${version}.`);
  await npm("exec", "--no", "--", "giftcard-events", "check", "events.csv");
  // Works even if npm runs no install scripts, including PostgreSQL's own.
  await npm("exec", "--no", "--", "giftcard-service", "migrate", "--data-dir", path.join(folder, "data"));
}
