/** The shop's settings, from the environment. */
import { readSealingKeys } from "@giftcard-pay/checkout/plugin";

const MINUTE_MS = 60_000;

/**
 * @param {NodeJS.ProcessEnv} env
 * @throws {Error} with the names of missing variables
 */
export function readSettings(env) {
  const need = (/** @type {string} */ name) => {
    const value = env[name];
    if (!value) throw new Error(`Set ${name}.`);
    return value;
  };
  return {
    host: env.HOST ?? "127.0.0.1",
    port: Number(env.PORT ?? 3000),
    /** The URL that browsers use, if the shop is behind a proxy. */
    publicUrl: env.PUBLIC_URL ?? "",
    file: env.SHOP_FILE ?? "shop.db",
    operatorPassword: need("OPERATOR_PASSWORD"),
    bankUrl: need("BANK_URL"),
    bankKey: need("BANK_KEY"),
    bankTimeoutMs: Number(env.BANK_TIMEOUT_MS ?? 5_000),
    environment: /** @type {"sandbox" | "live"} */ (env.GIFTCARD_ENVIRONMENT ?? "sandbox"),
    giftcards: {
      baseUrl: need("GIFTCARD_BASE_URL"),
      apiKey: need("GIFTCARD_API_KEY"),
      companyId: Number(need("GIFTCARD_COMPANY_ID")),
      timeoutMs: Number(env.GIFTCARD_TIMEOUT_MS ?? 10_000),
    },
    /** `id:key`, the newest first, separated by commas. */
    sealingKeys: readSealingKeys(need("GIFTCARD_SEALING_KEYS")),
    /** By default a card is charged by line, so that each ticket can be refunded; `whole` charges it once. */
    charges: /** @type {"whole" | undefined} */ (env.GIFTCARD_CHARGES),
    /** The lease of a process on its payments, which outlives a crash. It must be longer than any timeout. */
    leaseMs: Number(env.LEASE_MS ?? 2 * MINUTE_MS),
    pendingRemainderMs: Number(env.PENDING_REMAINDER_MS ?? 30 * MINUTE_MS),
    recoverEveryMs: Number(env.RECOVER_EVERY_MS ?? MINUTE_MS),
  };
}
