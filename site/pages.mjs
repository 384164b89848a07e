/** Lists the Markdown files that are pages of the site, with their order and their paths. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** @param {string} file relative to the root */
const read = (file) => readFileSync(path.join(root, file), "utf8");

const packageJson = JSON.parse(read("package.json"));

/** The repository's URL on GitHub, without a slash at the end. @type {string} */
export const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, "");

/** @type {string} */
export const description = packageJson.description;

/** All Markdown files of the repository, relative to the root. */
export const present = globSync("**/*.md", {
  cwd: root,
  exclude: (name) => /^(node_modules|dist|\.\w+)$/.test(name),
})
  .map((file) => file.replaceAll("\\", "/"))
  // A draft has no API reference, even if there is one from an earlier build.
  .filter((file) => process.env.GIFTCARD_SITE_DRAFT === undefined || !file.startsWith("site/api/"))
  .sort();

/** Returns a folder's files, its README first. @param {string} folder @param {string[]} [without] excluded folders in it */
const pagesIn = (folder, without = []) =>
  present
    .filter((file) => file.startsWith(`${folder}/`) && !without.some((other) => file.startsWith(`${other}/`)))
    .sort((a, b) => Number(b.endsWith("README.md")) - Number(a.endsWith("README.md")));

/** Returns the files that a section of the README links to, in its order. @param {string} heading */
function linkedFrom(heading) {
  const [, part = ""] = read("README.md").split(`\n## ${heading}\n`);
  const [text = ""] = part.split("\n## ");
  return [...text.matchAll(/\]\(([^)#]+\.md)[^)]*\)/g)].map(([, file]) => String(file));
}

/** @param {string[]} files */
const unique = (files) => [...new Set(files)];

const decisions = "docs/decisions";
const guides = pagesIn("docs", [decisions]);

/** The sidebar: the README's order, then pages that the README does not link to. @type {{ text: string, files: string[], collapsed?: boolean }[]} */
export const groups = [
  { text: "Start", files: ["README.md"] },
  { text: "Packages", files: linkedFrom("Packages").filter((file) => file.startsWith("packages/")) },
  {
    text: "Guides",
    files: unique([...linkedFrom("Documentation").filter((file) => guides.includes(file)), ...guides]),
  },
  { text: "Examples", files: pagesIn("examples") },
  { text: "API reference", files: pagesIn("site/api"), collapsed: true },
  { text: "Decisions", files: pagesIn(decisions), collapsed: true },
  { text: "The project", files: ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"], collapsed: true },
];

/** The files of all pages. */
export const files = groups.flatMap((group) => group.files);

/**
 * Returns a file's path on the site: "docs/interface.md" → "interface.md", "packages/client/README.md" →
 * "packages/client.md", "SECURITY.md" → "project/security.md".
 * @param {string} file
 */
export function pageOf(file) {
  if (file === "README.md") return "index.md";
  if (/^[A-Z_]+\.md$/.test(file)) return `project/${file.toLowerCase().replaceAll("_", "-")}`;
  const inDocs = file.replace(/^(docs|site)\//, "");
  if (inDocs !== file) return inDocs.replace(/README\.md$/, "index.md");
  return inDocs.replace(/\/README\.md$/, ".md");
}

/** Returns a page's first heading. @param {string} file */
export function titleOf(file) {
  const [, title = file] = /^# (.+)$/m.exec(read(file)) ?? [];
  return file === "README.md" ? "Overview" : title.replaceAll("`", "");
}
