/** Finds pages and table cells that are too long to be read. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { listPages, withoutBlocks } from "./markdown.mjs";

const MAX_CELL_WORDS = 60;
/** The words that a page may have, code included. A reader who installs a package reads its README to the end. */
const MAX_PAGE_WORDS = /** @type {Readonly<Record<string, number>>} */ ({ "packages/medusa/README.md": 2000 });

/** @param {string} text */
const countWords = (text) => text.split(/\s+/).filter((word) => word !== "").length;

/**
 * Lists the cells of a page's tables that have too many words, and the page itself if it has a limit. The target of a link
 * doesn't count.
 *
 * @param {string} page its path
 * @param {string} text
 * @returns {string[]}
 */
export function tooLongIn(page, text) {
  const found = [];
  const words = countWords(text);
  const max = MAX_PAGE_WORDS[page];
  if (max !== undefined && words > max) found.push(`${page}: ${words} words, ${max} allowed`);
  for (const line of withoutBlocks(text)
    .split("\n")
    .filter((row) => row.startsWith("|")))
    for (const cell of line.split(/(?<!\\)\|/)) {
      const shown = cell.trim().replaceAll(/\]\([^)]*\)/g, "]");
      const count = countWords(shown);
      if (count > MAX_CELL_WORDS)
        found.push(`${page}: a cell of ${count} words, ${MAX_CELL_WORDS} allowed: ${shown.slice(0, 60)}…`);
    }
  return found;
}

/** Lists what is too long in all pages but the generated API reference. @param {string} root the repository */
export async function longPages(root) {
  const pages = await listPages(root);
  const found = pages.map(async (page) => tooLongIn(page, await readFile(path.join(root, page), "utf8")));
  return (await Promise.all(found)).flat();
}
