// @module-tag long
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { startWholeShop, type WholeShop } from "../../scripts/shops/whole-shop.mjs";
import { launchBrowser, openPage } from "../support/browser.js";

let shop: WholeShop;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  shop = await startWholeShop({ withStorefront: true, postgresUrl: inject("postgresUrl") });
  browser = await launchBrowser();
  page = await openPage(browser);
});

afterAll(async () => {
  await browser?.close();
  await shop?.stop();
});

it("a shopper can pay with a gift card using only the keyboard", async () => {
  const card = await shop.service.issueCard(7500);
  await page.goto(String(shop.storefrontUrl));
  await page.locator("[data-product=summer-night-festival]").waitFor();
  await tabTo(() => focused().then(({ product }) => product === "summer-night-festival"));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "To the checkout" }).waitFor();
  await tabToName("To the checkout");
  await page.keyboard.press("Enter");
  await page.getByLabel("Gift card number").waitFor();
  const details = {
    "E-mail": "noor@example.com",
    "First name": "Noor",
    "Last name": "de Vries",
    "Street and number": "Keizersgracht 1",
    Postcode: "1015 CC",
    City: "Amsterdam",
    "Gift card number": card.cardnumber,
    PIN: card.pin,
  };
  for (const [name, text] of Object.entries(details)) {
    await tabToName(name);
    await page.keyboard.type(text);
  }
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Apply €50.00" }).waitFor();
  await expect.poll(focused).toMatchObject({ name: "Apply €50.00" });
  await page.keyboard.press("Enter");
  await page.locator("#remainder").getByText("€24.98").waitFor();
  await expect.poll(focused).toMatchObject({ name: "Add another card" });
  await tabToName("Place order");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Order placed" }).waitFor();
});

/** Returns the name and product of the focused element, including elements inside the widget's shadow DOM. */
async function focused(): Promise<{ name: string; product: string | undefined }> {
  return page.evaluate(() => {
    let active = document.activeElement as HTMLInputElement | null;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement as HTMLInputElement;
    const text = active?.getAttribute("aria-label") ?? active?.labels?.[0]?.textContent ?? active?.textContent ?? "";
    return { name: text.replace(/\s+/g, " ").trim(), product: active?.dataset.product };
  });
}

async function tabTo(isThere: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 60; step++) {
    if (await isThere()) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab doesn't lead there; the focus is on ${JSON.stringify(await focused())}.`);
}

const tabToName = (name: string) => tabTo(async () => (await focused()).name === name);
