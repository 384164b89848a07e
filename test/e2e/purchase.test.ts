import { cents, createClient } from "@giftcard-pay/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { press } from "../../scripts/lib/press.mjs";
import { type IssuedCard, startWholeShop, type WholeShop } from "../../scripts/shops/whole-shop.mjs";
import { launchBrowser, openPage } from "../support/browser.js";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.js";
import { keepScreenshot } from "../support/screenshot.js";

const festival = "summer-night-festival";

let shop: WholeShop;
let browser: Browser;
let page: Page;
/** The network between the store and the service. */
let proxy: FaultProxy;

beforeAll(async () => {
  shop = await startWholeShop({
    withStorefront: true,
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

beforeEach(async () => {
  page = await openPage(browser, { viewport: { width: 1200, height: 1000 } });
  seen = [];
  page.on("request", (request) => seen.push(Promise.resolve(request.url())));
  page.on("console", (message) => seen.push(Promise.resolve(message.text())));
  page.on("response", (response) => {
    const isJson = response.headers()["content-type"]?.includes("json");
    if (isJson) seen.push(response.text().catch(() => ""));
  });
});

afterEach(() => page.context().close());

/** Requested URLs, JSON responses and console messages of the pages. */
let seen: Promise<string>[];

describe("a purchase in the browser", () => {
  it("charges 50.00 to a gift card and 24.98 to the bank, and a cancel refunds the card", async () => {
    const card = await shop.service.issueCard(7500);
    await toCheckout(festival);
    await fillDetails();
    await checkBalance(card);
    await expectText("giftcard-pay", "€75.00");
    await press(button("Apply"));
    await expectText("#remainder", "€24.98");
    expect(await balanceCents(card)).toBe(7500);
    await keepScreenshot(page, "checkout");

    const orderId = await placeOrder();
    expect(await paymentsShown()).toEqual([
      [`Gift card ending in ${card.cardnumber.slice(-4)}`, "€50.00"],
      ["Bank (demo)", "€24.98"],
      ["Total", "€74.98"],
    ]);
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [50], bank: [24.98] });
    expect(await balanceCents(card)).toBe(2500);

    await callAdmin("POST", `/admin/orders/${orderId}/cancel`);
    await expect.poll(() => balanceCents(card)).toBe(7500);
  });

  it("pays a whole order with two cards, without the bank, and shows the refund of one", { tags: "long" }, async () => {
    const [first, second] = [await shop.service.issueCard(7500), await shop.service.issueCard(3000)];
    await toCheckout(festival);
    await fillDetails();
    await apply(first);
    await expectText("#remainder", "€24.98");
    await press(button("Add another card"));
    await apply(second);
    await expectText("#remainder", "€0.00");
    const orderId = await placeOrder();
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [50, 24.98], bank: [] });
    expect([await balanceCents(first), await balanceCents(second)]).toEqual([2500, 502]);
    await refundFirst(orderId);
    await page.reload();
    const [ofFirst, ofSecond] = [first, second].map(({ cardnumber }) => `Gift card ending in ${cardnumber.slice(-4)}`);
    await page.getByText(`Returned: ${ofFirst}`).waitFor();
    expect((await paymentsShown()).slice(0, -1)).toEqual([
      [ofFirst, "€50.00"],
      [ofSecond, "€24.98"],
      [`Returned: ${ofFirst}`, "€50.00"],
    ]);
  });

  it("rejects a wrong PIN, and does not charge a removed card", { tags: "long" }, async () => {
    const card = await shop.service.issueCard(7500);
    await toCheckout(festival);
    await fillDetails();
    const wrongPin = card.pin === "000000" ? "111111" : "000000";
    await checkBalance({ ...card, pin: wrongPin });
    await page.getByRole("alert").getByText("don't match").waitFor();
    await apply(card);
    await expectText("#remainder", "€24.98");
    await press(button(`Remove`));
    await page.locator("#remainder").waitFor({ state: "detached" });
    const orderId = await placeOrder();
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [], bank: [74.98] });
    expect(await balanceCents(card)).toBe(7500);
  });

  it("explains why an order was not placed, and lets the shopper continue with the card's lower balance", {
    tags: "long",
  }, async () => {
    const card = await shop.service.issueCard(2000);
    await toCheckout(festival);
    await fillDetails();
    await apply(card);
    await expectText("#remainder", "€54.98");
    await client().devalue({ cardNumber: card.cardnumber, pin: card.pin, amountCents: cents(1500) });
    await press(button("Place order"));
    await page.getByText("The card holds less than before.").waitFor();
    await expectText("#remainder", "€69.98");
    const orderId = await placeOrder();
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [5], bank: [69.98] });
    expect(await balanceCents(card)).toBe(0);
  });

  it("waits after a lost answer, tells by itself that the card is back, and charges it once", async () => {
    const card = await shop.service.issueCard(7500);
    await loseAnswer(card);
    // One more click must not order for 74.98.
    await press(button("Place order"));
    await page.getByRole("alert").getByText("The payment with your card isn't finished yet.").waitFor();
    await button("Pay €74.98 without the card").waitFor();
    expect(await balanceCents(card), "it was charged").toBe(2500);
    proxy.clear();
    await callAdmin("POST", "/admin/giftcard-pay/recover");
    expect(await balanceCents(card)).toBe(7500);
    await expectText("#remainder", "€24.98");
    await expectText("giftcard-pay", "−€50.00");
    const orderId = await placeOrder();
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [50], bank: [24.98] });
    expect(await balanceCents(card)).toBe(2500);
  });

  it("after a lost answer, orders without the card if the shopper agrees to the amount", { tags: "long" }, async () => {
    const card = await shop.service.issueCard(7500);
    await loseAnswer(card);
    await press(button("Pay €74.98 without the card"));
    const orderId = await orderPlaced();
    expect(await orderInAdmin(orderId)).toEqual({ total: 74.98, giftcards: [], bank: [74.98] });
    proxy.clear();
    await callAdmin("POST", "/admin/giftcard-pay/recover");
    expect(await balanceCents(card)).toBe(7500);
  });

  it("leaves no card number or PIN in the browser, a URL, a response or the console", async () => {
    const card = await shop.service.issueCard(7500);
    const wrong = { ...card, pin: card.pin === "123456" ? "654321" : "123456" };
    await toCheckout(festival);
    await fillDetails();
    await checkBalance(wrong);
    await page.getByRole("alert").getByText("don't match").waitFor();
    await apply(card);
    await expectText("#remainder", "€24.98");
    await placeOrder();
    const kept = JSON.stringify(await page.context().storageState({ indexedDB: true }));
    const session = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
    const everything = [kept, session, await page.content(), ...(await Promise.all(seen))].join("\n");
    // Finding these harmless values proves that the test looks in the right places.
    for (const known of ["noor@example.com", card.cardnumber.slice(-4), "night-owl"])
      expect(everything).toContain(known);
    expect(everything).not.toContain(card.cardnumber);
    for (const pin of [card.pin, wrong.pin]) expect(everything).not.toMatch(new RegExp(`\\b${pin}\\b`));
  });

  it("applies a promotion code of 10 %, so that a ticket of 24.95 costs 22.46", { tags: "long" }, async () => {
    const card = await shop.service.issueCard(5000);
    await page.goto(String(shop.storefrontUrl));
    await press(button("Add to cart: Late-night Comedy, Standard"));
    await page.getByLabel("Promotion code").fill("TEN");
    await press(button("Apply"));
    await expectText("#discount", "−€2.49");
    await press(page.getByRole("link", { name: "To the checkout" }));
    await fillDetails();
    await apply(card);
    await expectText("#discount", "−€2.49");
    await expectText("#total", "€22.46");
    await expectText("#remainder", "€0.00");
    await placeOrder();
    expect(await balanceCents(card)).toBe(2754);
    expect(await paymentsShown()).toContainEqual(["Total", "€22.46"]);
  });

  it("charges the applied card for more expensive delivery that is chosen later", { tags: "long" }, async () => {
    const card = await shop.service.issueCard(7500);
    await toCheckout("open-air-cinema");
    await fillDetails();
    await apply(card);
    await expectText("#remainder", "€0.00");
    await press(page.getByLabel("Tickets by post"), " ");
    await expectText("#total", "€24.95");
    await expectText("#covered", "−€24.95");
    const orderId = await placeOrder();
    expect(await orderInAdmin(orderId)).toEqual({ total: 24.95, giftcards: [24.95], bank: [] });
    expect(await balanceCents(card)).toBe(5005);
  });
});

const button = (name: string) => page.getByRole("button", { name });

async function expectText(selector: string, text: string): Promise<void> {
  await page.locator(selector).getByText(text).first().waitFor();
}

async function toCheckout(product: string): Promise<void> {
  await page.goto(String(shop.storefrontUrl));
  await press(page.locator(`[data-product=${product}]`));
  await press(page.getByRole("link", { name: "To the checkout" }));
  await page.getByLabel("Gift card number").waitFor();
}

async function fillDetails(): Promise<void> {
  const details = {
    "E-mail": "noor@example.com",
    "First name": "Noor",
    "Last name": "de Vries",
    "Street and number": "Keizersgracht 1",
    Postcode: "1015 CC",
    City: "Amsterdam",
  };
  for (const [label, value] of Object.entries(details)) {
    await page.getByRole("textbox", { name: label }).fill(value);
  }
}

async function checkBalance(card: IssuedCard): Promise<void> {
  await page.getByLabel("Gift card number").fill("");
  await page.getByLabel("Gift card number").pressSequentially(card.cardnumber);
  await page.getByLabel("PIN", { exact: true }).pressSequentially(card.pin);
  await press(button("Use card"));
}

async function apply(card: IssuedCard): Promise<void> {
  await checkBalance(card);
  await press(button("Apply"));
}

/** Places an order of 74.98 with a card. The card is charged, but the answer and every attempt to reverse it are lost. */
async function loseAnswer(card: IssuedCard): Promise<void> {
  await toCheckout(festival);
  await fillDetails();
  await apply(card);
  await expectText("#remainder", "€24.98");
  proxy.set("devalue", "cut-after", 1);
  proxy.set("canceldevalue", "cut-before");
  await press(button("Place order"));
  await expectText("giftcard-pay", "A payment with this card isn't finished yet.");
}

async function placeOrder(): Promise<string> {
  await press(button("Place order"));
  return orderPlaced();
}

async function orderPlaced(): Promise<string> {
  await page.getByRole("heading", { name: "Order placed" }).waitFor();
  return new URL(page.url()).pathname.split("/").at(-1) ?? "";
}

/** Returns the payments that the confirmation page shows. */
async function paymentsShown(): Promise<string[][]> {
  const rows = await page.locator("#payments > div").all();
  return Promise.all(rows.map((row) => row.locator("dt, dd").allInnerTexts()));
}

/** Reads an order's total and the amounts of its payments from the admin API. */
async function orderInAdmin(id: string): Promise<{ total: number; giftcards: number[]; bank: number[] }> {
  const { order } = await callAdmin("GET", `/admin/orders/${id}?fields=total,*payment_collections.payments`);
  const payments: { provider_id: string; amount: number }[] = order.payment_collections.flatMap(
    (collection: { payments: unknown[] }) => collection.payments,
  );
  const amounts = (giftcard: boolean) =>
    payments
      .filter((payment) => payment.provider_id.startsWith("pp_giftcard") === giftcard)
      .map((payment) => payment.amount)
      .sort((a, b) => b - a);
  return { total: order.total, giftcards: amounts(true), bank: amounts(false) };
}

/** Captures and refunds the order's largest payment. */
async function refundFirst(orderId: string): Promise<void> {
  const { order } = await callAdmin("GET", `/admin/orders/${orderId}?fields=*payment_collections.payments`);
  const payments: { id: string; amount: number }[] = order.payment_collections[0].payments;
  const [largest] = payments.toSorted((a, b) => b.amount - a.amount);
  for (const what of ["capture", "refund"]) await callAdmin("POST", `/admin/payments/${largest?.id}/${what}`);
}

// biome-ignore lint/suspicious/noExplicitAny: answers of Medusa, read by the test
async function callAdmin(method: string, address: string): Promise<any> {
  const headers = { authorization: `Bearer ${shop.store.admin.token}`, "content-type": "application/json" };
  const response = await fetch(shop.store.url + address, { method, headers });
  expect(response.status).toBe(200);
  return response.json();
}

const client = () => {
  const { url, apiKey, companyId } = shop.service;
  return createClient({ baseUrl: url, apiKey, companyId });
};

/** Requests the card's balance from the service. */
async function balanceCents({ cardnumber, pin }: IssuedCard): Promise<number> {
  return (await client().balance({ cardNumber: cardnumber, pin })).balanceCents;
}
