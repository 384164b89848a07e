// @module-tag long
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildVendureDashboard } from "../../../scripts/shops/vendure-dashboard.mjs";
import { launchBrowser, openPage } from "../../../test/support/browser.js";
import { type PlayedStripe, startPlayedStripe } from "../../../test/support/played-stripe.js";
import { openStage, type Stage } from "./support/stage.js";
import { addStripe, payByStripe } from "./support/stripe.js";

/* Vendure's dashboard as a shop builds it, with the packed plugin, in a real browser. */

const BUILD_TIMEOUT_MS = 900_000;
const PASSWORD = "a-long-password";

let dashboard: Awaited<ReturnType<typeof buildVendureDashboard>>;
let stripe: PlayedStripe;
let stage: Stage;
let browser: Browser;
beforeAll(async () => {
  dashboard = await buildVendureDashboard();
  stripe = await startPlayedStripe();
  stage = await openStage({ env: { STRIPE_URL: stripe.url, DASHBOARD: dashboard.appDir } });
  await addStripe(stage, stripe);
  browser = await launchBrowser();
}, BUILD_TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
  await stripe?.stop();
  await dashboard?.remove();
});

/** Logs in a person who has chosen a language of the dashboard. */
async function logIn(language: string, user = "superadmin", password = stage.secrets.superadminPassword) {
  const input = {
    key: "vendure.dashboard.userSettings",
    value: { displayLanguage: language, hasSeenOnboarding: true },
  };
  const person = await stage.openAdmin({ username: user }, password);
  await person.call(
    "mutation ($input: SettingsStoreInput!) { setSettingsStoreValue(input: $input) { result error } }",
    {
      input,
    },
  );
  const page = await openPage(browser, { viewport: { width: 1440, height: 1000 } });
  await page.goto(`${stage.shop().url}/dashboard/login`);
  await page.locator("input[name=username]").fill(user);
  await page.locator("input[name=password]").fill(password);
  await page.locator("button[type=submit]").press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/login"));
  return page;
}

/** Opens a page of the dashboard. */
const open = (page: Page, path: string) => page.goto(`${stage.shop().url}/dashboard/${path}`);

/** Confirms the dialog that is open. */
async function confirm(page: Page, name: string | RegExp) {
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name, exact: true }).press("Enter");
  await dialog.waitFor({ state: "hidden" });
}

async function paidOrder() {
  const order = await stage.order(7500);
  await order.payByCard();
  await order.payByBank(2498);
  await stage.expectHeld(order, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  return order;
}

/** Refunds an order whose cancel tokens can't be opened, so that a person has to decide. */
async function needingAttention() {
  const order = await paidOrder();
  const books = new pg.Client({ connectionString: stage.databaseUrl });
  await books.connect();
  await books.query(
    "update giftcard.giftcard_charge set sealed_token = left(sealed_token, -10) || 'AAAAAAAAAA' where order_id = $1",
    [order.code],
  );
  await books.end();
  const { id } = await stage.paymentOf(order.code, "giftcard");
  await stage.admin().refund(id, 5000);
  await expect.poll(async () => (await chargesOf(order.code, "needs_attention")).length).toBe(2);
  return order;
}

async function chargesOf(orderCode: string, state: string) {
  const options = { orderCode, states: [state] };
  const query = `query ($options: GiftcardChargeOptions) { giftcardCharges(options: $options) { items { reference } } }`;
  return (await stage.admin().call(query, { options })).items as { reference: string }[];
}

test("the order's page shows each card, its refunds and the remainder", async () => {
  const order = await paidOrder();
  const { id } = await stage.paymentOf(order.code, "giftcard");
  await stage.admin().refund(id, 3749);
  const page = await logIn("en");
  await open(page, `orders/${order.id}`);
  const block = page.locator("[data-slot=card]", { hasText: "Remainder, by other methods" });
  const { cardNumber } = order.cards[0] as { cardNumber: string };
  await block.getByText(`Card •••• ${cardNumber.slice(-4)}`).waitFor();
  await block.getByText("€37.49 refunded").waitFor();
  await block.getByText("€50.00", { exact: true }).waitFor();
  await block.getByText("€24.98", { exact: true }).waitFor();
  await block.getByText("Paid", { exact: true }).waitFor();
  await page.context().close();
});

test("a person decides about a charge after seeing its evidence, in Dutch", async () => {
  const order = await needingAttention();
  const page = await logIn("nl");
  await page.getByRole("button", { name: "Verkopen" }).press("Enter");
  await page.getByRole("link", { name: "Cadeaukaarten" }).press("Enter");
  const charges = page.getByRole("listitem").filter({ hasText: order.code });
  await expect.poll(() => charges.count()).toBe(2);
  const review = charges.first().getByRole("button", { name: "Bekijken" });
  await review.press("Enter");
  expect(await review.getAttribute("aria-expanded")).toBe("true");
  await charges
    .first()
    .getByText(/Saldo vooraf/)
    .waitFor();
  await charges
    .first()
    .getByText(/€\s75,00/)
    .waitFor();
  await charges.first().getByText("Niemand heeft iets besloten.").waitFor();
  await charges.first().getByRole("button", { name: "Er is niet afgeschreven" }).press("Enter");
  await confirm(page, "Er is niet afgeschreven");
  await expect.poll(() => charges.count()).toBe(1);
  await page
    .getByRole("status")
    .filter({ hasText: /Terug op de kaart|Niet afgeschreven/ })
    .waitFor();
  expect(await chargesOf(order.code, "needs_attention")).toHaveLength(1);
  await charges.first().getByRole("button", { name: "Bekijken" }).press("Enter");
  await charges.first().getByRole("button", { name: "Er is afgeschreven" }).press("Enter");
  await page.getByRole("alertdialog").getByRole("button", { name: "Annuleren" }).press("Enter");
  expect(await chargesOf(order.code, "needs_attention")).toHaveLength(1);
  await charges.first().getByText("Niemand heeft iets besloten.").waitFor();
  await page.context().close();
});

test("a person refunds an overcollection, and the order is placed, in German", async () => {
  const order = await stage.order();
  const early = await order.ask("mutation { createStripePaymentIntent }"); // for the total
  const card = await stage.issueCard(7500);
  await order.apply(card);
  await order.payByCard();
  await payByStripe(stage, stripe, early);
  const page = await logIn("de");
  await open(page, `orders/${order.id}`);
  await page.getByText(/50,00\s€ zu viel eingenommen/).waitFor();
  await page.getByRole("button", { name: /50,00\s€ erstatten/ }).press("Enter");
  await confirm(page, /50,00\s€ erstatten/);
  await page
    .getByRole("status")
    .filter({ hasText: /50,00\s€/ })
    .waitFor();
  await page.getByText("zu viel eingenommen").waitFor({ state: "detached" });
  await expect.poll(async () => (await stage.admin().look(order.code)).state).toBe("PaymentSettled");
  expect(await stage.heldByCards({ cards: [card], issuedCents: 7500, ...{ code: order.code } })).toBe(5000);
  expect(await stage.bookedCents(order.code, "stripe")).toBe(2498);
  await page.context().close();
});

test("shows the health and unsettled payments, in French", async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const page = await logIn("fr");
  await open(page, "giftcards");
  await page.getByText("Connecté à l'émetteur des cartes").waitFor();
  const unsettled = page.getByRole("listitem").filter({ hasText: order.code });
  await unsettled.getByText("Attend le reste à payer").waitFor();
  await unsettled.getByText(/24,98\s€/).waitFor();
  // It can't be tried: the shopper is paying.
  expect(await unsettled.getByRole("button", { name: "Essayer maintenant" }).count()).toBe(0);
  await page.context().close();
});

test("a person tries a failed step again, then settles it elsewhere", async () => {
  const order = await paidOrder();
  await stage.refundAtBank(order.id, 2498);
  await stage.admin().cancel(order.id);
  const page = await logIn("en");
  const unsettled = page.getByRole("listitem").filter({ hasText: order.code });
  const tryNow = unsettled.getByRole("button", { name: "Try now" });
  await expect
    .poll(async () => {
      await open(page, "giftcards");
      await unsettled.getByText("Being canceled").waitFor();
      return tryNow.count();
    })
    .toBe(1);
  const calls = page.waitForResponse((response) =>
    (response.request().postData() ?? "").includes("retryGiftcardPurchase"),
  );
  await tryNow.press("Enter");
  expect((await (await calls).json()).errors).toBeUndefined();
  // The bank refuses the refund again.
  const settled = unsettled.getByRole("button", { name: "Settled elsewhere" });
  await expect
    .poll(async () => {
      if ((await settled.count()) > 0) await settled.press("Enter");
      if ((await page.getByRole("alertdialog").count()) > 0) await confirm(page, "Settled elsewhere");
      return unsettled.count();
    })
    .toBe(0);
  await stage.expectHeld(order, { state: "Cancelled", cards: 0, bank: 0 });
  await page.context().close();
});

test("without WriteGiftcards there is no button, and without ReadGiftcards no page", async () => {
  const order = await needingAttention();
  const reader = await logIn("en", await administrator(["ReadOrder", "ReadGiftcards"]), PASSWORD);
  await open(reader, "giftcards");
  const charge = reader.getByRole("listitem").filter({ hasText: order.code }).first();
  await charge.getByRole("button", { name: "Review" }).press("Enter");
  await charge.getByText("Balance before").waitFor();
  expect(await charge.getByRole("button", { name: /charged|Try again/ }).count()).toBe(0);
  await reader.context().close();
  const stranger = await logIn("en", await administrator(["ReadOrder"]), PASSWORD);
  await open(stranger, "giftcards");
  await stranger.getByText("You need the permission ReadGiftcards").waitFor();
  expect(await stranger.getByRole("link", { name: "Gift cards" }).count()).toBe(0);
  await stranger.context().close();
});

/** Creates an administrator with these permissions. @returns the name to log in with */
async function administrator(permissions: string[]): Promise<string> {
  const admin = stage.admin();
  const code = permissions.join("-").toLowerCase();
  const { id: roleId } = await admin.call("mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }", {
    input: { code, description: code, permissions },
  });
  const emailAddress = `${code}@example.com`;
  await admin.call("mutation ($input: CreateAdministratorInput!) { createAdministrator(input: $input) { id } }", {
    input: { firstName: "A", lastName: "B", emailAddress, password: PASSWORD, roleIds: [roleId] },
  });
  return emailAddress;
}
