/** Starts the shop without a framework, its bank and the gift card service, on free ports of 127.0.0.1. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CleanUp, startCardService } from "./card-service.mjs";
import { startNode } from "./process.mjs";

const shopDir = fileURLToPath(new URL("../examples/plain-shop/", import.meta.url));

/**
 * @typedef {object} PlainShop
 * @property {import("./card-service.mjs").GiftcardService} service
 * @property {string} url
 * @property {string} bankUrl
 * @property {string} operatorPassword of the user "operator" at `/operator`
 * @property {() => string} logs the shop's
 * @property {Promise<number | null>} exited the shop's end
 * @property {() => Promise<void>} stop ends everything and removes its data; may be called more than once
 */

/**
 * @param {object} [options]
 * @param {string} [options.postgresUrl] a server for the service's database; one of its own when left out
 * @param {number} [options.pendingLifeMs] how long a shopper may stay at the bank
 * @param {number} [options.recoverEveryMs] how often the shop looks for closed tabs
 * @param {(text: string) => void} [options.progress] told what comes next
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<PlainShop>}
 * @throws when a part doesn't start; nothing is left running then
 */
export async function startPlainShop({
  postgresUrl,
  pendingLifeMs = 60_000,
  recoverEveryMs = 2_000,
  progress = () => {},
  signal,
} = {}) {
  const cleanUp = new CleanUp();
  const stop = () => cleanUp.run();
  const early = signal ? { signal } : {};
  try {
    const database = postgresUrl ? { postgresUrl } : {};
    const { service, dataDir } = await startCardService({ cleanUp, progress, ...database, ...early });
    progress("starting the bank and the shop");
    const bank = await startBank(early);
    cleanUp.add(() => bank.stop());
    const operatorPassword = randomBytes(9).toString("base64url");
    const shop = await startNode({
      name: "The shop",
      args: [path.join(shopDir, "server.js")],
      cwd: dataDir,
      env: {
        PORT: "0",
        HOST: "127.0.0.1",
        SHOP_FILE: path.join(dataDir, "shop.db"),
        OPERATOR_PASSWORD: operatorPassword,
        BANK_URL: bank.url,
        BANK_KEY: bank.key,
        GIFTCARD_ENVIRONMENT: "sandbox",
        GIFTCARD_BASE_URL: service.url,
        GIFTCARD_API_KEY: service.apiKey,
        GIFTCARD_COMPANY_ID: String(service.companyId),
        GIFTCARD_SEALING_KEYS: `demo:${randomBytes(32).toString("base64")}`,
        PENDING_LIFE_MS: String(pendingLifeMs),
        RECOVER_EVERY_MS: String(recoverEveryMs),
      },
      ready: /The shop is ready at (\S+)/,
      ...early,
    });
    cleanUp.add(() => shop.stop());
    const { logs, exited } = shop;
    return { service, url: String(shop.match[1]), bankUrl: bank.url, operatorPassword, logs, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts the pretend bank alone.
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<{ url: string, key: string, stop: () => Promise<number | null> }>}
 */
export async function startBank({ signal } = {}) {
  const key = randomBytes(16).toString("hex");
  const bank = await startNode({
    name: "The bank",
    args: [path.join(shopDir, "bank.js")],
    cwd: shopDir,
    env: { PORT: "0", HOST: "127.0.0.1", BANK_KEY: key },
    ready: /The bank is ready at (\S+)/,
    ...(signal && { signal }),
  });
  return { url: String(bank.match[1]), key, stop: bank.stop };
}
