import { mkdir } from "node:fs/promises";
import path from "node:path";
import { freePort } from "../../scripts/process.mjs";
import { CleanUp, startCardService } from "../../scripts/shops/card-service.mjs";
import { createStoreDatabase, startMedusaStore } from "../../scripts/shops/medusa-store.mjs";
import { launchBrowser } from "../support/browser.js";
import { type Flow, type FlowContext, manualFlows } from "./flows.js";
import { type PrepareOptions, prepareStorefront, startStorefront } from "./storefront.js";

export interface TrialOptions extends Omit<PrepareOptions, "cleanUp"> {
  /** Where to keep pictures of the pages; none are taken when left out. */
  readonly pictures?: string;
  /** Only the purchases whose name has this in it. */
  readonly only?: string;
}

/** Adds gift cards to a storefront and buys there in a browser. @returns what went wrong, by purchase */
export async function tryStorefront({ pictures, only, ...options }: TrialOptions): Promise<string[]> {
  const { say, signal } = options;
  const cleanUp = new CleanUp();
  try {
    const folder = await prepareStorefront({ ...options, cleanUp });
    const { service, serverUrl } = await startCardService({ cleanUp, progress: say, signal });
    const port = await freePort();
    const { url: baseUrl, apiKey, companyId } = service;
    const store = await startMedusaStore({
      databaseUrl: await createStoreDatabase(serverUrl, { signal }),
      giftcard: { baseUrl, apiKey, companyId },
      storefrontUrl: `http://localhost:${port}`,
      signal,
    });
    cleanUp.add(() => store.stop());
    const storefrontUrl = await startStorefront(folder, { port, store, cleanUp, say, signal });
    const browser = await launchBrowser();
    cleanUp.add(() => browser.close());
    if (pictures) await mkdir(pictures, { recursive: true });
    const context: FlowContext = {
      stage: { browser, store, storefrontUrl, prepare: async () => {} },
      service,
      picture: async ({ page }, name) => {
        if (!pictures) return;
        await page.waitForLoadState("networkidle");
        await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
      },
    };
    const flows = manualFlows.filter(({ name }) => !only || name.includes(only));
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

/** @returns what went wrong; nothing when all is as it has to be */
async function play(flow: Flow, context: FlowContext): Promise<string | undefined> {
  try {
    const { visit, shown, expected } = await flow.run(context);
    await visit.end();
    const complaints = visit.complaints.map((text) => `the page complains: ${text}`);
    const faults =
      String(shown) === String(expected) ? complaints : [`it shows ${shown.join(", ")}`, ...complaints];
    return faults.length > 0 ? faults.join("; ") : undefined;
  } catch (error) {
    return String(error);
  }
}
