// @module-tag long

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchBrowser, openPage } from "../../../test/support/browser.js";
import { serveWithShop } from "../gallery/serve.mjs";

const card = { number: "6064350000000001234", pin: "012345", balanceCents: 7500, expiryDate: "2027-05-31" };
const dist = path.join(import.meta.dirname, "..", "dist");
let server: Awaited<ReturnType<typeof serveWithShop>>;
let browser: Browser;

/** Returns the README's page, with payment methods below. */
async function checkoutPage(lang: string, cart: string): Promise<string> {
  const readme = await readFile(path.join(import.meta.dirname, "..", "README.md"), "utf8");
  const html = (/```html file=page.html\n([\s\S]*?)```/.exec(readme)?.[1] ?? "")
    .replace("/giftcards", "/shop/store/giftcard-pay")
    .replace("cart-1", cart)

    .replace('lang="en"', `lang="${lang}"`)
    .replace("<head>", '<head><link rel="icon" href="data:,">')
    .replace("<body>", '<body style="font-family: sans-serif">')
    .replace("</body>", `<h2>Other methods</h2>${"<p>Card, bank transfer or invoice</p>".repeat(8)}</body>`);
  expect(html).toContain(cart);
  return html;
}

const pages = {
  name: "checkout-pages",
  configureServer: (vite: import("vite").ViteDevServer) =>
    void vite.middlewares.use(async (request, response, next) => {
      const { pathname } = new URL(request.url ?? "", "http://shop");
      const [, lang = "", cart = ""] = /^\/(\w\w)\/([\w-]+)$/.exec(pathname) ?? [];
      if (cart) return response.setHeader("content-type", "text/html").end(await checkoutPage(lang, cart));
      const [, file, type] = /^\/(giftcard-pay\.(?:\w+\.)?(js|css))$/.exec(pathname) ?? [];
      if (!file) return next();
      response.setHeader("content-type", type === "js" ? "text/javascript" : "text/css");
      response.end(await readFile(path.join(dist, file)));
    }),
};

beforeAll(async () => {
  browser = await launchBrowser();
  server = await serveWithShop(dist, { name: "layout-shift", plugins: [pages] });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function call<Answer>(where: string, body: object): Promise<Answer> {
  const response = await fetch(`${server.url}shop/${where}`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

/** Makes a cart, with the card applied if it is asked for. */
async function makeCart(hasCard: boolean): Promise<string> {
  const { id } = await call<{ id: string }>("carts", { cards: [card] });
  const cart = `store/giftcard-pay/carts/${id}`;
  if (!hasCard) return id;
  const quote = await call<{ quoteId: string }>(`${cart}/quote`, { cardNumber: card.number, pin: card.pin });
  await call(`${cart}/cards`, { quoteId: quote.quoteId });
  return id;
}

for (const lang of ["en", "nl"])
  for (const width of [390, 1200])
    it.each([false, true])(
      `moves the page by less than 0.02 (${lang}, ${width} pixels, with a card: %s)`,
      async (hasCard) => {
        const cart = await makeCart(hasCard);
        const page = await openPage(browser, { viewport: { width, height: 800 } });
        const devtools = await page.context().newCDPSession(page);
        await devtools.send("Network.enable");
        const slow = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 };
        await devtools.send("Network.emulateNetworkConditions", { offline: false, ...slow });
        await page.goto(`${server.url}${lang}/${cart}`);
        await page.waitForFunction("document.querySelector('giftcard-pay').summary");
        await page
          .getByRole(hasCard ? "listitem" : "textbox")
          .first()
          .waitFor();
        const score = await page.evaluate<number>(`new Promise((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; })
          .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 300);
      })`);
        expect(score).toBeLessThan(0.02);
        expect(await page.locator("output").textContent()).toMatch(/^€ \d+\.\d\d$/);
        const isShownFirst = await page.evaluate<boolean>(`performance.getEntriesByType("paint")[0].startTime <
          performance.getEntriesByType("resource").find(({ name }) => name.includes("standalone")).responseEnd`);
        expect(isShownFirst, "the page is shown before the script is loaded").toBe(true);
        await page.context().close();
      },
    );
