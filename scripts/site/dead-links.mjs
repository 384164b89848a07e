import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/**
 * Follows every internal link, picture, script and anchor of a built site.
 *
 * @param {string} folder
 * @param {string} base the path that it was built for
 * @returns {Promise<{ pages: number, links: number, dead: string[] }>} each broken link as "page: link"
 */
export async function findDeadLinks(folder, base) {
  const files = new Set((await readdir(folder, { recursive: true })).map(toUrlPath));
  const pages = new Map();
  for (const file of files) {
    if (file.endsWith(".html")) pages.set(file, await readFile(path.join(folder, file), "utf8"));
  }
  const idsOf = new Map([...pages].map(([file, html]) => [file, new Set(valuesOf(html, "id"))]));
  let links = 0;
  const dead = [];
  for (const [file, html] of pages) {
    for (const link of [...valuesOf(html, "href"), ...valuesOf(html, "src")]) {
      const target = resolve(link, file, base);
      if (!target) continue;
      links++;
      const ids = idsOf.get(target.file);
      const isThere = files.has(target.file) && (!target.id || !ids || ids.has(target.id));
      if (!isThere) dead.push(`${file}: ${link}`);
    }
  }
  return { pages: pages.size, links, dead: dead.sort() };
}

/** @param {string} file */
const toUrlPath = (file) => file.split(path.sep).join("/");

/** @param {string} html @param {string} attribute */
const valuesOf = (html, attribute) =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, "g"))].map(([, value]) =>
    String(value).replaceAll("&amp;", "&"),
  );

/**
 * Returns the file that a page's link points to, or undefined for an external link.
 * @param {string} link @param {string} from @param {string} base
 */
function resolve(link, from, base) {
  const url = new URL(link, `http://site${base}${from}`);
  if (url.host !== "site" || !url.protocol.startsWith("http")) return undefined;
  // A path outside of the base matches no file.
  const pathname = decodeURIComponent(url.pathname.startsWith(base) ? url.pathname.slice(base.length) : url.pathname);
  const file = pathname === "" || pathname.endsWith("/") ? `${pathname}index.html` : pathname;
  return { file, id: decodeURIComponent(url.hash.slice(1)) };
}
