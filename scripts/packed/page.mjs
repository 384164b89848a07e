/** Tests the tag in a user's pages: by a bundler, and by script tag. */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findBrowser } from "../lib/find-browser.mjs";
import { runNode } from "../lib/process.mjs";
import { runNpm } from "./pack.mjs";

const widget = fileURLToPath(new URL("../../packages/widget/package.json", import.meta.url));
const SHOWN_TIMEOUT_MS = 60_000;

/** @param {string} script */
const pageWith = (script) => `<!doctype html>
<html lang="nl"><title>Tickets</title><link rel="icon" href="data:,">
<giftcard-pay endpoint="/giftcards" cart="a-cart"></giftcard-pay>
<script type="module" src="${script}"></script></html>
`;

/**
 * Installs the widget and Vite, builds one page with it, and copies the standalone files for another. Opens both in a
 * browser and waits for Dutch text, which proves that the tag runs and has loaded its language.
 *
 * @param {{ folder: string, version: string, node: import("./pack.mjs").Node }} options `folder` is a new one
 * @param {import("./project.mjs").Watched} [watched]
 * @throws if the build fails, or a page shows no tag
 */
export async function tryPages({ folder, version, node }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  progress("pages: npm install");
  const site = path.join(folder, "public");
  await mkdir(site, { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "name": "a-page", "private": true, "type": "module" }\n');
  const { vite } = JSON.parse(await readFile(widget, "utf8")).devDependencies;
  await runNpm(["install", `@giftcard-pay/widget@${version}`, `vite@${vite}`], {
    cwd: folder,
    node: node.path,
    ...early,
  });
  await writeFile(path.join(folder, "page.js"), 'import "@giftcard-pay/widget/define";\n');
  await writeFile(path.join(folder, "index.html"), pageWith("/page.js"));
  const dist = path.join(folder, "node_modules/@giftcard-pay/widget/dist");
  await writeFile(path.join(site, "by-script.html"), pageWith("/giftcard-pay.standalone.js"));
  for (const name of ["standalone", "nl"])
    await cp(path.join(dist, `giftcard-pay.${name}.js`), path.join(site, `giftcard-pay.${name}.js`));
  progress("pages: vite build");
  const args = [path.join(folder, "node_modules/vite/bin/vite.js"), "build"];
  await runNode({ name: "vite build", node: node.path, args, cwd: folder, ...early });
  progress("pages: the tag by bundler and by script tag");
  await openPages(path.join(folder, "dist"), ["", "by-script.html"]);
}

/** @param {string} folder @param {string[]} names */
async function openPages(folder, names) {
  const types = { ".html": "text/html", ".js": "text/javascript" };
  const server = http.createServer(async (request, response) => {
    const name = request.url === "/" ? "/index.html" : String(request.url);
    const type = types[/** @type {keyof typeof types} */ (path.extname(name))];
    const text = type && (await readFile(path.join(folder, path.normalize(name))).catch(() => undefined));
    if (text) response.writeHead(200, { "content-type": type }).end(text);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const found = await findBrowser();
  const env = { .../** @type {Record<string, string>} */ (process.env), ...found.env };
  const browser = await chromium.launch({ executablePath: found.path, args: found.args, env });
  try {
    for (const name of names) {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${port}/${name}`);
      // No shop answers here, so the tag shows an error in the page's language.
      const said = page.locator("giftcard-pay").getByRole("button", { name: "Opnieuw proberen" });
      await said.waitFor({ timeout: SHOWN_TIMEOUT_MS });
      await page.close();
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
