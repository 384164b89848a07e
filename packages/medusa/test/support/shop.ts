import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../../../test/support/fault-proxy.js";
import { startGiftcardService, type TestCompany, type TestService } from "../../../../test/support/service.js";
import { type MedusaStore, startTestStore } from "../../../../test/support/store.js";
import { testDatabase } from "../../../../test/support/test-database.js";
import { createStorefront, type Storefront } from "./storefront.js";

const appDir = fileURLToPath(new URL("../store/", import.meta.url));

/** A whole shop: the real service, a network that can fail, and Medusa with the plugin. */
export interface TestShop {
  readonly service: TestService;
  readonly company: TestCompany;
  readonly proxy: FaultProxy;
  readonly medusa: MedusaStore & { databaseUrl: string };
  readonly storefront: Storefront;
  /** What the card holds now, asked of the service itself. */
  balanceCents(card: { cardNumber: string; pin: string }): Promise<number>;
  stop(): Promise<void>;
}

/** @param env further settings of Medusa, such as `TEST_TAKE_HOOKS` */
export async function startShop(env: Record<string, string> = {}, giftcardOptions: object = {}): Promise<TestShop> {
  const service = await startGiftcardService({ databaseUrl: await testDatabase(), environment: "sandbox" });
  const company = await service.createCompany();
  const proxy = await startFaultProxy(service.url);
  const medusa = await startTestStore(inject("postgresUrl"), {
    appDir,
    giftcard: { baseUrl: proxy.url, apiKey: company.apiKey, companyId: company.companyId },
    env: { TEST_GIFTCARD_OPTIONS: JSON.stringify({ timeoutMs: 3000, ...giftcardOptions }), ...env },
  });
  const storefront = createStorefront(medusa);
  await storefront.enableProviders();
  return {
    ...{ service, company, proxy, medusa, storefront },
    balanceCents: async ({ cardNumber, pin }) => {
      const body = { apikey: company.apiKey, company_id: company.companyId, cardnumber: cardNumber, pin };
      const response = await fetch(`${service.url}/api/endpoint/v1/balance`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (response.status !== 200) throw new Error(`balance answered ${response.status}`);
      return ((await response.json()) as { balance: number }).balance;
    },
    stop: async () => {
      await medusa.stop();
      await proxy.stop();
      await service.stop();
    },
  };
}
