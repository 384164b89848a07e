import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@giftcard-pay/client";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { type DrivenBrowser, engines, openDriven, whyMissing } from "../../scripts/lib/driven-browser.mjs";
import { press } from "../../scripts/lib/press.mjs";
import type { IssuedCard } from "../../scripts/shops/card-service.mjs";
import { type PlainShop, startPlainShop } from "../../scripts/shops/plain-shop.mjs";
import { launchBrowser, openPage } from "../support/browser.js";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.js";
import { keepScreenshot } from "../support/screenshot.js";

const desktop = { width: 1200, height: 1000 };
const phone = { width: 375, height: 800 };
const festival = "Order Summer Night Festival, two tickets";

let shop: PlainShop;
let browser: Browser;
let page: Page;
let problems: string[];
/** The network between the shop and the service. */
let proxy: FaultProxy;

beforeAll(async () => {
  shop = await startPlainShop({
    postgresUrl: inject("postgresUrl"),
    through: async (serviceUrl) => {
      proxy = await startFaultProxy(serviceUrl);
      return proxy.url;
    },
  });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await shop?.stop();
  await proxy?.stop();
});

/** Opens the operator's page of orders. */
async function openOrders(): Promise<Page> {
  const orders = await openPage(browser, {
    httpCredentials: { username: "operator", password: shop.operatorPassword },
  });
  await orders.goto(`${shop.url}/operator`);
  return orders;
}

async function open(viewport: { width: number; height: number }): Promise<void> {
  page = await openPage(browser, { viewport });
  problems = [];
  // The browser reports violations of the content security policy on the console.
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  const policy = (await page.goto(shop.url))?.headers()["content-security-policy"];
  expect(policy).toContain("default-src 'self';");
  expect(policy).not.toContain("unsafe");
}

afterEach(async () => {
  await page?.context().close();
});

describe("a purchase in the plain shop", () => {
  it("by mouse on a wide screen charges the card and the bank, and a cancel refunds both", async () => {
    const card = await shop.service.issueCard(7500);
    await open(desktop);
    await press(button(festival));
    await apply(card);
    await page.locator("#remainder").getByText("€24.98").waitFor();
    await keepScreenshot(page, "plain-shop");
    expect(await balanceCents(card)).toBe(7500);
    expect(await loadIcon()).toBe("image/svg+xml");
    await press(button("Place order"));
    await page.getByRole("heading", { name: "Pay €24.98" }).waitFor();
    expect(await loadIcon()).toBe("image/svg+xml");
    await press(button("Approve, and come back twice"));
    await page.getByText("Your order is paid").waitFor();
    expect(await payments()).toEqual([
      [`Gift card ending in ${card.cardnumber.slice(-4)}`, "€50.00"],
      ["Bank", "€24.98"],
    ]);
    expect(await balanceCents(card)).toBe(2500);
    expect(problems).toEqual([]);

    const orders = await openOrders();
    await press(orders.getByRole("row", { name: "paid" }).getByRole("button", { name: "Cancel order" }));
    await orders.getByRole("cell", { name: "canceled", exact: true }).waitFor();
    await orders.context().close();
    expect(await balanceCents(card)).toBe(7500);
    await page.reload();
    await page.getByText("Your order was canceled. Your payment was refunded.").waitFor();
    expect((await payments()).slice(2)).toEqual([
      [`Returned: Gift card ending in ${card.cardnumber.slice(-4)}`, "€50.00"],
      ["Returned: Bank", "€24.98"],
    ]);
    expect(shop.logs()).not.toContain(card.cardnumber);
  });

  for (const engine of engines) {
    const missing = whyMissing(engine);
    if (missing) console.log(`${missing} Its tests are skipped.`);
    it.skipIf(missing)(
      `works on a phone with the keyboard alone, in ${engine}`,
      async () => {
        const card = await shop.service.issueCard(7500);
        const driven = await openDriven(engine, phone);
        const shown = (text: string) => expect.poll(() => driven.run("return document.body.innerText")).toContain(text);
        const pressAt = async (name: string) => {
          await tabTo(driven, name);
          await driven.key("Enter");
        };
        try {
          await driven.goto(shop.url);
          await pressAt(festival);
          await shown("Place order");
          await expect.poll(() => driven.run("return document.querySelector('giftcard-pay').summary")).toBeTruthy();
          await tabTo(driven, "Gift card number");
          await driven.type(card.cardnumber);
          await tabTo(driven, "PIN");
          await driven.type(card.pin);
          await driven.key("Enter");
          // The widget moves the focus to its next button.
          await expect.poll(() => driven.run(focused)).toBe("Apply €50.00");
          await driven.key("Enter");
          await expect
            .poll(() => driven.run("return document.querySelector('#remainder').innerText"))
            .toContain("€24.98");
          const overflow = await driven.run("return document.documentElement.scrollWidth - innerWidth");
          expect(overflow).toBeLessThanOrEqual(0);
          await pressAt("Place order");
          await shown("Pay €24.98");
          await pressAt("Approve");
          await shown("Your order is paid");
          expect(await balanceCents(card)).toBe(2500);
        } finally {
          await driven.close();
        }
      },
      120_000,
    );
  }

  it("takes nothing if the bank declines, and the same cart and card can be paid again", async () => {
    const card = await shop.service.issueCard(7500);
    await open(desktop);
    await press(button(festival));
    await apply(card);
    await page.locator("#remainder").getByText("€24.98").waitFor();
    await press(button("Place order"));
    await press(button("Decline"));
    await page.getByRole("alert").getByText("Nothing was taken").waitFor();
    expect(await balanceCents(card)).toBe(7500);
    await page.locator("#remainder").getByText("€24.98").waitFor();
    await press(button("Place order"));
    await press(page.getByRole("button", { name: "Approve", exact: true }));
    await page.getByText("Your order is paid").waitFor();
    expect(await balanceCents(card)).toBe(2500);
  });

  /** Troubles of a card's charge, each with what ends it. */
  const troubles: Record<string, (card: IssuedCard) => Promise<() => Promise<void>>> = {
    "a lost answer": async () => {
      proxy.set("devalue", "cut-after", 1);
      proxy.set("canceldevalue", "cut-before");
      return async () => proxy.clear();
    },
    "an answer that is slower than the shop waits": async () => {
      proxy.set("devalue", "hold", 1);
      proxy.set("canceldevalue", "cut-before");
      return async () => {
        proxy.clear();
        await proxy.release();
      };
    },
    "a service that is killed during the charge, and is back later": async (card) => {
      const database = new pg.Client({ connectionString: shop.service.databaseUrl });
      await database.connect();
      await database.query("begin");
      await database.query("select from cards where last_four = $1 for update", [card.cardnumber.slice(-4)]);
      const isSent = proxyCalled("devalue");
      const killed = (async () => {
        await isSent();
        await sleep(500);
        await shop.service.kill();
        // The database carries out what the service had sent.
        await database.query("commit");
        await database.end();
      })();
      return async () => {
        await killed;
        // The tag asks twice meanwhile.
        await sleep(21_000);
        await page.getByText("A payment with this card isn't finished yet.").waitFor();
        proxy.setTarget(await shop.service.restart());
      };
    },
  };
  for (const [trouble, begin] of Object.entries(troubles))
    it(`waits after ${trouble}, shows by itself that the card is back, and charges it once`, {
      timeout: 240_000,
      tags: trouble === "a lost answer" ? [] : ["long"],
    }, async () => {
      const card = await shop.service.issueCard(7500);
      await open(desktop);
      await press(button(festival));
      await apply(card);
      await page.locator("#remainder").getByText("€24.98").waitFor();
      const before = await page.context().newPage();
      await before.goto(`${shop.url}/checkout`);
      await before.getByText("−€50.00").waitFor();
      const end = await begin(card);
      await press(button("Place order"));
      await page.getByRole("alert").getByText("Don't pay again before that is done.").waitFor();
      await page.getByText("A payment with this card isn't finished yet.").waitFor();
      // One more click must not order for 74.98, nor one in a window that shows the card as it was.
      await press(button("Place order"));
      await page.getByText("The payment with your card isn't finished yet.").waitFor();
      await button("Pay €74.98 without the card").waitFor();
      await press(before.getByRole("button", { name: "Place order" }));
      await before.getByText("A payment with this card isn't finished yet.").waitFor();
      await end();
      await page.locator("#remainder").getByText("€24.98").waitFor();
      expect(await balanceCents(card)).toBe(7500);
      await press(button("Place order"));
      await press(page.getByRole("button", { name: "Approve", exact: true }));
      await page.getByText("Your order is paid").waitFor();
      expect(await balanceCents(card)).toBe(2500);
    });

  it("shows a slow charge by itself when it is done, and a second press orders nothing", { tags: "long" }, async () => {
    const card = await shop.service.issueCard(7500);
    await open(desktop);
    await press(button(festival));
    await apply(card);
    await page.locator("#remainder").getByText("€24.98").waitFor();
    proxy.set("devalue", "hold", 1);
    const sent = proxy.seen.length;
    const isSent = proxyCalled("devalue");
    await press(button("Place order"));
    await isSent();
    await page.keyboard.press("Enter");
    await page.getByText("Your payment is being processed.").waitFor();
    await proxy.release();
    await press(page.getByRole("link", { name: "Pay at the bank" }));
    await page.getByRole("heading", { name: "Pay €24.98" }).waitFor();
    await press(page.getByRole("button", { name: "Approve", exact: true }));
    await page.getByText("Your order is paid").waitFor();
    expect(await balanceCents(card)).toBe(2500);
    expect(proxy.seen.slice(sent).filter(({ operation }) => operation === "devalue")).toHaveLength(1);
  });

  it("does not involve the bank if the card covers the total", async () => {
    const card = await shop.service.issueCard(7500);
    await open(phone);
    await press(button("Order Open-air Cinema"));
    await apply(card);
    await page.locator("#remainder").getByText("€0.00").waitFor();
    await press(button("Place order"));
    await page.getByText("Your order is paid").waitFor();
    expect(await payments()).toEqual([[`Gift card ending in ${card.cardnumber.slice(-4)}`, "€20.00"]]);
    expect(await balanceCents(card)).toBe(5500);
  });

  it("reverses only the charge of a returned ticket, and only once if the request is repeated", async () => {
    const card = await shop.service.issueCard(7500);
    await open(desktop);
    await press(button("Order Open-air Cinema"));
    await page.getByLabel("Gift card number").waitFor();
    await page.goto(shop.url);
    await press(button("Order Open-air Cinema"));
    await apply(card);
    await page.locator("#remainder").getByText("€0.00").waitFor();
    await press(button("Place order"));
    await page.getByText("Your order is paid").waitFor();
    expect(await balanceCents(card)).toBe(3500);
    const orders = await openOrders();
    const id = await orders.locator('input[name="id"]').first().getAttribute("value");
    await press(orders.getByRole("button", { name: "Give one back: Open-air Cinema" }).first());
    await orders.waitForURL(`${shop.url}/operator`);
    await expect.poll(() => balanceCents(card)).toBe(5500);
    const again = (fields: Record<string, string>) =>
      orders.request.post(`${page.url().replace("/orders/", "/operator/orders/")}/return`, {
        headers: { origin: shop.url },
        form: { id: String(id), line: "cinema", ...fields },
      });
    expect((await again({})).ok()).toBe(true);
    const tooMany = await again({ id: "another", quantity: "2" });
    expect([tooMany.status(), await tooMany.text()]).toEqual([400, expect.stringContaining("has only 1 units left")]);
    await orders.context().close();
    expect(await balanceCents(card)).toBe(5500);
    await page.reload();
    expect((await payments()).slice(1)).toEqual([
      [`Returned: Gift card ending in ${card.cardnumber.slice(-4)}`, "€20.00"],
    ]);
  });

  it("shows an order only to its shopper", async () => {
    const card = await shop.service.issueCard(7500);
    await open(desktop);
    await press(button("Order Open-air Cinema"));
    await apply(card);
    await page.locator("#remainder").getByText("€0.00").waitFor();
    await press(button("Place order"));
    await page.getByText("Your order is paid").waitFor();
    const mine = page.url();
    expect((await fetch(mine)).status).toBe(404);
    expect((await fetch(`${shop.url}/operator`)).status).toBe(401);
    const forged = await fetch(`${shop.url}/cart`, {
      method: "POST",
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      body: new URLSearchParams({ product: "cinema" }),
    });
    expect(forged.status).toBe(403);
  });
});

/** Returns a function that waits until the shop calls an operation of the service, from now on. */
function proxyCalled(wanted: string): () => Promise<void> {
  const before = proxy.seen.length;
  const isSeen = () => proxy.seen.slice(before).some(({ operation }) => operation === wanted);
  return () => expect.poll(isSeen, { timeout: 60_000 }).toBe(true);
}

const button = (name: string) => page.getByRole("button", { name });

async function apply(card: IssuedCard): Promise<void> {
  await page.getByLabel("Gift card number").pressSequentially(card.cardnumber);
  await page.getByLabel("PIN", { exact: true }).pressSequentially(card.pin);
  await press(button("Use card"));
  await press(button("Apply"));
}

/** A script that returns the name of the focused element, including elements inside the widget's shadow DOM. */
const focused = `
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.getAttribute("aria-label") ?? at?.labels?.[0]?.textContent.trim() ?? at?.textContent.trim() ?? "";`;

/** Presses Tab until the element with this name has the focus. */
async function tabTo(driven: DrivenBrowser, name: string): Promise<void> {
  const met: string[] = [];
  for (let i = 0; i < 30; i++) {
    await driven.key("Tab");
    const at = await driven.run(focused);
    if (at === name) return;
    met.push(at);
  }
  throw new Error(`The tab key leads to ${JSON.stringify(met)}, not to ${name}.`);
}

/** Loads the page's icon under the page's policy, because a headless browser doesn't load it. @returns its type */
async function loadIcon(): Promise<string | undefined> {
  const url: string = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = document.querySelector('link[rel="icon"]').href;
    await image.decode();
    return image.src;
  })()`);
  return (await page.request.get(url)).headers()["content-type"];
}

/** Returns the payments that the order's page shows. */
async function payments(): Promise<string[][]> {
  const rows = await page.locator("#payments tr").all();
  return Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
}

/** Requests the card's balance from the service. */
async function balanceCents({ cardnumber, pin }: IssuedCard): Promise<number> {
  const { apiKey, companyId } = shop.service;
  const client = createClient({ baseUrl: proxy.url, apiKey, companyId });
  return (await client.balance({ cardNumber: cardnumber, pin })).balanceCents;
}
