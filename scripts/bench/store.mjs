/**
 * The shop in which carts are measured: at the release of Medusa that its loyalty plugin asks for, and so with packages
 * of its own, which are installed when they are needed first.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installLocked } from "../locked-folder.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const home = path.join(root, "scripts", "bench", "loyalty");
const shop = path.join(home, "shop");
const packages = path.join(home, "node_modules");
const appDir = path.join(shop, ".medusa", "server");

/**
 * Makes the shop ready to start, with this repository's packages as they were built last.
 * @param {{ say: (text: string) => void }} options
 * @returns {Promise<string>} the application's folder
 */
export async function openBenchStore({ say }) {
  await installLocked({ home, what: "the shop with Medusa's loyalty plugin (700 MB)", say });
  for (const name of ["client", "checkout", "medusa"]) await copyPackage(name);
  await rm(appDir, { recursive: true, force: true });
  const seed = path.join(root, "examples", "medusa-store", ".medusa", "server", "src");
  await cp(seed, path.join(appDir, "src"), { recursive: true });
  for (const file of ["medusa-config.js", "package.json"])
    await cp(path.join(shop, file), path.join(appDir, file));
  checkMedusa();
  return appDir;
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
