/** The links of the repository's Markdown, as they have to be on the site. */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { files, pageOf, repository, root } from "./pages.mjs";

const isPage = new Set(files);

/**
 * Where a link leads: a page of the site, or the file on the forge.
 *
 * @param {string} href as it stands in the Markdown
 * @param {string} from the file that it stands in, from the root
 * @returns {string}
 * @throws {Error} where there is no such file
 */
export function resolveLink(href, from) {
  if (/^([a-z]+:|#|\/\/)/i.test(href)) return href;
  const [target = "", anchor] = href.split("#");
  const file = path.posix.join(path.posix.dirname(from), decodeURI(target)).replace(/\/$/, "");
  if (file.startsWith("..") || !existsSync(path.join(root, file)))
    throw new Error(`${from} links to ${href}, which isn't there.`);
  const page = pageFor(file);
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (page) return `/${pageOf(page)}${hash}`;
  const kind = statSync(path.join(root, file)).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/HEAD/${file}${hash}`;
}

/** A folder is shown by its README or, where all that it has are pages, by the first of them. @param {string} file */
function pageFor(file) {
  if (isPage.has(file)) return file;
  if (isPage.has(`${file}/README.md`)) return `${file}/README.md`;
  return file === "docs/decisions" ? files.find((page) => page.startsWith(`${file}/`)) : undefined;
}

/** Makes a renderer of Markdown follow them. @param {any} md markdown-it, as VitePress has it */
export function followLinks(md) {
  md.core.ruler.push("repository_links", (/** @type {any} */ { tokens, env }) => {
    const from = path.posix.relative(
      root.replaceAll("\\", "/"),
      (env.realPath ?? env.path).replaceAll("\\", "/"),
    );
    for (const token of tokens.flatMap((/** @type {any} */ token) => token.children ?? [])) {
      const href = token.type === "link_open" && token.attrGet("href");
      if (href) token.attrSet("href", resolveLink(href, from));
    }
  });
}
