/** Starts the Vendure shop with its bank and the gift card service, on free ports of 127.0.0.1. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startNode } from "../lib/process.mjs";

const shopDir = fileURLToPath(new URL("../../examples/vendure/", import.meta.url));

/**
 * Locks an order, so that every change of it waits. This stalls a process after it has charged the cards and before
 * Vendure records the payment.
 * @param {string} databaseUrl @param {string} code
 * @returns {Promise<() => Promise<void>>} releases the lock
 */
export async function holdOrder(databaseUrl, code) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query('select 1 from "order" where code = $1 for update', [code]);
  return () => client.end();
}

/** Generates a shop's secrets. */
export const newVendureSecrets = () => ({
  superadminPassword: randomBytes(12).toString("base64url"),
  cookieSecret: randomBytes(16).toString("base64url"),
  sealingKeys: `demo:${randomBytes(32).toString("base64")}`,
});

/**
 * Starts the shop alone.
 * @param {object} options
 * @param {{ url: string, apiKey: string, companyId: number }} options.service
 * @param {string} options.bankUrl
 * @param {string} options.databaseUrl
 * @param {ReturnType<typeof newVendureSecrets>} options.secrets
 * @param {string} [options.program] the example's server when left out
 * @param {Record<string, string>} [options.env] further settings
 * @param {AbortSignal} [options.signal]
 */
export async function startVendureShop({ service, bankUrl, databaseUrl, secrets, program, env, signal }) {
  const shop = await startNode({
    name: "The shop",
    args: [program ?? path.join(shopDir, "shop.js")],
    cwd: shopDir,
    env: {
      PORT: "0",
      DATABASE_URL: databaseUrl,
      SUPERADMIN_PASSWORD: secrets.superadminPassword,
      COOKIE_SECRET: secrets.cookieSecret,
      BANK_URL: bankUrl,
      GIFTCARD_ENVIRONMENT: "sandbox",
      GIFTCARD_BASE_URL: service.url,
      GIFTCARD_API_KEY: service.apiKey,
      GIFTCARD_COMPANY_ID: String(service.companyId),
      GIFTCARD_SEALING_KEYS: secrets.sealingKeys,
      VENDURE_DISABLE_TELEMETRY: "true",
      ...env,
    },
    ready: /The shop is ready at (\S+)/,
    ...(signal && { signal }),
  });
  const { match, ...running } = shop;
  return { ...running, url: String(match[1]) };
}
