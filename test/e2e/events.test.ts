// @module-tag long
import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createStorefront, type Storefront } from "../../packages/medusa/test/support/storefront.js";
import { press } from "../../scripts/lib/press.mjs";
import { buildAdmin, type MedusaStore } from "../../scripts/shops/medusa-store.mjs";
import { startWholeShop, type WholeShop } from "../../scripts/shops/whole-shop.mjs";
import { launchBrowser, openPage } from "../support/browser.js";
import { keepScreenshot } from "../support/screenshot.js";

let shop: WholeShop;
let issuer: GiftcardClient;
let medusa: MedusaStore;
let storefront: Storefront;
let storefrontUrl: string;
let browser: Browser;
let page: Page;

// The demo shop.
beforeAll(async () => {
  await buildAdmin();
  shop = await startWholeShop({ withStorefront: true, withAdmin: true, postgresUrl: inject("postgresUrl") });
  const { url: baseUrl, apiKey, companyId } = shop.service;
  issuer = createClient({ baseUrl, apiKey, companyId });
  medusa = shop.store;
  storefrontUrl = shop.storefrontUrl ?? "";
  storefront = createStorefront(medusa);
  browser = await launchBrowser();
  page = await openAdmin();
}, 480_000);

afterAll(async () => {
  await browser?.close();
  await shop?.stop();
});

/** Opens the admin in a new page and logs in. */
async function openAdmin(): Promise<Page> {
  const opened = await openPage(browser, { viewport: { width: 1400, height: 1000 } });
  await opened.goto(`${medusa.url}/app/login`);
  await opened.locator("input[name=email]").fill(medusa.admin.email);
  await opened.locator("input[name=password]").fill(medusa.admin.password);
  await press(opened.getByRole("button", { name: /continue/i }));
  await opened.waitForURL(/\/app\/(?!login)/);
  return opened;
}

const button = (name: string) => page.getByRole("button", { name, exact: true });
const shown = (text: string | RegExp) => page.getByText(text).first().waitFor();
const field = (name: string) => page.getByLabel(name, { exact: true });
const feed = async () => (await (await fetch(`${medusa.url}/giftcard-pay/events.json`)).json()).events;

async function choose(label: string, option: string) {
  await press(page.getByRole("combobox", { name: label }));
  await press(page.getByRole("option", { name: option }));
}

async function openProduct(handle: string) {
  const { products } = await storefront.ok("GET", `/admin/products?handle=${handle}&fields=id`);
  await page.goto(`${medusa.url}/app/products/${products[0].id}`);
  await page.getByRole("heading", { name: "Event", exact: true }).waitFor();
  return products[0].id as string;
}

let productId: string;

describe("a product in the admin", () => {
  it("becomes an event with the form on its page", async () => {
    productId = await openProduct("summer-night-festival");
    await shown("This product isn't an event.");
    await press(button("Make it an event"));
    await field("Start").fill("2016-07-12T20:00");
    await shown(/^This day is over/);
    await field("Start").fill("2036-07-12T20:00");
    await page.getByText("This day is over").waitFor({ state: "detached" });
    await field("End").fill("2036-07-13T02:00");
    await field("Venue").fill("Zaal Noord");
    await field("Street").fill("Noordkade");
    await field("Number").fill("12");
    await field("City").fill("Amsterdam");
    await field("Line-up").fill("De Artiest, De Band");
    await field("Minimum age").fill("18");
    await choose("Ticketing company", "Ticketkantoor");
    await keepScreenshot(page, "admin-event-form");
    await press(button("Save"));
    await shown("Not published");
    expect(await issuer.listEvents()).toEqual([]);
    expect(await feed()).toEqual([]);
  });

  it("is published once in the feed, at the issuer and on the storefront's page", async () => {
    await press(button("Publish"));
    await shown(/^At the card issuer, no\. \d+$/);
    const [listed, ...others] = await issuer.listEvents();
    expect(others).toEqual([]);
    expect(listed).toMatchObject({ title: "Summer Night Festival", date: "2036-07-12", time: "20:00:00" });
    await shown(`At the card issuer, no. ${listed?.id}`);
    expect(await feed()).toMatchObject([
      {
        ...{ event_id: `${productId}:1`, title: "Summer Night Festival", state: "published" },
        ...{ event_price: "74.98", lineup: "De Artiest,De Band", end_date: "2036-07-13" },
        ticket_link: `${storefrontUrl}/products/summer-night-festival`,
      },
    ]);
    const visitor = await openPage(browser);
    await visitor.goto(`${storefrontUrl}/products/summer-night-festival`);
    const script = visitor.locator('script[type="application/ld+json"]');
    await script.waitFor({ state: "attached" });
    expect(JSON.parse((await script.textContent()) ?? "")).toMatchObject({
      ...{ "@type": "Event", name: "Summer Night Festival", startDate: "2036-07-12T20:00:00+02:00" },
      location: { name: "Zaal Noord", address: { addressLocality: "Amsterdam" } },
    });
    await visitor.close();
  });

  it("shows the issuer's title after the product is edited", async () => {
    await storefront.ok("POST", `/admin/products/${productId}`, { title: "Summer Night Festival, late" });
    await page.reload();
    await shown(/changed since$/);
    await shown("Title: the card issuer has “Summer Night Festival”, the shop has “Summer Night Festival, late”.");
    await shown(/This change doesn't reach the card issuer/);
    await page.getByRole("heading", { name: "Event", exact: true }).scrollIntoViewIfNeeded();
    await keepScreenshot(page, "admin-event");
    expect(await feed()).toMatchObject([{ title: "Summer Night Festival, late" }]);
  });

  it("leaves the feed when it is withdrawn by a button", async () => {
    await press(button("Withdraw"));
    await press(page.getByRole("alertdialog").getByRole("button", { name: "Withdraw" }));
    await shown("Withdrawn");
    expect(await feed()).toEqual([]);
  });
});

describe("the page Events", () => {
  it("publishes several events at once, and filters by changed and by not at the issuer", async () => {
    const { providers } = await storefront.ok("GET", "/admin/giftcard-pay/events/issuer");
    let changedId: string | undefined;
    for (const handle of ["open-air-cinema", "weekend-at-the-dunes"]) {
      const { products } = await storefront.ok("GET", `/admin/products?handle=${handle}&fields=id`);
      changedId = products[0].id;
      await storefront.ok("POST", `/admin/giftcard-pay/events/products/${products[0].id}`, {
        version: 0,
        details: { providerId: providers[0].id, dates: [{ start: "2036-08-01T19:30:00" }] },
      });
    }
    await press(page.getByRole("link", { name: "Gift cards" }).first());
    await press(page.getByRole("link", { name: "Events", exact: true }));
    await shown("Open-air Cinema");
    await choose("Filter", "Not at the card issuer (2)");
    await press(button("Publish all that are complete"));
    await shown("No event matches. Choose another filter or search.");
    await expect
      .poll(async () => (await issuer.listEvents()).map(({ title }) => title))
      .toEqual(expect.arrayContaining(["Open-air Cinema", "Weekend at the Dunes"]));
    await storefront.ok("POST", `/admin/products/${changedId}`, { title: "Weekend at the Dunes, late" });
    await choose("Filter", "Changed since (2)");
    await shown("Weekend at the Dunes, late");
    await choose("Filter", "All (3)");
    await shown("Weekend at the Dunes");
    await keepScreenshot(page, "admin-events");
  });

  it("leaves a withdrawn event out when it publishes all events", async () => {
    await storefront.ok("POST", "/admin/giftcard-pay/events/publish", { all: true });
    await page.reload();
    await shown("Weekend at the Dunes");
    expect((await feed()).map(({ event_id }: { event_id: string }) => event_id)).not.toContain(`${productId}:1`);
  });
});
