import path from "node:path";
import { slug } from "github-slugger";
import { defineConfig } from "vitepress";
import { followLinks } from "../links.mjs";
import { description, files, groups, pageOf, present, repository, root, titleOf } from "../pages.mjs";

/** Where the site will be, when that is known; it ends in a slash. */
const address = process.env.GIFTCARD_SITE_ADDRESS;

const link = (file) =>
  `/${pageOf(file)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, ".html")}`;

export default defineConfig({
  title: "giftcard-pay",
  description,
  lang: "en",
  srcDir: root,
  outDir: path.join(root, "site", "dist"),
  cacheDir: path.join(root, "site", "node_modules", ".cache", "vitepress"),
  srcExclude: present.filter((file) => !files.includes(file)),
  rewrites: Object.fromEntries(files.map((file) => [file, pageOf(file)])),
  base: address ? new URL(address).pathname : "/",
  ...(address && { sitemap: { hostname: address } }),
  head: [["link", { rel: "icon", href: "data:," }]],
  // Or each file named config.* in a package is taken for one of the site's.
  additionalConfig: false,
  markdown: {
    languageAlias: { crontab: "sh" },
    // Anchors as a forge makes them.
    slugify: slug,
    anchor: { slugify: slug },
    config: followLinks,
  },
  transformPageData(page) {
    // A reference's names are many, and what each is made of has the same headings.
    if (page.relativePath.startsWith("api/")) page.frontmatter.outline = 2;
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: "Interface", link: link("docs/interface.md") },
      { text: "API reference", link: link("docs/api/README.md") },
      { text: "Gallery", link: "/gallery/", target: "_self" },
    ],
    socialLinks: [{ icon: "github", link: repository }],
    sidebar: groups.map(({ files: items, ...group }) => ({
      ...group,
      items: items.map((file) => ({ text: titleOf(file), link: link(file) })),
    })),
    notFound: {
      title: "There is no such page",
      quote: "The search finds every page by its words.",
      linkText: "To the start",
      linkLabel: "To the start",
    },
    editLink: { pattern: `${repository}/blob/HEAD/:path`, text: "This page in the repository" },
  },
});
