/** Works out which tests the words of `npm test -- …` mean. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { root, UsageError } from "../lib/command.mjs";
import { quick } from "./quick.mjs";
import { suites } from "./suites.mjs";

/** @typedef {import("./suites.mjs").SuiteName} SuiteName */

/**
 * Tests to run.
 * @typedef {object} Choice
 * @property {SuiteName[]} names suites with a chosen file
 * @property {string[] | undefined} files vitest's files, from the root; undefined means all of these suites
 * @property {boolean} isShort whether tests with the tag "long" are left out: if nothing is named, and in the quick ones
 * @property {{ folder: string, files?: string[] }[]} pages folders whose browser tests run; without `files`, all of them
 */

/** @param {string} name @returns {name is SuiteName} */
const isSuite = (name) => Object.hasOwn(suites, name);

/**
 * @param {string[]} words names of suites, "all", "quick", or parts of file names
 * @returns {Promise<Choice>}
 * @throws {UsageError} if no file matches
 */
export async function chooseTests(words) {
  const every = /** @type {SuiteName[]} */ (Object.keys(suites));
  const named = every.filter((name) => words.includes(name));
  const parts = words.filter((word) => !isSuite(word) && word !== "quick" && word !== "all");
  const names = named.length > 0 ? named : every;
  const isQuick = words.includes("quick");
  if (parts.length === 0 && !isQuick) {
    return {
      ...{ names, files: undefined, isShort: words.length === 0 },
      pages: names.filter(hasPages).map((name) => ({ folder: suites[name].folder })),
    };
  }
  /** @param {string} file */
  const isWanted = (file) =>
    (!isQuick || quick.some((name) => isOf(file, name))) &&
    (parts.length === 0 || parts.some((part) => file.includes(part)));
  const lists = await Promise.all(names.map(async (name) => ({ name, files: await listTests(name) })));
  if (isQuick && named.length === 0) refuseMissing(lists.flatMap(({ files }) => files));
  const found = lists.map(({ name, files }) => ({ name, files: files.filter(isWanted) }));
  const chosen = found.filter(({ files }) => files.length > 0);
  if (chosen.length === 0) throw new UsageError(`No test file of ${names.join(", ")} matches ${parts.join(", ")}.`);
  const isPage = (/** @type {string} */ file) => file.endsWith(".browser.ts");
  return {
    names: chosen.map(({ name }) => name),
    isShort: isQuick,
    files: chosen.flatMap(({ files }) => files.filter((file) => !isPage(file))),
    pages: chosen.flatMap(({ name, files }) => {
      const pages = files.filter(isPage);
      return pages.length > 0 ? [{ folder: suites[name].folder, files: pages }] : [];
    }),
  };
}

/** @param {string} file @param {string} name a file or a folder */
const isOf = (file, name) => file === name || file.startsWith(`${name}/`);

/** Makes a renamed test stay among the quick ones. @param {string[]} files all that there are @throws {Error} */
function refuseMissing(files) {
  const missing = quick.filter((name) => !files.some((file) => isOf(file, name)));
  if (missing.length > 0)
    throw new Error(`scripts/test/quick.mjs names tests that don't exist: ${missing.join(", ")}.`);
}

/** @param {SuiteName} name */
function hasPages(name) {
  /** @type {import("./suites.mjs").Suite} */
  const suite = suites[name];
  return suite.hasBrowserTests ?? false;
}

/** Lists a suite's files, from the root, with slashes. @param {SuiteName} name */
async function listTests(name) {
  const { folder } = suites[name];
  const inside = folder === "test" ? folder : `${folder}/test`;
  const entries = await readdir(path.join(root, inside), { recursive: true });
  const end = hasPages(name) ? /\.(test|browser)\.ts$/ : /\.test\.ts$/;
  return entries
    .map((entry) => `${inside}/${entry.replaceAll(path.sep, "/")}`)
    .filter((file) => end.test(file) && !/\/(node_modules|test\/shared)\//.test(file));
}
