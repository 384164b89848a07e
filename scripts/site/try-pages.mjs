/** Tests the built site in a browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { findBrowser } from "../lib/find-browser.mjs";
import { press } from "../lib/press.mjs";

const require = createRequire(import.meta.url);

/** @typedef {import("playwright-core").Page} Page */

/**
 * Searches, walks through the gallery, opens a missing page, and checks pages with axe, light and dark (WCAG 2.2 A and AA).
 *
 * @param {string} url the site's
 * @param {{ signal: AbortSignal, say: (text: string) => void }} watched
 * @throws on the first failed check
 */
export async function tryPages(url, { signal, say }) {
  const { path, args, env } = await findBrowser();
  const browser = await chromium.launch({ executablePath: path, args, env: { ...process.env, ...env } });
  signal.addEventListener("abort", () => void browser.close(), { once: true });
  try {
    for (const [name, step] of Object.entries({ search, gallery, missing, access })) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      /** @type {string[]} */
      const faults = [];
      page.on("pageerror", ({ message }) => faults.push(message));
      page.on("request", (request) => {
        if (!/^(data:|blob:)/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin)
          faults.push(`asks another machine: ${request.url()}`);
      });
      say(await step(page, url));
      assert.deepEqual(faults, [], `${name}: the page has faults`);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

/** Searches, and the page that must come first. */
const searches = {
  devalue: /\.html/,
  refund: /\/refunds\.html/,
  "partial refund": /\/refunds\.html#a-partial-refund/,
  troubleshooting: /\/on-call\.html/,
  "fault injection": /\/how-it-is-tested\.html#fault-injection/,
  "property-based testing": /\/how-it-is-tested\.html#property-based-testing/,
  "PCI DSS scope": /\/security\.html#pci-dss-scope/,
  "GDPR erase": /\/privacy\.html/,
  "sealing key": /\/medusa-options\.html/,
  // Only the API reference has this word.
  GiftcardOptions: /\/api\/medusa\.html/,
};

/** @param {Page} page @param {string} url */
async function search(page, url) {
  for (const [words, expected] of Object.entries(searches)) {
    await page.goto(url);
    await press(page.locator(".VPNavBarSearch button").first());
    await page.locator("#localsearch-input").fill(words);
    const first = page.locator(".VPLocalSearchBox .result").first();
    await first.waitFor();
    const found = String(await first.getAttribute("href"));
    assert.match(found, expected, `the search for "${words}" finds ${found} first`);
    if (words !== "GiftcardOptions") assert.doesNotMatch(found, /\/api\//, `the search for "${words}"`);
    await press(first);
    await page.waitForURL(expected);
    await page.locator("main", { hasText: new RegExp(String(words.split(" ")[0]), "i") }).waitFor();
  }
  return `search: ${Object.keys(searches).length} searches find their page`;
}

/** @param {Page} page @param {string} url */
async function gallery(page, url) {
  await page.goto(url);
  await press(page.getByRole("link", { name: "Gallery" }).first());
  await page.locator("html[data-ready]").waitFor();
  const tag = page.locator("#live giftcard-pay");
  const [number = "", pin = ""] = String(await page.locator("#cards code").first().textContent()).split(" ");
  await tag.locator("#number").fill(number);
  await tag.locator("#pin").fill(pin);
  await press(tag.locator("button[type=submit]"));
  await press(tag.locator("#apply"));
  await page.locator("#log li", { hasText: '"remainderCents":2498' }).first().waitFor();
  const states = await page.locator(".state").count();
  await press(page.getByRole("link", { name: "giftcard-pay" }));
  await page.getByRole("heading", { level: 1, name: "giftcard-pay" }).waitFor();
  return `gallery: ${states} states; a card pays 50.00 of 74.98`;
}

/** @param {Page} page @param {string} url */
async function missing(page, url) {
  const answer = await page.goto(`${url}not-there.html`);
  assert.equal(answer?.status(), 404);
  await page.getByText("Page not found").waitFor();
  return "a page that isn't there: 404";
}

/** @param {Page} page @param {string} url */
async function access(page, url) {
  const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
  const pages = ["", "interface.html", "api/client.html", "packages/widget.html"];
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    for (const name of pages) {
      await page.goto(`${url}${name}`);
      await page.locator("main h1").waitFor();
      await page.evaluate(axe);
      const { violations } = await page.evaluate(
        (tags) => /** @type {any} */ (globalThis).axe.run({ runOnly: tags }),
        ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
      );
      const told = violations.map(
        (/** @type {{ id: string, nodes: { html: string }[] }} */ { id, nodes }) =>
          `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join("\n  ")}`,
      );
      assert.deepEqual(told, [], `axe on /${name}, ${colorScheme}`);
    }
  }
  return `accessibility: axe finds nothing on ${pages.length} pages, light and dark`;
}
