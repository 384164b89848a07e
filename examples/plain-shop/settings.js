/** The shop's settings, from the environment. */
import { readSealingKeys } from "@giftcard-pay/checkout";

const MINUTE_MS = 60_000;

/**
 * @param {NodeJS.ProcessEnv} env
 * @throws {Error} naming what isn't set
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
    /** The shop as browsers see it, where a proxy stands before it. */
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
    /** Left out, a card is charged by line, so that each ticket can be refunded; `whole` charges it once. */
    charges: /** @type {"whole" | undefined} */ (env.GIFTCARD_CHARGES),
    /** How long a process that may have died still owns its payments; longer than it waits for anybody. */
    leaseMs: Number(env.LEASE_MS ?? 2 * MINUTE_MS),
    pendingLifeMs: Number(env.PENDING_LIFE_MS ?? 30 * MINUTE_MS),
    recoverEveryMs: Number(env.RECOVER_EVERY_MS ?? MINUTE_MS),
  };
}
