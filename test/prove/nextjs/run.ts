import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { createStorefront } from "../../../packages/medusa/test/support/storefront.js";
import { freePort } from "../../../scripts/lib/process.mjs";
import { CleanUp, type GiftcardService, startCardService } from "../../../scripts/shops/card-service.mjs";
import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../../scripts/shops/medusa-store.mjs";
import { launchBrowser } from "../../support/browser.js";
import { type FaultProxy, startFaultProxy } from "../../support/fault-proxy.js";
import { type PlayedStripe, startPlayedStripe } from "../../support/played-stripe.js";
import { type Flow, type FlowContext, manualFlows, stripeFlows } from "./flows.js";
import { refusalFlows } from "./refusals.js";
import { type PrepareOptions, prepareStorefront, startStorefront } from "./storefront.js";

export interface TrialOptions extends Omit<PrepareOptions, "cleanUp"> {
  /** The folder for pictures of the pages. Default: no pictures. */
  readonly pictures?: string;
  /** Runs only the purchases whose name contains this text. */
  readonly only?: string;
  /** Whether the storefront offers Stripe. Default: true. */
  readonly hasStripe?: boolean;
}

const appDir = fileURLToPath(new URL("../../../packages/medusa/test/store/", import.meta.url));

/** Adds gift cards to a storefront and buys there in a browser. @returns the names of the failed purchases */
export async function tryStorefront({ pictures, only, hasStripe = true, ...options }: TrialOptions): Promise<string[]> {
  const { say, signal } = options;
  const flows = [...manualFlows, ...stripeFlows, ...refusalFlows]
    .filter(({ stripeCents }) => hasStripe || stripeCents === undefined)
    .filter(({ name }) => !only || name.includes(only));
  if (flows.length === 0) throw new Error(`No purchase has "${only}" in its name.`);
  const cleanUp = new CleanUp();
  try {
    const folder = await prepareStorefront({ ...options, cleanUp });
    const stripe = await startPlayedStripe();
    cleanUp.add(() => stripe.stop());
    const port = await freePort();
    const { service, store, proxy } = await startShop({ port, stripe, cleanUp, say, signal });
    const stripeKey = stripe.publishableKey;
    const storefrontUrl = await startStorefront(folder, { port, store, stripeKey, cleanUp, say, signal });
    const browser = await launchBrowser();
    cleanUp.add(() => browser.close());
    if (pictures) await mkdir(pictures, { recursive: true });
    const context: FlowContext = {
      stage: { browser, store, storefrontUrl, prepare: (page) => playStripe(page, stripe) },
      ...{ service, stripe, proxy },
      picture: async ({ page }, name) => {
        if (!pictures) return;
        await page.evaluate("scrollTo(0, 0)");
        await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
      },
    };
    const wrong: string[] = [];
    for (const flow of flows) {
      if (signal.aborted) break;
      const fault = await play(flow, context);
      say(`${fault ? "BAD" : "ok "} ${flow.name}${fault ? `: ${fault}` : ""}`);
      if (fault) wrong.push(flow.name);
    }
    return wrong;
  } finally {
    await cleanUp.run();
  }
}

interface ShopOptions extends Omit<PrepareOptions, "source" | "workshop"> {
  /** The port of the storefront, which starts later. */
  readonly port: number;
  readonly stripe: PlayedStripe;
}

/** Starts the service, and a Medusa with the plugin and Stripe's own provider. */
async function startShop({
  port,
  stripe,
  cleanUp,
  say,
  signal,
}: ShopOptions): Promise<{ service: GiftcardService; store: MedusaStore; proxy: FaultProxy }> {
  const { service, serverUrl } = await startCardService({ cleanUp, progress: say, signal });
  const { apiKey, companyId } = service;
  const proxy = await startFaultProxy(service.url);
  cleanUp.add(() => proxy.stop());
  const store = await startMedusaStore({
    appDir,
    databaseUrl: await createStoreDatabase(serverUrl, { signal }),
    giftcard: { baseUrl: proxy.url, apiKey, companyId },
    storefrontUrl: `http://localhost:${port}`,
    env: {
      TEST_STRIPE_URL: stripe.url,
      TEST_STRIPE_API_KEY: stripe.apiKey,
      TEST_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    },
    signal,
  });
  cleanUp.add(() => store.stop());
  await createStorefront(store).enableProviders(
    ["giftcard_giftcard", "stripe_stripe", "system_default"].map((id) => `pp_${id}`),
  );
  stripe.sendWebhooksTo(`${store.url}/hooks/payment/stripe_stripe`);
  return { service, store, proxy };
}

/** Serves the simulated Stripe's script in place of the one that the pages load from Stripe. */
async function playStripe(page: Page, { script }: PlayedStripe): Promise<void> {
  await page.route("https://js.stripe.com/**", (route) =>
    route.fulfill({ contentType: "text/javascript", body: script }),
  );
}

/** Runs a purchase. @returns its faults, or undefined if there are none */
async function play(flow: Flow, context: FlowContext): Promise<string | undefined> {
  const known = new Set(context.stripe.intents.all().map(({ id }) => id));
  try {
    const { visit, shown, expected } = await flow.run(context);
    await visit.end();
    const faults = visit.complaints.map((text) => `the page complains: ${text}`);
    if (String(shown) !== String(expected)) faults.push(`it shows ${shown.join(", ")}`);
    const kept = centsKept(context.stripe, known);
    if (kept !== (flow.stripeCents ?? 0)) faults.push(`Stripe keeps ${kept} cents`);
    return faults.length > 0 ? faults.join("; ") : undefined;
  } catch (error) {
    return String(error);
  } finally {
    await closePages(flow, context);
  }
}

/** Closes the pages that a failed purchase left open, and takes a picture of each. */
async function closePages({ name }: Flow, { stage, picture }: FlowContext): Promise<void> {
  for (const context of stage.browser.contexts()) {
    for (const page of context.pages()) await picture({ page }, `failed: ${name}`).catch(() => {});
    await context.close();
  }
}

/** Returns the cents that Stripe has authorized or captured on intents that are not in `known`. */
function centsKept({ intents }: PlayedStripe, known: ReadonlySet<string>): number {
  const own = intents.all().filter(({ id }) => !known.has(id));
  return own.reduce((sum, { id }) => sum + intents.heldCents(id) + intents.takenCents(id), 0);
}
