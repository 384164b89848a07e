/**
 * Measures the cost of the tag in Chromium relative to a bare Lit element that is built and loaded the same way. Times
 * differ between machines; ratios differ much less.
 */
import { readFile } from "node:fs/promises";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { findBrowser } from "../../../scripts/lib/find-browser.mjs";
import { bundle, widgetSizes } from "../scripts/sizes.mjs";

const here = import.meta.dirname;
const dist = path.join(here, "..", "dist");
const { chromium } = createRequire(path.join(here, "..", "..", "..", "scripts", "package.json"))("playwright-core");
const ROUNDS = 15;
const RENDERS = 200;

/** Serves both bundles and a page for each. @returns {Promise<http.Server>} */
async function serve() {
  const files = {
    "/tag.js": await readFile(path.join(dist, "giftcard-pay.standalone.js")),
    "/hello.js": await bundle(path.join(here, "bare-hello.js")),
  };
  const page = (script, tag) =>
    `<!doctype html><html lang="en"><title>Bench</title><link rel="icon" href="data:,"><script type="module" src="${script}"></script>${tag}</html>`;
  const pages = {
    "/tag": page("/tag.js", "<giftcard-pay></giftcard-pay>"),
    "/hello": page("/hello.js", '<bare-hello name="you"></bare-hello>'),
  };
  const server = http.createServer((request, response) => {
    const isScript = request.url.endsWith(".js");
    const body = files[request.url] ?? pages[request.url];
    response.writeHead(body ? 200 : 404, {
      "content-type": isScript ? "text/javascript" : "text/html",
      "cache-control": "no-store",
    });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Measures the time from the page's request until the tag has rendered, and the time of another render. */
async function measure(browser, url, tag) {
  const page = await browser.newPage();
  try {
    await page.goto(url);
    return await page.evaluate(
      async ([name, renders]) => {
        await customElements.whenDefined(name);
        const element = document.querySelector(name);
        await element.updateComplete;
        const readyMs = performance.now();
        const startedAt = performance.now();
        for (let render = 0; render < renders; render++) {
          element.requestUpdate();
          await element.updateComplete;
        }
        return { readyMs, renderMs: (performance.now() - startedAt) / renders };
      },
      [tag, RENDERS],
    );
  } finally {
    await page.close();
  }
}

/** @param {number[]} numbers */
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/**
 * Returns times in milliseconds, and ratios to a bare Lit element. The widget must be built.
 *
 * @returns {Promise<Record<string, number>>} `widgetReadyRatio`: time until the empty form can be used;
 *   `widgetRenderRatio`: time of another render; `widgetSizeRatio`: bytes after Brotli, relative to Lit alone
 */
export async function widgetBench() {
  const found = await findBrowser();
  const server = await serve();
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const browser = await chromium.launch({
    executablePath: found.path,
    args: found.args,
    env: { ...process.env, ...found.env },
  });
  const rounds = [];
  try {
    const base = `http://127.0.0.1:${address.port}`;
    for (let round = -1; round < ROUNDS; round++) {
      const hello = await measure(browser, `${base}/hello`, "bare-hello");
      const tag = await measure(browser, `${base}/tag`, "giftcard-pay");
      // The first round warms up.
      if (round >= 0) rounds.push({ hello, tag });
    }
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
  const { standalone, parts } = await widgetSizes();
  const rounded = (value, digits = 2) => Number(value.toFixed(digits));
  const middle = (pick) => median(rounds.map(pick));
  return {
    widgetReadyMs: rounded(
      middle(({ tag }) => tag.readyMs),
      1,
    ),
    bareLitReadyMs: rounded(
      middle(({ hello }) => hello.readyMs),
      1,
    ),
    widgetReadyRatio: rounded(middle(({ tag, hello }) => tag.readyMs / hello.readyMs)),
    widgetRenderMs: rounded(
      middle(({ tag }) => tag.renderMs),
      4,
    ),
    bareLitRenderMs: rounded(
      middle(({ hello }) => hello.renderMs),
      4,
    ),
    widgetRenderRatio: rounded(middle(({ tag, hello }) => tag.renderMs / hello.renderMs)),
    widgetSizeRatio: rounded(standalone / parts.lit),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(await widgetBench());
}
