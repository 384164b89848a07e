/**
 * The shop in which carts are measured. It uses the Medusa release that the loyalty plugin requires, so it has its own
 * packages. The first run installs them.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installLocked } from "../lib/locked-folder.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const home = path.join(root, "scripts", "bench", "loyalty");
const shop = path.join(home, "shop");
const packages = path.join(home, "node_modules");
const appDir = path.join(shop, ".medusa", "server");

/**
 * Prepares the shop with the latest build of this repository's packages.
 * @param {{ say: (text: string) => void }} options
 * @returns {Promise<string>} the application's folder
 */
export async function openBenchStore({ say }) {
  await installLocked({ home, what: "the shop with Medusa's loyalty plugin (700 MB)", say });
  for (const name of ["client", "checkout", "medusa"]) await copyPackage(name);
  await rm(appDir, { recursive: true, force: true });
  // The goods alone: the three shops differ only in how gift cards are paid with.
  for (const folder of ["seed", "migration-scripts"]) {
    const from = path.join(root, "examples", "medusa-store", ".medusa", "server", "src", folder);
    await cp(from, path.join(appDir, "src", folder), { recursive: true });
  }
  for (const file of ["medusa-config.js", "package.json"]) await cp(path.join(shop, file), path.join(appDir, file));
  checkMedusa();
  return appDir;
}

/**
 * Copies a package in as npm would unpack it. Through a link, the package would load this repository's newer Medusa.
 * @param {string} name
 */
async function copyPackage(name) {
  const from = path.join(root, "packages", name);
  const to = path.join(packages, "@giftcard-pay", name);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  const { files } = JSON.parse(await readFile(path.join(from, "package.json"), "utf8"));
  for (const file of ["package.json", ...files.filter((/** @type {string} */ file) => !file.startsWith("!"))]) {
    await cp(path.join(from, file), path.join(to, file), { recursive: true });
  }
}

/** Checks that the plugin loads the shop's own Medusa. */
function checkMedusa() {
  const plugin = createRequire(path.join(packages, "@giftcard-pay", "medusa", "package.json"));
  for (const name of ["@medusajs/framework/utils", "@medusajs/medusa/core-flows"]) {
    const found = plugin.resolve(name);
    if (!found.startsWith(packages) || !existsSync(found))
      throw new Error(`The plugin resolves ${name} to ${found}, outside the benchmark's shop.`);
  }
}
