// @module-tag long

import { createRequire } from "node:module";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchBrowser, openPage } from "../../../test/support/browser.js";
import { serveWithShop } from "../gallery/serve.mjs";

const card = { number: "6064350000000001234", pin: "012345", balanceCents: 7500 };
let server: Awaited<ReturnType<typeof serveWithShop>>;
let browser: Browser;

/** Serves `/checkout/{cart}`, rendered on the server. */
const page = {
  name: "server-rendered",
  configureServer: (vite: import("vite").ViteDevServer) =>
    void vite.middlewares.use(async (request, response, next) => {
      const [, cart] = /^\/checkout\/(\w[\w-]*)$/.exec(request.url ?? "") ?? [];
      if (!cart) return next();
      const { renderPage } = await vite.ssrLoadModule("/server.js");
      response.setHeader("content-type", "text/html").end(await vite.transformIndexHtml("/", renderPage(cart)));
    }),
};

beforeAll(async () => {
  browser = await launchBrowser();
  server = await serveWithShop(path.join(import.meta.dirname, "hydration"), {
    name: "hydration",
    plugins: [page],
    optimizeDeps: { include: ["react", "react-dom/client", "@lit/react", "lit"] },
  });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it("is rendered on a server with React 19, and hydrated without a warning", async () => {
  expect(createRequire(import.meta.url)("react/package.json").version).toMatch(/^19\./);
  const made = await fetch(`${server.url}shop/carts`, {
    method: "POST",
    body: JSON.stringify({ cards: [card] }),
  });
  const { id } = (await made.json()) as { id: string };
  const rendered = await (await fetch(`${server.url}checkout/${id}`)).text();
  expect(rendered).toContain('<giftcard-pay class="pay"></giftcard-pay>');
  const tab = await openPage(browser, { hasTouch: true });
  const warnings: string[] = [];
  tab.on("console", (message) => {
    if (["warning", "error"].includes(message.type())) warnings.push(message.text());
  });
  tab.on("pageerror", (error) => warnings.push(error.message));
  await tab.goto(`${server.url}checkout/${id}`);
  await tab.getByLabel("Gift card number").tap();
  await tab.keyboard.type(card.number);
  await tab.getByLabel("PIN", { exact: true }).tap();
  await tab.keyboard.type(card.pin);
  await tab.getByRole("button", { name: "Use card" }).tap();
  await tab.getByRole("button", { name: "Apply €50.00" }).tap();
  await tab.locator("output").getByText("2498").waitFor();
  const { log } = (await (await fetch(`${server.url}shop/carts/${id}`)).json()) as {
    log: { headers: Record<string, string> }[];
  };
  expect(log.every(({ headers }) => headers["x-shop"] === "1")).toBe(true);
  // Lit's development build logs a note about itself.
  expect(warnings.filter((text) => !text.includes("lit.dev/msg/dev-mode"))).toEqual([]);
}, 120_000);
