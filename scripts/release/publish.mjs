/** Publishes packed packages, each after its dependencies. Skips those that are published already. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { runNpm } from "../packed/pack.mjs";

/**
 * A package to publish.
 * @typedef {object} Packed
 * @property {string} name
 * @property {string} version
 * @property {string} tarball its path
 * @property {string[]} needs its dependencies
 */

/**
 * The result for a package: it was published, would be in a real run, or was published before with the same content.
 * @typedef {{ name: string, version: string, state: "published" | "not published" | "already published" }} Outcome
 */

/**
 * Publishes the packages. If a version is published already with other content, fails before publishing anything.
 * Otherwise a release would mix two states of the sources.
 *
 * @param {object} options
 * @param {Record<string, string>} options.tarballs by name, as `packPackages` gives them
 * @param {string} [options.registry] npm's own setting by default
 * @param {boolean} [options.isDryRun] does everything except publishing
 * @param {Record<string, string>} [options.env] for npm, such as a registry's token
 * @param {(text: string) => void} [options.say]
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Outcome[]>} in the order in which they were published
 * @throws if npm fails; the next run skips the packages published so far
 */
export async function publishPackages({ tarballs, registry, isDryRun = false, env, say = () => {}, signal }) {
  // Outside of the repository, so that its npm settings don't apply.
  const cwd = await mkdtemp(path.join(os.tmpdir(), "giftcard-publish-"));
  const toRegistry = registry === undefined ? [] : ["--registry", registry];
  // Bypass npm's cache: its copy of the metadata may be older than a release that was interrupted.
  const npmEnv = { npm_config_prefer_offline: "false", npm_config_prefer_online: "true", ...env };
  const npm = (/** @type {string[]} */ ...args) =>
    runNpm([...args, ...toRegistry], { cwd, env: npmEnv, ...(signal && { signal }) });
  try {
    const packages = inOrder(await Promise.all(Object.values(tarballs).map(readTarball)));
    const there = new Set();
    for (const one of packages) if (await isThere(one, npm, cwd)) there.add(one.name);
    /** @type {Outcome[]} */
    const outcomes = [];
    for (const { name, version, tarball } of packages) {
      if (!there.has(name)) {
        const tag = version.includes("-") ? "next" : "latest";
        const provenance = hasProvenance(registry) ? ["--provenance"] : [];
        const dry = isDryRun ? ["--dry-run"] : [];
        await npm("publish", tarball, "--access", "public", "--tag", tag, ...provenance, ...dry);
      }
      const state = there.has(name) ? "already published" : isDryRun ? "not published" : "published";
      say(`${name}@${version}: ${state}`);
      outcomes.push({ name, version, state });
    }
    return outcomes;
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Returns whether to publish with provenance: only to npm's own registry, and only from CI. @param {string | undefined} registry */
const hasProvenance = (registry) => registry === undefined && process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined;

/** @param {string} tarball @returns {Promise<Packed>} */
async function readTarball(tarball) {
  const { stdout } = await promisify(execFile)("tar", ["-xzOf", tarball, "package/package.json"]);
  const { name, version, dependencies = {} } = JSON.parse(stdout);
  return { name, version, tarball, needs: Object.keys(dependencies) };
}

/** Sorts packages, so that each comes after its dependencies. @param {Packed[]} packages @returns {Packed[]} */
function inOrder(packages) {
  /** @type {Packed[]} */
  const ordered = [];
  while (ordered.length < packages.length) {
    const waiting = packages.filter((one) => !ordered.includes(one));
    const isWaiting = (/** @type {string} */ need) => waiting.some(({ name }) => name === need);
    const ready = waiting.filter(({ needs }) => !needs.some(isWaiting));
    if (ready.length === 0) throw new Error(`${waiting.map(({ name }) => name)} need each other.`);
    ordered.push(...ready);
  }
  return ordered;
}

/**
 * @param {Packed} one
 * @param {(...args: string[]) => Promise<string>} npm
 * @param {string} cwd npm's
 * @throws {Error} if the registry has this version with other content
 */
async function isThere({ name, version, tarball }, npm, cwd) {
  const spec = `${name}@${version}`;
  const found = await npm("view", spec, "version", "--loglevel", "error").catch((error) => {
    if (/E404/.test(error.message)) return "";
    throw error;
  });
  if (!found.includes(version)) return false;
  await npm("pack", spec);
  const published = await readFile(path.join(cwd, `${name.slice(1).replace("/", "-")}-${version}.tgz`));
  // Two packs of the same files may be compressed differently.
  if (gunzipSync(published).equals(gunzipSync(await readFile(tarball)))) return true;
  throw new Error(`${spec} is published already, with other content. Raise the version: npm run release -- version.`);
}
