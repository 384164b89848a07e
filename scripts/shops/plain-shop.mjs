/** Starts the shop without a framework, its bank and the gift card service, on free ports of 127.0.0.1. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startNode } from "../lib/process.mjs";
import { CleanUp, startCardService } from "./card-service.mjs";

const shopDir = fileURLToPath(new URL("../../examples/plain-shop/", import.meta.url));

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
 * @param {number} [options.pendingRemainderMs] how long a shopper may stay at the bank
 * @param {number} [options.recoverEveryMs] how often the shop looks for closed tabs
 * @param {"whole"} [options.charges] charges each card once. Default by line
 * @param {(serviceUrl: string) => Promise<string>} [options.through] starts a proxy between the shop and the service, and returns its URL
 * @param {(text: string) => void} [options.progress] receives the description of each step
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<PlainShop>}
 * @throws if a part doesn't start; everything is stopped first
 */
export async function startPlainShop({
  postgresUrl,
  pendingRemainderMs = 60_000,
  recoverEveryMs = 2_000,
  charges,
  through,
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
    const env = {
      PENDING_REMAINDER_MS: String(pendingRemainderMs),
      RECOVER_EVERY_MS: String(recoverEveryMs),
      ...(charges && { GIFTCARD_CHARGES: charges }),
    };
    const shop = await startShop({
      service: { ...service, url: (await through?.(service.url)) ?? service.url },
      bank,
      folder: dataDir,
      secrets: newShopSecrets(),
      env,
      ...early,
    });
    cleanUp.add(() => shop.stop());
    const { url, logs, exited, operatorPassword } = shop;
    return { service, url, bankUrl: bank.url, operatorPassword, logs, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Generates a shop's secrets. */
export const newShopSecrets = () => ({
  operatorPassword: randomBytes(9).toString("base64url"),
  sealingKeys: `demo:${randomBytes(32).toString("base64")}`,
});

/**
 * Starts the shop alone.
 * @param {object} options
 * @param {{ url: string, apiKey: string, companyId: number }} options.service
 * @param {{ url: string, key: string }} options.bank
 * @param {string} options.folder where its file is
 * @param {ReturnType<typeof newShopSecrets>} options.secrets
 * @param {string} [options.program] the example's server when left out
 * @param {number} [options.port] a free one when left out
 * @param {Record<string, string>} [options.env] further settings
 * @param {AbortSignal} [options.signal]
 */
export async function startShop({ service, bank, folder, secrets, program, port = 0, env, signal }) {
  const shop = await startNode({
    name: "The shop",
    args: [program ?? path.join(shopDir, "server.js")],
    cwd: folder,
    env: {
      PORT: String(port),
      HOST: "127.0.0.1",
      SHOP_FILE: path.join(folder, "shop.db"),
      OPERATOR_PASSWORD: secrets.operatorPassword,
      BANK_URL: bank.url,
      BANK_KEY: bank.key,
      GIFTCARD_ENVIRONMENT: "sandbox",
      GIFTCARD_BASE_URL: service.url,
      GIFTCARD_API_KEY: service.apiKey,
      GIFTCARD_COMPANY_ID: String(service.companyId),
      GIFTCARD_SEALING_KEYS: secrets.sealingKeys,
      ...env,
    },
    ready: /The shop is ready at (\S+)/,
    ...(signal && { signal }),
  });
  const { match, ...running } = shop;
  return { ...running, url: String(match[1]), operatorPassword: secrets.operatorPassword };
}

/**
 * Starts only the simulated bank.
 * @param {object} [options]
 * @param {string} [options.file] its book, which outlives it; in memory when left out
 * @param {string} [options.key] what the shop calls with
 * @param {number} [options.port] a free one when left out
 * @param {AbortSignal} [options.signal]
 */
export async function startBank({ file, key = randomBytes(16).toString("hex"), port = 0, signal } = {}) {
  const { match, ...bank } = await startNode({
    name: "The bank",
    args: [path.join(shopDir, "bank.js")],
    cwd: shopDir,
    env: { PORT: String(port), HOST: "127.0.0.1", BANK_KEY: key, ...(file && { BANK_FILE: file }) },
    ready: /The bank is ready at (\S+)/,
    ...(signal && { signal }),
  });
  return { ...bank, url: String(match[1]), key };
}
