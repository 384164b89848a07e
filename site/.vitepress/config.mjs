import path from "node:path";
import { slug } from "github-slugger";
import { defineConfig } from "vitepress";
import { keepBraces } from "../braces.mjs";
import { followLinks } from "../links.mjs";
import { description, files, groups, pageOf, present, repository, root, titleOf } from "../pages.mjs";
import { weightOf } from "../search.mjs";

/** Whether only the pages are built, which is cheap. */
const isDraft = process.env.GIFTCARD_SITE_DRAFT !== undefined;

/** The site's URL with a slash at the end, if it is known. */
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
  // Otherwise VitePress treats each file named config.* in a package as its own.
  additionalConfig: false,
  markdown: {
    languageAlias: { crontab: "sh" },
    // The same anchors as on GitHub.
    slugify: slug,
    anchor: { slugify: slug },
    config(md) {
      followLinks(md);
      keepBraces(md);
    },
  },
  transformPageData(page) {
    // API pages have many names, each with the same subheadings.
    if (page.relativePath.startsWith("api/")) page.frontmatter.outline = 2;
  },
  vite: { build: { chunkSizeWarningLimit: 2000, minify: !isDraft } },
  themeConfig: {
    ...(!isDraft && {
      search: {
        provider: "local",
        options: { miniSearch: { searchOptions: { boostDocument: weightOf } } },
      },
    }),
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: "Interface", link: link("docs/interface.md") },
      ...(isDraft
        ? []
        : [
            { text: "API reference", link: link("site/api/README.md") },
            { text: "Gallery", link: "/gallery/", target: "_self" },
          ]),
    ],
    socialLinks: [{ icon: "github", link: repository }],
    sidebar: groups.map(({ files: items, ...group }) => ({
      ...group,
      items: items.map((file) => ({ text: titleOf(file), link: link(file) })),
    })),
    notFound: {
      title: "Page not found",
      quote: "Use the search to find a page.",
      linkText: "Home",
      linkLabel: "Home",
    },
    editLink: { pattern: `${repository}/blob/HEAD/:path`, text: "View this page on GitHub" },
  },
});
