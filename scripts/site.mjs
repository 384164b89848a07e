/** Builds the docs site: the repository's Markdown with search, and the widget's gallery. */
import path from "node:path";
import { command, interrupted, readPort, requireNode, root, UsageError } from "./lib/command.mjs";
import { installLocked } from "./lib/locked-folder.mjs";
import { runNode } from "./lib/process.mjs";
import { findDeadLinks } from "./site/dead-links.mjs";

const HELP = `Builds the docs site into site/dist: files for any web server. The first run installs the build tools.

  npm run site                          builds it; fails on a broken link
  npm run site -- --serve               builds it, and serves it on this machine until Ctrl-C
  npm run site -- --try                 builds it, and tests it in a browser: search, gallery, accessibility
  npm run site -- --draft               only the pages, as npm test does: no search, API reference or gallery
  npm run site -- --address https://…   for this address, with a sitemap; by default for the root of any host
  npm run site -- --port 5000           the port to serve it on; by default 4173, or the next free one
`;

const site = path.join(root, "site");
const out = path.join(site, "dist");

/** @param {{ address: string | undefined, base: string, isDraft: boolean, signal: AbortSignal, say: (text: string) => void }} options */
async function build({ address, base, isDraft, signal, say }) {
  await installLocked({ home: site, what: "what builds the site (100 MB)", say, signal });
  if (!isDraft) {
    say("building the API reference");
    const { writeApi } = await import("./docs/api.mjs");
    await writeApi({ say, signal });
  }
  say("building the pages");
  const program = path.join(site, "node_modules", "vitepress", "bin", "vitepress.js");
  await runNode({
    name: "The build of the pages",
    args: [program, "build", "."],
    cwd: site,
    env: { GIFTCARD_SITE_ADDRESS: address, GIFTCARD_SITE_DRAFT: isDraft ? "yes" : undefined },
    signal,
  });
  if (!isDraft) {
    say("building the gallery");
    const gallery = path.join(root, "packages", "widget", "gallery", "build.mjs");
    const { buildGallery } = await import(gallery);
    await buildGallery(path.join(out, "gallery"), { home: "../index.html" });
  }
  const { links, pages, dead } = await findDeadLinks(out, base);
  if (dead.length > 0) throw new Error(`These links of the site are broken:\n${dead.join("\n")}`);
  say(`${pages} pages, ${links} links; no broken links`);
}

/** @param {string | undefined} text @returns {string | undefined} with a slash at its end */
function checkAddress(text) {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return url.href.replace(/\/?$/, "/");
  throw new UsageError(`--address ${text} is no address. Give it as https://docs.example/path/.`);
}

const options = /** @type {const} */ ({
  serve: { type: "boolean" },
  try: { type: "boolean" },
  draft: { type: "boolean", default: false },
  address: { type: "string" },
  port: { type: "string", default: "4173" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const address = checkAddress(values.address);
  const port = readPort(values.port);
  requireNode("The site needs");
  const startedAt = performance.now();
  const base = address ? new URL(address).pathname : "/";
  await build({ address, base, isDraft: values.draft, signal, say });
  say(`built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${path.relative(process.cwd(), out)}`);
  const { serveSite } = await import("./site/serve.mjs");
  if (values.try) {
    const { tryPages } = await import("./site/try-pages.mjs");
    const served = await serveSite(out, { base, port: 0 });
    try {
      await tryPages(served.url, { signal, say });
    } finally {
      await served.close();
    }
  }
  if (!values.serve) return;
  const served = await serveSite(out, { base, port });
  say(`The site: ${served.url}\nCtrl-C ends it.`);
  await interrupted(signal);
  await served.close();
});
