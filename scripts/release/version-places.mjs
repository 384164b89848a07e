/** The places that contain the packages' version, besides their package.json, which Changesets writes. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const OURS = /^@giftcard-pay\/(?!example-)/;

/** @typedef {(text: string, version: string) => string} Renew */

/** A private package.json: its own version, and those of ours that it depends on. @type {Renew} */
const manifest = (text, version) => {
  const ofOurs = Object.entries({ ...JSON.parse(text).dependencies, ...JSON.parse(text).devDependencies });
  const renewed = ofOurs
    .filter(([name]) => OURS.test(name))
    .reduce((now, [name, old]) => now.replaceAll(`"${name}": "${old}"`, `"${name}": "${version}"`), text);
  return renewed.replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`);
};

/** By file, from the repository's root. @type {Record<string, Renew>} */
const places = {
  "package.json": manifest,
  "examples/medusa-store/package.json": manifest,
  "examples/medusa-store/storefront/package.json": manifest,
  "examples/plain-shop/package.json": manifest,
  // Not a workspace, so Changesets doesn't write it.
  "packages/vendure/package.json": manifest,
  "packages/medusa/test/store/package.json": manifest,
  "packages/medusa-events/test/store/package.json": manifest,
  "packages/client/src/version.ts": (text, version) => text.replace(/VERSION = "[^"]*"/, `VERSION = "${version}"`),
};

/**
 * Returns the version that all packages share.
 * @param {string} root the repository
 * @param {string[]} names the published packages' folders
 * @throws {Error} if their versions differ
 */
export async function readVersion(root, names) {
  const manifests = names.map((name) => path.join(root, "packages", name, "package.json"));
  const texts = await Promise.all(manifests.map((file) => readFile(file, "utf8")));
  const versions = [...new Set(texts.map((text) => JSON.parse(text).version))];
  if (versions.length === 1) return String(versions[0]);
  throw new Error(`The packages have the versions ${versions.join(", ")}. They move together: give them one.`);
}

/**
 * Writes the version to every place.
 * @param {string} root
 * @param {string} version
 * @returns {Promise<string[]>} the files that had another one
 */
export async function renewVersion(root, version) {
  const stale = await staleFiles(root, version);
  for (const [file, text] of stale) await writeFile(path.join(root, file), text);
  return stale.map(([file]) => file);
}

/**
 * @param {string} root
 * @param {string} version
 * @returns {Promise<[file: string, text: string][]>} the files that have another version, as they should be
 */
export async function staleFiles(root, version) {
  /** @type {[string, string][]} */
  const stale = [];
  for (const [file, renew] of Object.entries(places)) {
    const text = await readFile(path.join(root, file), "utf8");
    const renewed = renew(text, version);
    if (renewed !== text) stale.push([file, renewed]);
  }
  return stale;
}

/**
 * Returns the file names of the pending changesets.
 * @param {string} root
 */
export async function waitingChangesets(root) {
  return (await readdir(path.join(root, ".changeset"))).filter((name) => name.endsWith(".md"));
}
