/** Translates the links in the repository's Markdown into links of the site. */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { files, pageOf, repository, root } from "./pages.mjs";

const isPage = new Set(files);

/**
 * Returns the target of a link: a page of the site, or a file in the repository on GitHub.
 *
 * @param {string} href the link in the Markdown
 * @param {string} from the file that contains it, relative to the root
 * @returns {string}
 * @throws {Error} if there is no such file
 */
export function resolveLink(href, from) {
  if (/^([a-z]+:|#|\/\/)/i.test(href)) return href;
  const [target = "", anchor] = href.split("#");
  const file = path.posix.join(path.posix.dirname(from), decodeURI(target)).replace(/\/$/, "");
  if (file.startsWith("..") || !existsSync(path.join(root, file)))
    throw new Error(`${from} links to ${href}, which does not exist.`);
  const page = pageFor(file);
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (page) return `/${pageOf(page)}${hash}`;
  const kind = statSync(path.join(root, file)).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/HEAD/${file}${hash}`;
}

/** Returns the page of a file, or of a folder: its README, or for decisions the first page. @param {string} file */
function pageFor(file) {
  if (isPage.has(file)) return file;
  if (isPage.has(`${file}/README.md`)) return `${file}/README.md`;
  return file === "docs/decisions" ? files.find((page) => page.startsWith(`${file}/`)) : undefined;
}

/** Makes a Markdown renderer use these links. @param {any} md VitePress' instance of markdown-it */
export function followLinks(md) {
  md.core.ruler.push("repository_links", (/** @type {any} */ { tokens, env }) => {
    const from = path.posix.relative(root.replaceAll("\\", "/"), (env.realPath ?? env.path).replaceAll("\\", "/"));
    for (const token of tokens.flatMap((/** @type {any} */ token) => token.children ?? [])) {
      const href = token.type === "link_open" && token.attrGet("href");
      if (href) token.attrSet("href", resolveLink(href, from));
    }
  });
}
