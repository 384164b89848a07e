/** Checks the imports of packages against the lists of their folders in docs/architecture.md. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** The lists, each with the source folder that it describes. Type imports of the plugins are exempt. */
const lists = [
  { heading: "## The folders of the service", source: "packages/service/src" },
  { heading: "## The folders of checkout", source: "packages/checkout/src" },
  { heading: "## The folders of the Medusa plugin", source: "packages/medusa/src" },
  { heading: "## The folders of medusa-events", source: "packages/medusa-events/src" },
];

const ANY_IMPORT = /^(?:import|export)[^"';]*from "(\.[^"]+)"/gm;
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^"';]*from "(\.[^"]+)"/gm;

/**
 * Finds imports of a folder that is further up the list, and names in the list that don't exist.
 * @param {string} root the repository
 * @returns {Promise<string[]>} `file imports file`, or the missing name
 */
export async function importsThatGoUp(root) {
  const architecture = await readFile(path.join(root, "docs/architecture.md"), "utf8");
  const found = await Promise.all(lists.map((list) => upwardImports(root, list, architecture)));
  return found.flat();
}

/** @param {string} root @param {(typeof lists)[number]} list @param {string} architecture */
async function upwardImports(root, { heading, source }, architecture) {
  const ranks = ranksOf(architecture, heading);
  const folder = path.join(root, source);
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((file) => /\.tsx?$/.test(file));
  const missing = ranks.map(([name]) => name).filter((name) => !names.includes(name));
  const found = missing.map((name) => `${source}: docs/architecture.md lists ${name}, which doesn't exist`);
  for (const file of files) {
    const text = await readFile(path.join(folder, file), "utf8");
    for (const [, target = ""] of text.matchAll(source.includes("medusa") ? VALUE_IMPORT : ANY_IMPORT)) {
      const imported = path.join(path.dirname(file), target.replace(/\.js$/, ".ts"));
      const [from, to] = [rankOf(ranks, file), rankOf(ranks, imported)];
      if (from !== undefined && to !== undefined && to < from) found.push(`${source}: ${file} imports ${imported}`);
    }
  }
  return found;
}

/**
 * Returns the row of each folder or file in a list. Several can share a row.
 * @param {string} architecture @param {string} heading @returns {[name: string, rank: number][]}
 */
function ranksOf(architecture, heading) {
  const [, after = ""] = architecture.split(`${heading}\n`);
  const [table = ""] = after.split("\n## ");
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
  if (cells.length === 0) throw new Error(`docs/architecture.md has no list under "${heading}".`);
  return cells.flatMap((cell, rank) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => /** @type {[string, number]} */ ([name, rank])),
  );
}

/** @param {[name: string, rank: number][]} ranks @param {string} file */
const rankOf = (ranks, file) =>
  ranks.find(([name]) => file === name || file.startsWith(`${name.replaceAll("/", path.sep)}${path.sep}`))?.[1];
