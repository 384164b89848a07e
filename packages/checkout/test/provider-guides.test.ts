// @module-tag long

import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, startNode } from "../../../scripts/lib/process.mjs";
import { readBlock, readBlocks } from "../../../test/support/page-blocks.js";
import { type PlayedMollie, startPlayedMollie } from "../../../test/support/played-mollie.js";
import { type PlayedStripe, startPlayedStripe } from "../../../test/support/played-stripe.js";
import { startTlsFront } from "../../../test/support/tls-front.js";
import type { CartSummary } from "../src/storefront.js";
import { type Shop, sealingKeys, startShop } from "./shop.js";

const REMAINDER = "docs/shops/remainder.md";
/** The guides, by the file of their shop. */
const pages = { stripe: "docs/shops/stripe.md", mollie: "docs/shops/mollie.md" };

let shop: Shop;
let folder: string;
let settings: Record<string, string>;
let stripe: PlayedStripe;
let mollie: PlayedMollie;
let front: Awaited<ReturnType<typeof startTlsFront>>;

beforeAll(async () => {
  [shop, stripe, mollie] = await Promise.all([startShop(), startPlayedStripe(), startPlayedMollie()]);
  front = await startTlsFront(mollie.url);
  const { companyId, apiKey } = await shop.service.createCompany();
  settings = {
    GIFTCARD_BASE_URL: shop.service.url,
    GIFTCARD_API_KEY: apiKey,
    GIFTCARD_COMPANY_ID: String(companyId),
    GIFTCARD_ENVIRONMENT: "sandbox",
    SEALING_KEY: String(sealingKeys[0]?.key),
    SHOP_URL: "https://shop.example",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    ...{ STRIPE_SECRET_KEY: stripe.apiKey, STRIPE_WEBHOOK_SECRET: stripe.webhookSecret, MOLLIE_API_KEY: mollie.apiKey },
  };
  const cache = path.resolve(import.meta.dirname, "../.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(path.join(cache, "providers-"));
  await write("settings.mjs", await readBlock("docs/shops/node.md", "settings.mjs"));
});
afterAll(async () => {
  await Promise.all([front?.stop(), shop?.stop(), stripe?.stop(), mollie?.stop()]);
  if (folder) await rm(folder, { recursive: true });
});

/** Writes a file, with the SDKs' clients pointed at the simulated providers. */
async function write(file: string, text: string): Promise<void> {
  const { hostname: host, port } = new URL(stripe.url);
  const stripeClient = `new Stripe(STRIPE_SECRET_KEY, ${JSON.stringify({ host, port: Number(port), protocol: "http" })})`;
  const mollieClient = `createMollieClient({ apiKey: MOLLIE_API_KEY, apiEndpoint: "${front.url}/v2/" })`;
  const pointed = text
    .replace("new Stripe(STRIPE_SECRET_KEY)", stripeClient)
    .replace("createMollieClient({ apiKey: MOLLIE_API_KEY })", mollieClient);
  await writeFile(path.join(folder, file), pointed);
}

/** Starts a server for the routes in the shopper's page. The body of a POST has the cart's id, and may have a card. */
async function serve(name: string, imports: string) {
  await write(
    `${name}-server.mjs`,
    `import { createServer } from "node:http";
    import { toNodeListener } from "@giftcard-pay/checkout/node";
    ${imports}
    async function answer(request) {
      const body = await request.clone().json();
      const cart = { id: body.cartId, totalCents: 7498, currency: "EUR" };
      if (!body.card) return answerOrders(request, cart, lines);
      const { plan } = await checkout.apply(cart, body.card); // what the page shows
      return answerOrders(new Request(request, { body: JSON.stringify({ ...body, plan }) }), cart, lines);
    }
    const server = createServer(toNodeListener(answer)).listen(0, "127.0.0.1", () =>
      console.log("ready at http://127.0.0.1:" + server.address().port));`,
  );
  const { match, stop, logs } = await startNode({
    ...{ name, args: [`${name}-server.mjs`], cwd: folder, ready: /ready at (http\S+)/ },
    env: { ...process.env, ...settings } as Record<string, string>,
  });
  return { url: String(match[1]), stop, logs };
}

/** Serves the shop of stripe.md, with the functions of one of the guides. */
async function serveShop(name: keyof typeof pages) {
  await write(`${name}.mjs`, await readBlock(pages[name], `${name}.mjs`));
  const routes = await readBlock(REMAINDER, "bank-routes.mjs");
  expect(routes).toContain('"./bank.mjs"');
  await write("bank-routes.mjs", routes.replace("./bank.mjs", `./${name}.mjs`));
  const text = await readBlock(pages.stripe, "shop.mjs");
  expect(text).toContain('"./stripe.mjs"');
  await write("shop.mjs", text.replace("./stripe.mjs", `./${name}.mjs`));
  const { match, stop, logs } = await startNode({
    ...{ name, args: ["shop.mjs"], cwd: folder, ready: /ready at (http\S+)/ },
    env: { ...process.env, ...settings, PORT: String(await freePort()) } as Record<string, string>,
  });
  return { url: String(match[1]), stop, logs };
}

/** Applies a card to a new cart in the shop, and places the order. */
async function placeOrder(url: string, { cardNumber, pin }: { cardNumber: string; pin: string }) {
  const shown = await fetch(url);
  const cookie = String(shown.headers.get("set-cookie")?.split(";")[0]);
  const cartId = cookie.slice("cart=".length);
  expect(await shown.text()).toContain(`<giftcard-pay endpoint="/giftcards" cart="${cartId}">`);
  const applied = await fetch(`${url}/giftcards/carts/${cartId}/cards`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ cardNumber, pin }),
  });
  const summary = (await applied.json()) as CartSummary;
  expect(summary).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
  const body = new URLSearchParams({ plan: summary.plan });
  const placed = await fetch(url, { method: "POST", headers: { cookie }, body, redirect: "manual" });
  return { cartId, status: placed.status, page: String(placed.headers.get("location")) };
}

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", body: JSON.stringify(body), redirect: "manual" });
const textOf = async (url: string) => (await fetch(url)).text();

describe("docs/shops/stripe.md", () => {
  it("redirects the shopper to Stripe's page, and is paid by the webhook", async () => {
    const { url, stop, logs } = await serveShop("stripe");
    const card = await shop.card(7500);
    const { cartId, status, page } = await placeOrder(url, card);
    const session = page.split("/").at(-1) ?? "";
    expect([status, page]).toEqual([303, stripe.sessions.find(session).url]);
    expect(await textOf(`${url}/orders/${cartId}/return`)).toContain("waits for the bank.");
    stripe.sessions.pay(session, "4242424242424242");
    const answers = [];
    for (const event of stripe.events) answers.push(await stripe.deliver(event, `${url}/webhooks/stripe`));
    expect(new Set(answers)).toEqual(new Set([204]));
    expect((await post(`${url}/webhooks/stripe`, {})).status).toBe(400);
    expect(await textOf(`${url}/orders/${cartId}/return`)).toContain("is paid.");
    expect(await card.balanceCents()).toBe(2500);
    stripe.dispute(stripe.intents.all()[0]?.id ?? "");
    await stripe.deliver(stripe.events.at(-1) as never, `${url}/webhooks/stripe`);
    expect(logs()).toContain("Look at this payment in Stripe");
    await stop();
  });

  it("confirms a payment intent with the page's confirmation token", async () => {
    for (const file of ["stripe-in-page.mjs", "in-page-routes.mjs"])
      await write(file, await readBlock(pages.stripe, file));
    const { url, stop } = await serve(
      "stripe-in-page",
      `import { checkout } from "./stripe-in-page.mjs";
      import { answerOrders } from "./in-page-routes.mjs";
      const lines = [{ id: "ticket", quantity: 2, totalCents: 7498 }];`,
    );
    for (const [number, expected] of [
      ["4242424242424242", { status: "paid" }],
      ["4000000000000002", { status: "declined" }],
      ["4000002500003155", { status: "pending", clientSecret: expect.stringMatching(/^pi_\w+_secret_/) }],
    ] as const) {
      const { cardNumber, pin } = await shop.card(7500);
      const [cartId, confirmationToken] = [randomUUID(), stripe.intents.createToken(number)];
      const paid = await post(`${url}/pay`, { cartId, card: { cardNumber, pin }, confirmationToken });
      expect(await paid.json()).toEqual(expected);
      const back = await post(`${url}/orders/${cartId}/return`, { cartId });
      expect(await back.text()).toBe(`Order ${cartId}: ${expected.status}`);
    }
    await stop();
  });
});

describe("docs/shops/mollie.md", () => {
  it("redirects the shopper to Mollie's page, and is paid by the webhook", async () => {
    const { url, stop } = await serveShop("mollie");
    const card = await shop.card(7500);
    const { cartId, status, page } = await placeOrder(url, card);
    const id = String(page.split("/").at(-1));
    expect([status, mollie.payments.find(id).status]).toEqual([303, "open"]);
    expect(mollie.payments.find(id).webhookUrl).toBe("https://shop.example/webhooks/mollie");
    expect(await textOf(`${url}/orders/${cartId}/return`)).toContain("waits for the bank.");
    mollie.payments.pay(id);
    expect(await mollie.deliver(id, `${url}/webhooks/mollie`)).toBe(204);
    expect(await textOf(`${url}/orders/${cartId}/return`)).toContain("is paid.");
    expect(await card.balanceCents()).toBe(2500);
    await stop();
  });
});

it("runs every file of the guides", async () => {
  const files = (await Promise.all(Object.values(pages).map(readBlocks))).flat().flatMap(({ file }) => file ?? []);
  expect(files.toSorted()).toEqual([
    "in-page-routes.mjs",
    "mollie.mjs",
    "shop.mjs",
    "stripe-in-page.mjs",
    "stripe.mjs",
  ]);
});
