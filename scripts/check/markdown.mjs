/** Reads this repository's Markdown pages: their links, their anchors, and their code blocks. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import GithubSlugger from "github-slugger";

// "api" is the reference that the site builds.
const NO_PAGES = new Set(["node_modules", "dist", "coverage", "api"]);
const FENCE = /^( *)(```+)([^\n`]*)\n(.*?)^\1\2 *$/gms;

/**
 * A code block.
 * @typedef {object} Block
 * @property {string} language
 * @property {string[]} words the words after the language
 * @property {number} line its first line
 * @property {string} text
 */

/**
 * @param {string} root the repository
 * @returns {Promise<string[]>} the pages' paths, relative to the root
 */
export async function listPages(root) {
  const entries = await readdir(root, { withFileTypes: true });
  const inside = await Promise.all(
    entries.map(async (entry) => {
      if (entry.isFile()) return entry.name.endsWith(".md") ? [entry.name] : [];
      const isSkipped = NO_PAGES.has(entry.name) || (entry.name.startsWith(".") && entry.name !== ".github");
      if (!entry.isDirectory() || isSkipped) return [];
      return (await listPages(path.join(root, entry.name))).map((page) => path.posix.join(entry.name, page));
    }),
  );
  return inside.flat().sort();
}

/** @param {string} text @returns {Block[]} */
export function readBlocks(text) {
  return [...text.matchAll(FENCE)].map(({ index, 3: info = "", 4: body = "" }) => {
    const [language = "", ...words] = info.trim().split(/\s+/);
    return { language, words, line: text.slice(0, index).split("\n").length, text: body };
  });
}

/** Removes code blocks and comments. @param {string} text */
export const withoutBlocks = (text) => text.replaceAll(FENCE, "").replaceAll(/<!--.*?-->/gs, "");

/** Returns the targets of a page's links, as written. @param {string} text @returns {string[]} */
export function readLinks(text) {
  const prose = withoutBlocks(text).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/gs, "");
  const written = prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s*(\S+)/gm);
  const tags = prose.matchAll(/<(?:a|img)\b[^>]*\b(?:href|src)="([^"]+)"/g);
  return [...written, ...tags].map(([, one, other]) => String(one ?? other));
}

/** Returns a page's anchors, by GitHub's rules. @param {string} text @returns {Set<string>} */
export function readPlaces(text) {
  const prose = withoutBlocks(text);
  const slugger = new GithubSlugger();
  const headings = [...prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = ""]) =>
    slugger.slug(
      heading
        .replaceAll(/<a id="[^"]*"><\/a>/g, "")
        .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll(/\\([\\`*_{}[\]()#+.!<>|-])|[`*]/g, "$1"),
    ),
  );
  const named = [...prose.matchAll(/<\w+ (?:id|name)="([^"]+)"/g)].map(([, name]) => String(name));
  return new Set([...headings, ...named]);
}

/**
 * Returns the broken links of all pages. Links to other sites are not checked.
 *
 * @param {string} root
 * @returns {Promise<string[]>} each link with its page
 */
export async function deadLinks(root) {
  const pages = await listPages(root);
  const texts = new Map(
    await Promise.all(
      pages.map(async (page) => /** @type {const} */ ([page, await readFile(path.join(root, page), "utf8")])),
    ),
  );
  const dead = [];
  for (const [page, text] of texts) {
    for (const link of readLinks(text)) {
      if (/^[a-z][a-z+.-]*:/i.test(link)) continue;
      const [file = "", place] = decodeURI(link).split("#");
      const target = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
      const isThere = texts.has(target) || existsSync(path.join(root, target));
      const isPlace = place === undefined || !texts.has(target) || readPlaces(texts.get(target) ?? "").has(place);
      if (!isThere || !isPlace) dead.push(`${page}: ${link}`);
    }
  }
  return dead;
}
