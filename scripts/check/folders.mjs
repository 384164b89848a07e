/** Holds the imports of the Medusa plugin against the list of its folders in docs/architecture.md. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const HEADING = "## The folders of the Medusa plugin";
const IMPORT = /^(?:import|export)(?! type\b)[^"';]*from "(\.[^"]+)"/gm;

/**
 * Finds imports that go up the list, where it says that they go down. A type alone may come from anywhere.
 * @param {string} root the repository
 * @returns {Promise<string[]>} `file imports file`
 */
export async function importsThatGoUp(root) {
  const ranks = ranksOf(await readFile(path.join(root, "docs/architecture.md"), "utf8"));
  const source = path.join(root, "packages/medusa/src");
  const files = (await readdir(source, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
  const found = [];
  for (const file of files) {
    const text = await readFile(path.join(source, file), "utf8");
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const imported = path.join(path.dirname(file), target);
      const [from, to] = [rankOf(ranks, file), rankOf(ranks, imported)];
      if (from !== undefined && to !== undefined && to < from) found.push(`${file} imports ${imported}`);
    }
  }
  return found;
}

/** Each folder's place in the list; several may share one. @param {string} architecture @returns {[folder: string, rank: number][]} */
function ranksOf(architecture) {
  const [, after = ""] = architecture.split(`${HEADING}\n`);
  const [table = ""] = after.split("\n## ");
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
  if (cells.length === 0) throw new Error(`docs/architecture.md has no list under "${HEADING}".`);
  return cells.flatMap((cell, rank) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(
      ([, folder = ""]) => /** @type {[string, number]} */ ([folder, rank]),
    ),
  );
}

/** @param {[folder: string, rank: number][]} ranks @param {string} file */
const rankOf = (ranks, file) =>
  ranks.find(([folder]) => file.startsWith(`${folder.replaceAll("/", path.sep)}${path.sep}`))?.[1];
