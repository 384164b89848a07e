import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import { startBank } from "../../../examples/vendure/bank.js";
import { freePort } from "../../../scripts/lib/process.mjs";
import { CleanUp, startCardService } from "../../../scripts/shops/card-service.mjs";
import { createDatabase } from "../../../scripts/shops/medusa-store.mjs";
import { newVendureSecrets, startVendureShop } from "../../../scripts/shops/vendure-shop.mjs";
import { launchBrowser } from "../../support/browser.js";
import { startFaultProxy } from "../../support/fault-proxy.js";
import { type Flow, type FlowContext, flows } from "./flows.js";
import { prepareStorefront, type StorefrontOptions, startStorefront } from "./storefront.js";

export interface TrialOptions extends Omit<StorefrontOptions, "cleanUp"> {
  /** The folder for pictures of the pages. Default: no pictures. */
  readonly pictures?: string;
  /** Runs only the purchases whose name contains this text. */
  readonly only?: string;
}

/** Adds gift cards to Vendure's starter and buys there in a browser. @returns the names of the failed purchases */
export async function tryStorefront({ pictures, only, ...options }: TrialOptions): Promise<string[]> {
  const { say, signal } = options;
  const chosen = flows.filter(({ name }) => !only || name.includes(only));
  if (chosen.length === 0) throw new Error(`No purchase has "${only}" in its name.`);
  const cleanUp = new CleanUp();
  try {
    const folder = await prepareStorefront({ ...options, cleanUp });
    const { service, serverUrl } = await startCardService({ cleanUp, progress: say, signal });
    const bank = await startBank();
    cleanUp.add(() => bank.stop());
    const bankProxy = await startFaultProxy(bank.url, () => "bank");
    cleanUp.add(() => bankProxy.stop());
    say("starting Vendure");
    const databaseUrl = await createDatabase(serverUrl);
    const secrets = newVendureSecrets();
    const shop = await startVendureShop({ service, bankUrl: bankProxy.url, databaseUrl, secrets, signal });
    cleanUp.add(() => shop.stop());
    const port = await freePort();
    const storefrontUrl = await startStorefront(folder, { shopUrl: shop.url, port, cleanUp, say, signal });
    const browser = await launchBrowser();
    cleanUp.add(() => browser.close());
    if (pictures) await mkdir(pictures, { recursive: true });
    const { url: baseUrl, apiKey, companyId } = service;
    const client = createClient({ baseUrl, apiKey, companyId });
    const context: FlowContext = {
      ...{ service, bank, bankProxy, stage: { browser, shopUrl: shop.url, storefrontUrl } },
      picture: async ({ page }, name) => {
        if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
      },
    };
    const wrong: string[] = [];
    for (const flow of chosen) {
      if (signal.aborted) break;
      const fault = await play(flow, context, client);
      say(`${fault ? "BAD" : "ok "} ${flow.name}${fault ? `: ${fault}` : ""}`);
      if (fault) wrong.push(flow.name);
    }
    return wrong;
  } finally {
    await cleanUp.run();
  }
}

/** Runs a purchase. @returns its faults, or undefined if there are none */
async function play(flow: Flow, context: FlowContext, client: GiftcardClient): Promise<string | undefined> {
  const { stage, bank, picture } = context;
  try {
    const { visit, shown, expected, cards, bankCents } = await flow.run(context);
    const faults = visit.complaints.map((text) => `the page complains: ${text}`);
    const code = new URL(visit.page.url()).pathname.split("/").at(-1) ?? "";
    await visit.end();
    if (String(shown) !== String(expected)) faults.push(`it shows ${shown.join(", ") || "no payments"}`);
    const bankHas = bank.heldCents(code);
    if (bankHas !== bankCents) faults.push(`the bank has ${bankHas} cents`);
    for (const [{ cardnumber, pin, balance }, cents] of cards) {
      const { balanceCents } = await client.balance({ cardNumber: cardnumber, pin });
      const spent = balance - balanceCents;
      if (spent !== cents) faults.push(`card ${cardnumber.slice(-4)} paid ${spent} cents`);
    }
    return faults.length > 0 ? faults.join("; ") : undefined;
  } catch (error) {
    return String(error);
  } finally {
    context.bankProxy.clear();
    for (const left of stage.browser.contexts()) {
      for (const page of left.pages()) await picture({ page }, `failed: ${flow.name}`).catch(() => {});
      await left.close();
    }
  }
}
