/** The shop's settings, from the environment. */
import { readSealingKeys } from "@giftcard-pay/checkout/plugin";

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
    databaseUrl: need("DATABASE_URL"),
    superadminPassword: need("SUPERADMIN_PASSWORD"),
    cookieSecret: need("COOKIE_SECRET"),
    bankUrl: need("BANK_URL"),
    /** The options of the plugin. */
    giftcards: {
      environment: /** @type {"sandbox" | "live"} */ (env.GIFTCARD_ENVIRONMENT ?? "sandbox"),
      baseUrl: need("GIFTCARD_BASE_URL"),
      apiKey: need("GIFTCARD_API_KEY"),
      companyId: need("GIFTCARD_COMPANY_ID"),
      /** `id:key`, the newest first, separated by commas. */
      sealingKeys: [...readSealingKeys(need("GIFTCARD_SEALING_KEYS"))],
      timeoutMs: env.GIFTCARD_TIMEOUT_MS,
      leaseMs: env.LEASE_MS,
      pendingRemainderMs: env.PENDING_REMAINDER_MS,
      schedule: env.GIFTCARD_SCHEDULE,
      addressHeader: env.GIFTCARD_ADDRESS_HEADER,
    },
  };
}

/** @typedef {ReturnType<typeof readSettings>} Settings */
