import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createClient, Secret } from "@giftcard-pay/client";
import { openKeyring, openPool } from "@giftcard-pay/service";
import { startFaultProxy } from "../../../../test/support/fault-proxy.js";
import { createDatabase } from "../../../../test/support/postgres.js";
import { startGiftcardService } from "../../../../test/support/service.js";
import { blocking, changeCard } from "../../../service/dist/store/card-changes.js";
import { CardStock } from "./card-stock.js";
import { openMollie } from "./mollie-method.js";
import type { MethodName, OtherMethod } from "./other-method.js";
import { openPostgresStage, openSqliteStage, type StoreName } from "./stage.js";
import { openStripe } from "./stripe-method.js";
import type { Place } from "./world.js";

/** In memory if possible: these tests don't depend on the disk. */
const scratch = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();

/** The service with its cards and its proxies. */
export interface Yard {
  readonly cards: CardStock;
  /** Makes a place for sequences. */
  place(store: StoreName, method: MethodName): Promise<Place>;
  close(): Promise<void>;
}

/** Starts the other payment method of a place. */
async function openMethod(name: MethodName): Promise<{ newMethod(): OtherMethod; stop(): Promise<unknown> }> {
  return name === "mollie" ? openMollie() : openStripe(name === "stripe-page");
}

/** Starts the service. Each place has a store, and a proxy to the service. */
export async function openYard(postgresUrl: string): Promise<Yard> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const close of closers.reverse()) await close();
  };
  const databaseUrl = await createDatabase(postgresUrl);
  const secrets = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const secretsFile = path.join(secrets, "secrets.json");
  closers.push(async () => fs.rmSync(secrets, { recursive: true, force: true }));
  const service = await startGiftcardService({
    databaseUrl,
    secretsFile,
    environment: "sandbox",
    args: ["--calls-per-minute", "0"],
  });
  closers.push(() => service.stop());
  try {
    const { companyId, apiKey } = await service.createCompany();
    const clientOf = (baseUrl: string) => createClient({ baseUrl, apiKey, companyId, timeoutMs: 20_000 });
    const shopDatabase = await createDatabase(postgresUrl);
    const issuer = openPool(databaseUrl, () => {}, 2);
    closers.push(() => issuer.end());
    const keys = await openKeyring(secretsFile, issuer);
    let places = 0;
    const act = { operator: "model", osUser: "model", reason: "a step" };
    return {
      cards: new CardStock(service, clientOf(service.url), (cardNumber, isBlocked) =>
        changeCard(issuer, keys, { cardNumber: new Secret(cardNumber) }, blocking(isBlocked), act),
      ),
      async place(store, method) {
        places += 1;
        const folder = () => fs.mkdtempSync(path.join(scratch, "giftcard-model-"));
        const stage =
          store === "sqlite"
            ? await openSqliteStage(folder())
            : await openPostgresStage(shopDatabase, `shop_${places}`);
        closers.push(() => stage.close());
        const proxy = await startFaultProxy(service.url);
        closers.push(() => proxy.stop());
        const { newMethod, stop } = await openMethod(method);
        closers.push(stop);
        return { stage, proxy, client: clientOf(proxy.url), newMethod };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
