// @module-tag long
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNode } from "../../../scripts/process.mjs";
import { readBlock, readBlocks } from "../../../test/support/page-blocks.js";
import { type PlayedMollie, startPlayedMollie } from "../../../test/support/played-mollie.js";
import { type PlayedStripe, startPlayedStripe } from "../../../test/support/played-stripe.js";
import { startTlsFront } from "../../../test/support/tls-front.js";
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

/** Starts a server with the guide's functions. A POST to `/` places an order for two tickets, with a card in its body. */
async function serve(name: string, order: string) {
  await write(
    `${name}-server.mjs`,
    `import { createServer } from "node:http";
    import { toNodeListener } from "@giftcard-pay/checkout/node";
    ${order}
    async function answer(request) {
      const answered = await answerWebhook(request);
      if (answered) return answered;
      const body = request.method === "POST" ? await request.clone().json() : null;
      const cart = body && { id: body.cartId, totalCents: 7498, currency: "EUR" };
      if (body?.card) await checkout.apply(cart, body.card);
      return answerOrder(request, cart, body);
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

/** Serves the routes of the remainder's guide with the functions of another guide. */
async function serveRoutes(name: keyof typeof pages) {
  await write(`${name}.mjs`, await readBlock(pages[name], `${name}.mjs`));
  const routes = await readBlock(REMAINDER, "bank-routes.mjs");
  expect(routes).toContain('"./bank.mjs"');
  await write(`${name}-routes.mjs`, routes.replace("./bank.mjs", `./${name}.mjs`));
  return serve(
    name,
    `import { answerWebhook, checkout } from "./${name}.mjs";
    import { answerOrders } from "./${name}-routes.mjs";
    const answerOrder = (request, cart) => answerOrders(request, cart);`,
  );
}

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", body: JSON.stringify(body), redirect: "manual" });
const textOf = async (url: string) => (await fetch(url)).text();

describe("docs/shops/stripe.md", () => {
  it("redirects the shopper to Stripe's page, and is paid by the webhook", async () => {
    const { url, stop, logs } = await serveRoutes("stripe");
    const card = await shop.card(7500);
    const cartId = randomUUID();
    const placed = await post(url, { cartId, card: { cardNumber: card.cardNumber, pin: card.pin } });
    const page = String(placed.headers.get("location"));
    const session = page.split("/").at(-1) ?? "";
    expect([placed.status, page]).toEqual([303, stripe.sessions.find(session).url]);
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
    await write("stripe-in-page.mjs", await readBlock(pages.stripe, "stripe-in-page.mjs"));
    const { url, stop } = await serve(
      "stripe-in-page",
      `import { checkout, payOrder } from "./stripe-in-page.mjs";
      const answerWebhook = async () => undefined;
      const answerOrder = async (_, cart, { token }) => Response.json(await payOrder({ id: cart.id, cart }, token));`,
    );
    for (const [number, expected] of [
      ["4242424242424242", { status: "paid" }],
      ["4000000000000002", { status: "declined" }],
      ["4000002500003155", { status: "pending", clientSecret: expect.stringMatching(/^pi_\w+_secret_/) }],
    ] as const) {
      const { cardNumber, pin } = await shop.card(7500);
      const token = stripe.intents.createToken(number);
      const paid = await post(url, { cartId: randomUUID(), card: { cardNumber, pin }, token });
      expect(await paid.json()).toEqual(expected);
    }
    await stop();
  });
});

describe("docs/shops/mollie.md", () => {
  it("redirects the shopper to Mollie's page, and is paid by the webhook", async () => {
    const { url, stop } = await serveRoutes("mollie");
    const card = await shop.card(7500);
    const cartId = randomUUID();
    const placed = await post(url, { cartId, card: { cardNumber: card.cardNumber, pin: card.pin } });
    const id = String(placed.headers.get("location")?.split("/").at(-1));
    expect([placed.status, mollie.payments.find(id).status]).toEqual([303, "open"]);
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
  expect(files.toSorted()).toEqual(["mollie.mjs", "stripe-in-page.mjs", "stripe.mjs"]);
});
