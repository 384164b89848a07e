import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text as bodyOf } from "node:stream/consumers";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startShop, type TestShop } from "./support/shop.js";

interface Mail {
  readonly to: string;
  readonly template: string;
  readonly data: Record<string, unknown>;
  readonly content?: { readonly subject: string; readonly text: string; readonly html: string };
}

let shop: TestShop;
let database: pg.Client;
let mailService: Server;
/** The mails that the mail service received. */
const mails: Mail[] = [];
let isMailServiceDown = false;

beforeAll(async () => {
  mailService = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (!isMailServiceDown) mails.push(JSON.parse(body));
    response.writeHead(isMailServiceDown ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => mailService.listen(0, "127.0.0.1", resolve));
  const { port } = mailService.address() as AddressInfo;
  shop = await startShop(
    { TEST_MAIL_URL: `http://127.0.0.1:${port}/`, TEST_RECOVER_BY_HAND: "yes" },
    { orderMail: { language: "en" }, allowPendingRemainder: true },
  );
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
  mailService?.close();
});

const issue = (balanceCents: number) => shop.service.issueCard({ balanceCents });
/** Delivers an order's event once more. */
const announce = (id: string) => shop.storefront.ok("POST", "/store-events", { name: "order.placed", data: { id } });
const mailsOf = (orderId: string) => mails.filter(({ data }) => data.orderId === orderId);

async function mailOf(orderId: string): Promise<Mail> {
  await expect.poll(() => mailsOf(orderId).length, { timeout: 10_000 }).toBe(1);
  return mailsOf(orderId)[0] as Mail;
}

interface Wanted {
  balances?: number[];
  handle?: string;
  quantity?: number;
  cart?: object;
  data?: Record<string, unknown>;
  codes?: string[];
}

/** Buys with new cards, and by the bank. */
async function buy({ balances = [1875, 1234], handle, quantity, cart, data, codes }: Wanted = {}) {
  const { storefront } = shop;
  const cartId = await storefront.createCart(handle, quantity);
  if (cart) await storefront.ok("POST", `/store/carts/${cartId}`, cart);
  if (codes) await storefront.ok("POST", `/store/carts/${cartId}/promotions`, { promo_codes: codes });
  const cards = [];
  for (const balanceCents of balances) cards.push(await issue(balanceCents));
  for (const card of cards) expect((await storefront.apply(cartId, card)).status).toBe(200);
  await storefront.initiate(cartId, "pp_bank_bank", data);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return { cards, orderId: body.order.id as string, number: body.order.display_id as number };
}

/** The lines of a mail's text. Intl separates amounts by different kinds of spaces. */
const linesOf = ({ content }: Mail) => (content?.text ?? "").replace(/[\u00a0\u202f]/g, " ").split("\n");

/** The cents of each line that has an amount, by its label, in the order of the mail. */
function centsOf(mail: Mail): [label: string, cents: number][] {
  return linesOf(mail).flatMap((line): [string, number][] => {
    const [, label = "", amount = ""] = line.match(/^(.*): (\D*\d[\d.,\s]*\D*)$/) ?? [];
    return amount ? [[label, Number(amount.replace(/[^\d-]/g, ""))]] : [];
  });
}

describe("the order mail", () => {
  test("lists what was bought, the total, each card by its last four digits, and the bank", async () => {
    const { cards, orderId, number } = await buy({ cart: { locale: "en-GB" } });
    const mail = await mailOf(orderId);
    const [first, second] = cards.map(({ cardNumber }) => cardNumber.slice(-4));
    expect(mail).toMatchObject({ to: "ada@example.com", content: { subject: `Your order ${number}` } });
    expect(linesOf(mail)).toEqual([
      "Thank you for your order",
      "",
      `Order ${number}`,
      expect.stringMatching(/^1 × Summer Night Festival.*: €74\.98$/),
      expect.stringMatching(/: €0\.00$/),
      "Total: €74.98",
      expect.stringMatching(/^VAT included: €\d+\.\d\d$/),
      "",
      "Paid by",
      `Gift card ending in ${first}: €18.75`,
      `Gift card ending in ${second}: €12.34`,
      "Other payment: €43.89",
    ]);
    const html = mail.content?.html ?? "";
    expect(html).toContain('<html lang="en">');
    for (const amount of ["€74.98", "€18.75", "€12.34", "€43.89"]) expect(html).toContain(amount);
    for (const { cardNumber, pin } of cards) {
      expect(JSON.stringify(mail)).not.toContain(cardNumber);
      expect(JSON.stringify(mail)).not.toContain(pin);
    }
  });

  test("is sent once, although the event is delivered again, also concurrently", async () => {
    const { orderId } = await buy();
    await mailOf(orderId);
    await Promise.all([announce(orderId), announce(orderId), announce(orderId)]);
    // A later order's mail proves that the bus has delivered these events.
    await mailOf((await buy()).orderId);
    expect(mailsOf(orderId)).toHaveLength(1);
    // Without a record of the first mail, the deliveries race for it.
    await database.query("delete from notification where resource_id = $1", [orderId]);
    await Promise.all([announce(orderId), announce(orderId), announce(orderId)]);
    await expect.poll(() => mailsOf(orderId).length, { timeout: 10_000 }).toBe(2);
    await mailOf((await buy()).orderId);
    expect(mailsOf(orderId)).toHaveLength(2);
    expect(shop.medusa.logs()).not.toContain(`the order mail of ${orderId} was not sent`);
  });

  test.each([
    ["the cart's locale", { locale: "fr-BE" }, "fr"],
    ["the country", { locale: null }, "nl"],
  ])("is written in the language of %s", async (_, cart, language) => {
    const { orderId } = await buy({ cart });
    const mail = await mailOf(orderId);
    expect(mail.data.language).toBe(language);
    expect(mail.content?.html).toContain(`<html lang="${language}">`);
  });

  test("adds up to the cent with fractions, a percentage off, and several units", async () => {
    const title = '<b>"Bits" & Bytes</b>\n2 × Free ticket';
    await shop.storefront.createProduct("odd-price", 13.3333, { title });
    const { orderId } = await buy({ handle: "odd-price", quantity: 3, codes: ["TEN"], cart: { locale: "en" } });
    const mail = await mailOf(orderId);
    const rows = centsOf(mail);
    const total = rows.findIndex(([label]) => label === "Total");
    const vat = rows.findIndex(([label]) => label === "VAT included");
    const sum = (some: typeof rows) => some.reduce((cents, [, amount]) => cents + amount, 0);
    const totalCents = rows[total]?.[1] ?? 0;
    // 3 × 13.3333 minus 10 %.
    expect(totalCents).toBe(3600);
    expect(sum(rows.slice(0, total))).toBe(totalCents);
    expect(sum(rows.slice(vat + 1))).toBe(totalCents);
    expect(rows[0]?.[0]).toMatch(/^3 × <b>"Bits" & Bytes<\/b> 2 × Free ticket, One$/);
    expect(mail.content?.html).toContain("&lt;b&gt;&quot;Bits&quot; &amp; Bytes&lt;/b&gt;");
    expect(mail.content?.html).not.toContain("<b>");
  });

  test("shows what a bank transfer still has to pay", async () => {
    const data = { behaviour: "pending_authorization" };
    const { orderId } = await buy({ balances: [5000], cart: { locale: "en" }, data });
    expect(linesOf(await mailOf(orderId)).at(-1)).toBe("Still to pay: €24.98");
  });

  test("is sent for an order without cards too", async () => {
    const { orderId } = await buy({ balances: [], cart: { locale: "en" } });
    expect(linesOf(await mailOf(orderId)).slice(-2)).toEqual(["Paid by", "Payment: €74.98"]);
  });

  test("is not sent for an order that is canceled meanwhile", async () => {
    const { orderId } = await buy();
    await mailOf(orderId);
    await shop.storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
    await database.query("delete from notification where resource_id = $1", [orderId]);
    await announce(orderId);
    await mailOf((await buy()).orderId);
    expect(mailsOf(orderId)).toHaveLength(1);
  });

  test("that the mail service refuses is logged, and costs the shopper nothing", async () => {
    isMailServiceDown = true;
    const { orderId } = await buy().finally(async () => {
      await expect.poll(() => shop.medusa.logs(), { timeout: 10_000 }).toContain("was not sent");
      isMailServiceDown = false;
    });
    const logged = `the order mail of ${orderId} was not sent: Error: Failed to send notification`;
    expect(shop.medusa.logs()).toContain(logged);
    expect(shop.medusa.logs()).toContain("the mail service answered 503");
    await announce(orderId);
    await mailOf((await buy()).orderId);
    expect(mailsOf(orderId)).toEqual([]);
  });

  test("leaves the text to the provider's template, if one is named", { tags: "long" }, async () => {
    await shop.crash();
    await shop.restart({ orderMail: { language: "de", template: "d-123" } });
    const { orderId, number } = await buy({ cart: { locale: "de" } });
    const { template, content, data } = await mailOf(orderId);
    expect({ template, content }).toEqual({ template: "d-123", content: undefined });
    expect(data).toMatchObject({ displayId: number, subject: `Ihre Bestellung ${number}`, language: "de" });
    expect(data.paidByHtml).toContain("Geschenkkarte mit den Endziffern");
    expect(data.paidByText).toContain("Andere Zahlung");
  });
});

describe("without a provider for emails, as in a new store", () => {
  test("Medusa says at start-up what to configure, and orders are placed", { tags: "long" }, async () => {
    const bare = await startShop({ TEST_MAIL_OFF: "yes", TEST_RECOVER_BY_HAND: "yes" }, { orderMail: {} });
    try {
      await expect.poll(() => bare.medusa.logs()).toContain("orderMail is set, but no notification provider");
      const cartId = await bare.storefront.createCart();
      const card = await bare.service.issueCard({ balanceCents: 5000 });
      await bare.storefront.apply(cartId, card);
      await bare.storefront.initiate(cartId);
      expect((await bare.storefront.complete(cartId)).body.type).toBe("order");
      expect(await bare.balanceCents(card)).toBe(0);
      await expect.poll(() => bare.medusa.logs(), { timeout: 10_000 }).toContain("was not sent");
    } finally {
      await bare.stop();
    }
  });
});
