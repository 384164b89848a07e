/**
 * The shop in which carts are measured: at the release of Medusa that its loyalty plugin asks for, and so with packages
 * of its own, which are installed when they are needed first.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const home = path.join(root, "scripts", "bench", "loyalty");
const shop = path.join(home, "shop");
const packages = path.join(home, "node_modules");
const appDir = path.join(shop, ".medusa", "server");
const STILL_AT_WORK_MS = 15_000;

/**
 * Makes the shop ready to start, with this repository's packages as they were built last.
 * @param {{ say: (text: string) => void }} options
 * @returns {Promise<string>} the application's folder
 */
export async function openBenchStore({ say }) {
  await install(say);
  for (const name of ["client", "checkout", "medusa"]) await copyPackage(name);
  await rm(appDir, { recursive: true, force: true });
  const seed = path.join(root, "examples", "medusa-store", ".medusa", "server", "src");
  await cp(seed, path.join(appDir, "src"), { recursive: true });
  for (const file of ["medusa-config.js", "package.json"])
    await cp(path.join(shop, file), path.join(appDir, file));
  checkMedusa();
  return appDir;
}

/** @param {(text: string) => void} say */
async function install(say) {
  const stamp = path.join(packages, ".installed");
  const lock = createHash("sha256").update(await readFile(path.join(home, "package-lock.json")));
  const wanted = lock.digest("hex");
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) return;
  say("installing the shop with Medusa's loyalty plugin: once, about 700 MB, a minute or two");
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0);
  const progress = setInterval(() => say(`  still at it, ${seconds()} s`), STILL_AT_WORK_MS);
  try {
    await npm("ci");
  } finally {
    clearInterval(progress);
  }
  await writeFile(stamp, wanted);
  say(`  installed in ${seconds()} s`);
}

/** Runs npm in the shop's folder: the npm that runs us, or the one on the PATH. @param {string[]} args */
async function npm(...args) {
  const script = process.env.npm_execpath;
  const [command, first] = script ? [process.execPath, [script]] : ["npm", []];
  const child = spawn(command, [...first, ...args], {
    cwd: home,
    env: { ...process.env, MEDUSA_DISABLE_TELEMETRY: "true" },
    stdio: ["ignore", "pipe", "pipe"],
    shell: !script && process.platform === "win32",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Error(`npm ${args.join(" ")} failed (${code}) in ${home}:\n${output.slice(-4000)}`);
}

/**
 * Puts a package in as npm would unpack it. A link would lead it to this repository's own, later Medusa.
 * @param {string} name
 */
async function copyPackage(name) {
  const from = path.join(root, "packages", name);
  const to = path.join(packages, "@giftcard-pay", name);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  const { files } = JSON.parse(await readFile(path.join(from, "package.json"), "utf8"));
  for (const file of [
    "package.json",
    ...files.filter((/** @type {string} */ file) => !file.startsWith("!")),
  ]) {
    await cp(path.join(from, file), path.join(to, file), { recursive: true });
  }
}

/** The plugin must not find another Medusa than the shop's. */
function checkMedusa() {
  const plugin = createRequire(path.join(packages, "@giftcard-pay", "medusa", "package.json"));
  for (const name of ["@medusajs/framework/utils", "@medusajs/medusa/core-flows"]) {
    const found = plugin.resolve(name);
    if (!found.startsWith(packages) || !existsSync(found))
      throw new Error(`The plugin finds ${name} at ${found}, not in the bench's own shop.`);
  }
}
