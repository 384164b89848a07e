// @module-tag long
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { cents, createClient, type GiftcardClient } from "@giftcard-pay/client";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createStorefront, type Storefront } from "../../packages/medusa/test/support/storefront.js";
import { press } from "../../scripts/lib/press.mjs";
import {
  buildAdmin,
  createStoreDatabase,
  type MedusaStore,
  startMedusaStore,
} from "../../scripts/shops/medusa-store.mjs";
import { launchBrowser, openPage } from "../support/browser.js";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.js";
import { keepScreenshot } from "../support/screenshot.js";
import { startGiftcardService, type TestCard, type TestService } from "../support/service.js";
import { testDatabase } from "../support/test-database.js";

let folder: string;
let service: TestService;
let proxy: FaultProxy;
let client: GiftcardClient;
let medusa: MedusaStore;
let storefront: Storefront;
let storeUrl: string;
let database: pg.Client;
let browser: Browser;
let page: Page;
/** Restarts the service at the same address, on the same database. */
let restartService: () => Promise<void>;

beforeAll(async () => {
  await buildAdmin();
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-admin-"));
  const databaseUrl = await testDatabase();
  const start = (port = "0") =>
    startGiftcardService({
      databaseUrl,
      environment: "sandbox",
      secretsFile: path.join(folder, "secrets.json"),
      args: ["--port", port],
    });
  service = await start();
  restartService = async () => {
    service = await start(new URL(service.url).port);
  };
  const { apiKey, companyId } = await service.createCompany();
  client = createClient({ baseUrl: service.url, apiKey, companyId });
  proxy = await startFaultProxy(service.url);
  storeUrl = await createStoreDatabase(inject("postgresUrl"));
  database = new pg.Client({ connectionString: storeUrl });
  await database.connect();
  medusa = await startMedusaStore({
    databaseUrl: storeUrl,
    giftcard: { baseUrl: proxy.url, apiKey, companyId },
    withAdmin: true,
  });
  storefront = createStorefront(medusa);
  browser = await launchBrowser();
  page = await openPage(browser, { viewport: { width: 1400, height: 1000 } });
}, 480_000);

afterAll(async () => {
  await browser?.close();
  await database?.end();
  await medusa?.stop();
  await proxy?.stop();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Places an order of 74.98. A card of 75.00 pays 50.00 of it. */
async function buy(): Promise<{ card: TestCard; orderId: string }> {
  const { card, cartId } = await readyCart();
  const { body } = await storefront.complete(cartId);
  expect(body.type).toBe("order");
  return { card, orderId: body.order.id };
}

async function readyCart() {
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId, "pp_system_default");
  return { card, cartId };
}

/** Places an order with 10 % off. A card pays first, and manual payment covers the remainder. */
async function buyOf(
  handle: string,
  { quantity, balanceCents }: { quantity: number; balanceCents: number },
): Promise<{ card: TestCard; orderId: string }> {
  const card = await service.issueCard({ balanceCents });
  const cartId = await storefront.createCart(handle, quantity);
  await storefront.ok("POST", `/store/carts/${cartId}/promotions`, { promo_codes: ["TEN"] });
  const { remainderCents } = (await storefront.apply(cartId, card)).body;
  if (remainderCents > 0) await storefront.initiate(cartId, "pp_system_default");
  const { body } = await storefront.complete(cartId);
  expect(body.type).toBe("order");
  return { card, orderId: body.order.id };
}

async function capture(orderId: string): Promise<void> {
  const { payment_collections } = await storefront.order(orderId);
  for (const { id } of payment_collections[0].payments)
    await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
}

/** Places an unpaid order of a cart, as if its completion had crashed before it was paid. */
async function orderUnpaid(handle: string): Promise<{ orderId: string; cartId: string }> {
  await storefront.createProduct(handle, 20);
  const { regions } = await storefront.ok("GET", "/admin/regions?fields=id");
  const { products } = await storefront.ok(
    "GET",
    `/admin/products?handle=${handle}&fields=variants.id,sales_channels.id`,
  );
  const { draft_order } = await storefront.ok("POST", "/admin/draft-orders", {
    email: "ada@example.com",
    region_id: regions[0].id,
    sales_channel_id: products[0].sales_channels[0].id,
    items: [{ variant_id: products[0].variants[0].id, quantity: 1 }],
  });
  await storefront.ok("POST", `/admin/draft-orders/${draft_order.id}/convert-to-order`, {});
  const orderId: string = draft_order.id;
  const cartId = await storefront.createCart(handle);
  await database.query("insert into order_cart (id, order_id, cart_id) values ($1, $1, $2)", [orderId, cartId]);
  return { orderId, cartId };
}

/** Records that recovery has begun to cancel an order. */
const beginCancel = ({ orderId, cartId }: { orderId: string; cartId: string }) =>
  database.query("insert into giftcard_unpaid_order (order_id, cart_id, reason) values ($1, $2, 'unpaid')", [
    orderId,
    cartId,
  ]);

/** Places an unpaid order that is fulfilled, and that recovery has begun to cancel. @returns its id */
async function fulfillUnpaid(): Promise<string> {
  const unpaid = await orderUnpaid("poster");
  const { orderId } = unpaid;
  const { order } = await storefront.ok("GET", `/admin/orders/${orderId}?fields=items.id`);
  const { stock_locations } = await storefront.ok("GET", "/admin/stock-locations");
  const { shipping_options } = await storefront.ok("GET", "/admin/shipping-options?fields=id");
  await storefront.ok("POST", `/admin/orders/${orderId}/fulfillments`, {
    items: [{ id: order.items[0].id, quantity: 1 }],
    location_id: stock_locations[0].id,
    shipping_option_id: shipping_options[0].id,
  });
  await beginCancel(unpaid);
  return orderId;
}

const balanceCents = async (card: TestCard) => (await client.balance(card)).balanceCents;
const button = (name: string) => page.getByRole("button", { name, exact: true });
const shown = (text: string | RegExp) => page.getByText(text).first().waitFor();
/** Waits until a heading has the focus, and not the page's body, from where a person with a keyboard would begin again. */
const focused = (heading: string) =>
  page
    .locator(":focus")
    .and(page.getByRole("heading", { name: heading }))
    .waitFor();
const tab = (name: string) => press(page.getByRole("tab", { name }));

describe("the admin", () => {
  let canceled: { card: TestCard; orderId: string };

  it("shows the reversal that a canceled order owes to its card while the service is down", async () => {
    await page.goto(`${medusa.url}/app/login`);
    await page.locator("input[name=email]").fill(medusa.admin.email);
    await page.locator("input[name=password]").fill(medusa.admin.password);
    await press(page.getByRole("button", { name: /continue/i }));
    await page.waitForURL(/\/app\/(?!login)/);

    canceled = await buy();
    expect(await balanceCents(canceled.card)).toBe(cents(2500));
    await service.kill();
    await storefront.ok("POST", `/admin/orders/${canceled.orderId}/cancel`, {});
    await page.goto(`${medusa.url}/app/orders/${canceled.orderId}`);
    await shown("Going back to the card");
    // Why it goes back, and why it isn't there yet.
    await shown(/The last attempt failed: The connection to the card issuer was lost\./);
    await shown(`•••• ${canceled.card.cardNumber.slice(-4)}`);
    await keepScreenshot(page, "admin-order");
    await press(button("Try now"));
    await shown(/Tried [2-9] times since .*; the shop keeps trying/);
  });

  it("shows whether the service is reachable", async () => {
    await press(page.getByRole("link", { name: "Gift cards" }).first());
    // The shop waits for the service: nothing is to do, and no line claims that a person is needed.
    await shown(/the shop finishes them by itself.*ask the card issuer.*was lost\. Error code: connection_lost$/);
    await shown("There is nothing to do.");
    expect(await page.getByText("No connection to the card issuer").count()).toBe(1);
    await page.getByRole("tab", { name: "To do", exact: true }).waitFor();
    await page.getByRole("link", { name: /^#\d+ \(canceled\)$/ }).waitFor();
    await shown(
      /^It is being refunded\. The last attempt failed:|^The payment was canceled\. The last attempt failed:/,
    );
    await press(button("Retry now"));
    await shown("1 still waits. The shop keeps trying.");
    // Block the reversal until the comparison has reported it as a difference.
    proxy.set("canceldevalue", "cut-before");
    await restartService();
    await page.reload();
    await shown("Everything works. There is nothing to do.");
    expect(await page.getByText("Test mode").count()).toBe(1);
    await tab("Reconciliation");
    await press(button("Compare"));
    await shown("1 difference");
    await shown(/Medusa: \S+ (refunded|canceled)$/);
    await keepScreenshot(page, "admin-reconciliation");
    const file = page.getByLabel("Card issuer's report (JSON or CSV), optional");
    await file.setInputFiles({ name: "prices.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
    await press(button("Compare"));
    const fault = page.getByRole("alert").filter({ hasText: /^“prices\.csv” isn't the card issuer's report\./ });
    await fault.waitFor();
    expect(await file.getAttribute("aria-invalid")).toBe("true");
    const days = { from: "2020-01-01", to: "2020-01-31" };
    const report = { name: "report.json", mimeType: "application/json" };
    await file.setInputFiles({ ...report, buffer: Buffer.from(JSON.stringify({ ...days, cards: [] })) });
    await fault.waitFor({ state: "detached" });
    await press(button("Compare"));
    await shown(/^“report\.json” is the report for .*2020 to .*2020\. Choose these days/);
    const cards = "company_id,last_four,devalued,canceled\r\n";
    await file.setInputFiles({ name: "report.csv", mimeType: "text/csv", buffer: Buffer.from(cards) });
    await press(button("Compare"));
    await shown(/^Card issuer: €0\.00 charged, €0\.00 put back$/);
    proxy.clear();
    await tab("To do");
  });

  it("shows a charge that needs attention until a person settles it", async () => {
    const { cartId, card } = await readyCart();
    proxy.withoutExtension(true);
    proxy.set("devalue", "cut-before", 1);
    expect((await storefront.complete(cartId)).body.code).toBe("outcome_unknown");
    proxy.clear();
    await page.reload();
    await shown("Needs your decision (1)");
    await keepScreenshot(page, "admin-giftcards");
    await press(button("Review"));
    await shown("The card was probably not charged");
    await press(button("The card was not charged"));
    await press(page.getByRole("alertdialog").getByRole("button", { name: "The card was not charged" }));
    await shown(medusa.admin.email);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Needs your decision" }).waitFor({ state: "detached" });
    await focused("Gift cards");
    // The card was not charged, and can still pay for the same cart.
    await storefront.initiate(cartId, "pp_system_default");
    expect((await storefront.complete(cartId)).body.type).toBe("order");
    expect(await balanceCents(card)).toBe(cents(2500));
  });

  it("shows an unpaid order that can't be canceled until a person keeps it", async () => {
    const orderId = await fulfillUnpaid();
    await storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    await page.reload();
    await shown("Tasks that fail (1)");
    await shown(/The order is fulfilled/);
    await press(button("Leave it undone"));
    await press(page.getByRole("alertdialog").getByRole("button", { name: "Leave it undone" }));
    await page.getByRole("heading", { name: "Tasks that fail" }).waitFor({ state: "detached" });
    expect((await storefront.order(orderId)).status).not.toBe("canceled");
  });

  it("shows a failing job with its error until a person's retry succeeds", async () => {
    const unpaid = await orderUnpaid("programme");
    const { orderId } = unpaid;
    await database.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full'; end $$;
      create trigger refuse before update on "order" for each row when (new.id = '${orderId}') execute function refuse()`);
    await beginCancel(unpaid);
    await storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    await page.reload();
    await shown("Tasks that fail (1)");
    await page.getByRole("tab", { name: "To do (1)", exact: true }).waitFor();
    const tried = page.waitForResponse((response) => response.url().endsWith("/retry"));
    await press(button("Try now").first());
    expect((await tried).status()).toBe(200);
    await shown(/Tried [2-9]/);
    await database.query("drop function refuse cascade");
    // Scheduled recovery may cancel the order first. Then there is nothing left to retry.
    const again = page.waitForResponse((response) => response.url().endsWith("/retry"), { timeout: 10_000 });
    const isPressed = await Promise.all([again, press(button("Try now").first(), "Enter", { timeout: 10_000 })]).then(
      () => true,
      () => false,
    );
    if (!isPressed) expect((await storefront.order(orderId)).status).toBe("canceled");
    await page.getByText("Tasks that fail").waitFor({ state: "detached" });
    expect((await storefront.order(orderId)).status).toBe("canceled");
  });

  it("reverses the charge automatically after the service is back", async () => {
    await expect.poll(() => balanceCents(canceled.card), { timeout: 120_000, interval: 1000 }).toBe(7500);
    await page.goto(`${medusa.url}/app/orders/${canceled.orderId}`);
    await shown("Back on the card");
  });

  it("shows a reconciliation without differences and a statement to download", async () => {
    await press(page.getByRole("link", { name: "Gift cards" }).first());
    await tab("Reconciliation");
    await press(button("Compare"));
    await shown("No difference");
    await tab("Monthly statement");
    await page.getByRole("row", { name: "Total €100.00 €50.00 €0.00 €50.00" }).waitFor();
    await keepScreenshot(page, "admin-statement");
    const [download] = await Promise.all([page.waitForEvent("download"), press(button("Download CSV"))]);
    expect(await readFile(await download.path(), "utf8")).toContain(`\r\n"total",,100.00,50.00,0.00,50.00\r\n`);
  });

  it("finds a payment by the card's last four digits, and shows where its money went", async () => {
    const { card } = await buyOf("summer-night-festival", { quantity: 1, balanceCents: 2498 });
    await press(page.getByRole("link", { name: "Gift cards" }).first());
    await tab("Card payments");
    const search = page.getByRole("searchbox", { name: "Search" });
    await search.fill("nobody@example.com");
    await search.press("Enter");
    await shown("No card payment matches.");
    for (const q of [card.cardNumber.slice(-4), "24.98", "ada@example.com"]) {
      await search.fill(q);
      await search.press("Enter");
      await page.getByRole("cell", { name: "€24.98" }).first().waitFor();
    }
    await search.fill(card.cardNumber.slice(-4));
    await search.press("Enter");
    // The head, the day, and the payment.
    await expect.poll(() => page.getByRole("row").count()).toBe(3);
    await keepScreenshot(page, "admin-charges");
    await page.getByRole("button", { name: `Show card payment •••• ${card.cardNumber.slice(-4)}` }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Balance before").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await press(page.getByRole("combobox", { name: "State" }));
    await press(page.getByRole("option", { name: "Back on the card" }));
    await shown("No card payment matches.");
    await page.getByLabel("Day").fill("2020-01-01");
    await search.fill("");
    await shown("No card payment matches.");
  });

  it.each([
    ["nl", ["Cadeaukaarten", "Kaartbetalingen", "Voorstelling terugbetalen", "Vergelijken", "Maandoverzicht"]],
    ["de", ["Geschenkkarten", "Kartenzahlungen", "Vorstellung erstatten", "Abgleich", "Monatsabrechnung"]],
    ["fr", ["Cartes cadeaux", "Paiements par carte", "Rembourser un spectacle", "Rapprochement", "Relevé mensuel"]],
  ])("speaks %s if the admin does", async (language, [title, ...names]) => {
    await page.evaluate(`localStorage.setItem("lng", "${language}"); document.cookie = "lng=${language}; path=/"`);
    await page.goto(`${medusa.url}/app/giftcard-pay`);
    await page.getByRole("heading", { name: title as string, exact: true }).waitFor();
    await page
      .getByRole("link", { name: title as string })
      .first()
      .waitFor();
    for (const name of names) {
      await tab(name);
      await page.getByRole("tabpanel", { name }).getByRole("heading").first().waitFor();
      // A text that is missing would be shown as its key.
      expect(await page.getByRole("main").textContent()).not.toMatch(
        /\b(page|tabs|common|health|charges|bulk|statement)\.\w/,
      );
    }
    await tab(names[0] as string);
    await page.getByRole("row").nth(2).waitFor();
  });

  it("says in the admin's language what prevents a refund, until Medusa's own button removes it", async () => {
    await page.evaluate(`localStorage.setItem("lng", "nl"); document.cookie = "lng=nl; path=/"`);
    await storefront.createProduct("recital", 24.95);
    const { orderId } = await buyOf("recital", { quantity: 1, balanceCents: 5000 });
    await storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
    await page.goto(`${medusa.url}/app/orders/${orderId}`);
    await shown("Een bewerking van de bestelling is nog open: bevestig of annuleer die.");
    await press(page.getByRole("button", { name: "Annuleren", exact: true }).first());
    // Sooner than the page would look again by itself.
    await page.getByText(/^Een bewerking van de/).waitFor({ state: "detached", timeout: 8_000 });
    await button("Alles terugbetalen (€\u00a022,46)").waitFor();
  });

  it("speaks English again", async () => {
    await page.evaluate(`localStorage.setItem("lng", "en"); document.cookie = "lng=en; path=/"`);
    await page.goto(`${medusa.url}/app/giftcard-pay?tab=charges`);
    await page.getByRole("searchbox", { name: "Search" }).waitFor();
  });

  it("shows how the refund of a returned ticket is split, and makes it", async () => {
    await storefront.createProduct("ticket", 24.95);
    // 67.365 with 10 % off: the card pays 22.46, 22.45 and 5.09 of the last ticket's 22.46.
    const { card, orderId } = await buyOf("ticket", { quantity: 3, balanceCents: 6000 });
    await capture(orderId);
    await storefront.returnItem(orderId, 1, 3);
    await page.goto(`${medusa.url}/app/orders/${orderId}`);
    await shown("Owed to the customer");
    await shown(`To card •••• ${card.cardNumber.slice(-4)}`);
    await shown("To Manual payment");
    await button("Refund €22.46 as shown").scrollIntoViewIfNeeded();
    await keepScreenshot(page, "admin-refund");
    await press(button("Refund €22.46 as shown"));
    await press(page.getByRole("alertdialog").getByRole("button", { name: "Refund", exact: true }));
    await shown("Back on the card");
    await page.getByRole("status").or(page.locator("[aria-live=polite]")).getByText("€22.46 is refunded").waitFor();
    await expect.poll(() => page.getByText("Owed to the customer").count()).toBe(0);
    await focused("Gift cards");
    expect(await balanceCents(card)).toBe(cents(1509));
    const { summary } = await storefront.order(orderId);
    expect(summary.refunded_total).toBe(22.46);
    // Medusa treats a cent or less as nothing outstanding.
    expect(Math.abs(summary.pending_difference)).toBeLessThan(0.01);
    // The list has one row for the card's payment: what it paid, and what came back of it.
    const list = await page.context().newPage();
    await list.goto(`${medusa.url}/app/giftcard-pay?tab=charges`);
    const row = list.getByRole("row").filter({ hasText: card.cardNumber.slice(-4) });
    await row.getByText("€50.00").waitFor();
    expect(await row.count()).toBe(1);
    await row.getByText("€5.09").waitFor();
    await row.getByText("€44.91").waitFor();
    await list.close();
    // Its show is off: everything that is left goes back.
    await press(button("Refund the rest (€44.91)"));
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText(`€44.91 to card •••• ${card.cardNumber.slice(-4)}`).waitFor();
    await press(dialog.getByRole("button", { name: "Refund", exact: true }));
    await expect.poll(() => balanceCents(card)).toBe(6000);
  });

  it("refunds the orders of a product by a plan that is confirmed with the product's name", async () => {
    await storefront.createProduct("gala", 24.95);
    const bought: { card: TestCard; orderId: string }[] = [];
    for (const balanceCents of [4375, 5000, 2500]) bought.push(await buyOf("gala", { quantity: 2, balanceCents }));
    // The last order stays uncaptured, so the plan must leave it out.
    for (const { orderId } of bought.slice(0, 2)) await capture(orderId);
    await press(page.getByRole("link", { name: "Gift cards" }).first());
    await tab("Refund a show");
    await page.getByLabel("Find a product").fill("gala");
    await press(page.getByRole("combobox", { name: "Product" }));
    await press(page.getByRole("option", { name: "gala" }));
    await press(button("Show the plan"));
    await shown(/2 orders/);
    await shown(/of it isn't captured/);
    await keepScreenshot(page, "admin-refund-show");
    // The shop may have captured the order's card already.
    await press(
      page.getByRole("checkbox", { name: /^Capture €(44\.91|19\.91) of 1 order first, and refund it too$/ }),
      " ",
    );
    await shown(/3 orders/);
    await press(button("Refund €134.73"));
    const dialog = page.getByRole("alertdialog");
    expect(await dialog.getByRole("button", { name: "Refund", exact: true }).isEnabled()).toBe(false);
    await dialog.getByText("Type gala to confirm:").waitFor();
    await dialog.getByText(/€(44\.91|19\.91) is captured first\./).waitFor();
    await dialog.getByRole("textbox").fill("gala");
    await press(dialog.getByRole("button", { name: "Refund", exact: true }));
    await shown("€134.73 of €134.73");
    await shown(/3 orders refunded/);
    const [first, second, third] = bought.map(({ card }) => card) as [TestCard, TestCard, TestCard];
    expect(await Promise.all([first, second, third].map(balanceCents))).toEqual([4375, 5000, 2500]);
  });

  it("keeps naming the orders that a bulk refund left out, and names the person by their e-mail address", async () => {
    await storefront.createProduct("encore", 24.95);
    const { orderId } = await buyOf("encore", { quantity: 1, balanceCents: 5000 });
    await capture(orderId);
    const open = await buyOf("encore", { quantity: 2, balanceCents: 2500 });
    const { display_id } = await storefront.order(open.orderId);
    await page.evaluate(`localStorage.setItem("lng", "de"); document.cookie = "lng=de; path=/"`);
    await page.goto(`${medusa.url}/app/giftcard-pay?tab=refunds`);
    await page.getByLabel("Produkt suchen").fill("encore");
    await press(page.getByRole("combobox", { name: "Produkt" }));
    await press(page.getByRole("option", { name: "encore" }));
    await press(button("Plan anzeigen"));
    await press(page.getByRole("button", { name: /^22,4[56]\s€ erstatten$/ }));
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("Geben Sie zur Bestätigung encore ein:").waitFor();
    await dialog.getByRole("textbox").fill("encore");
    await press(dialog.getByRole("button", { name: "Erstatten", exact: true }));
    await shown(/1 Bestellung erstattet/);
    await shown("1 Bestellung wurde ausgelassen, als diese Erstattung begann:");
    await page
      .getByRole("listitem")
      .filter({ hasText: `#${display_id}, 44,91` })
      .waitFor();
    await shown(new RegExp(`Begonnen von ${medusa.admin.email}, `));
    await page.evaluate(`localStorage.setItem("lng", "en"); document.cookie = "lng=en; path=/"`);
  });
});
