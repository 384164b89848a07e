import { isAbsolute } from "node:path";
import { createSealer } from "@giftcard-pay/checkout/plugin";
import type { CheckoutStore } from "@giftcard-pay/checkout/store";
import { createClient } from "@giftcard-pay/client";
import type { Injector } from "@vendure/core";
import { z } from "zod";

const MINUTE_MS = 60_000;

const text = z.string().min(1);
/** Whole numbers may be strings, since they often come from environment variables. */
const count = z.coerce.number<number | string>().int().min(1);
const aFunction = <T extends (...args: never[]) => unknown>() =>
  z.custom<T>((value) => typeof value === "function", "must be a function");

/** A store of your own. */
export interface OpenedStore extends CheckoutStore {
  /** Called when Vendure stops. */
  close?(): unknown;
}

/** Every option of the plugin: its type, default, limits and description. */
export const declaration = z.strictObject({
  /** The service's environment: `live`, or `sandbox` for testing. */
  environment: z.enum(["live", "sandbox"]),
  /** The address of the card issuer's service. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Allows an `http:` address on another machine. Only use it on a network that you control. Default: `false`. */
  allowHttp: z.boolean().default(false),
  /** The company's API key. */
  apiKey: text,
  /** The company's number at the service. */
  companyId: count,
  /**
   * The keys that seal cards and cancel tokens, newest first. Each key is 32 bytes in base64. Keep an old key until nothing
   * is sealed under it.
   */
  sealingKeys: z.array(z.strictObject({ id: text, key: text })).min(1),
  /** The code of the payment method in Vendure that uses the gift card handler. Default: `giftcard`. */
  paymentMethodCode: text.default("giftcard"),
  /** Maximum number of cards per order, 1 to 20. Default: 5. */
  maxCards: count.max(20).default(5),
  /**
   * How a card is charged. `by-line`: one charge for each unit that it pays, so that a returned unit is refunded to the card
   * to the cent. `whole`: one charge for everything that it pays, which is only refunded as a whole. Without this option,
   * by line.
   */
  charges: z.enum(["whole", "by-line"]).optional(),
  /** Maximum number of charges per card and order, 1 to 50, if cards are charged by line. Default: 50. */
  maxChargesPerCard: count.max(50).default(50),
  /** Timeout of a call to the service in milliseconds, including its retries. Default: 10 seconds. */
  timeoutMs: count.default(10_000),
  /** How long an applied card can be charged, in milliseconds. Default: 2 hours. */
  tenderLifeMs: count.default(120 * MINUTE_MS),
  /** How long a quote can be applied, in milliseconds. Default: 15 minutes. */
  quoteLifeMs: count.default(15 * MINUTE_MS),
  /** How long the remainder may stay unpaid before the cards are reversed, in milliseconds. Default: 30 minutes. */
  pendingRemainderMs: count.default(30 * MINUTE_MS),
  /** How long a process owns the charges and orders that it works on, in milliseconds. Default: 2 minutes. */
  leaseMs: count.default(2 * MINUTE_MS),
  /** Limits on wrong card numbers and PINs. */
  guessLimits: z
    .strictObject({
      /** The window in which wrong entries are counted, in milliseconds. Default: 15 minutes. */
      windowMs: count.default(15 * MINUTE_MS),
      /** Wrong entries per order. Default: 10. */
      perCart: count.default(10),
      /** Wrong entries per network address of a shopper. Default: 20. */
      perAddress: count.default(20),
      /** Wrong entries in the whole shop. Beyond it, each order and each address has a fifth of its entries. Default: 600. */
      perShop: count.default(600),
    })
    .prefault({}),
  /**
   * The header in which your own proxy sends the shopper's IP address, such as `x-forwarded-for`. The last entry of a list
   * counts. Without this option, the connection's address counts, unless it is private and therefore a proxy's.
   */
  addressHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional(),
  /** The cron pattern of recovery in Vendure's scheduler: by default every minute. Default: `* * * * *`. */
  schedule: text.default("* * * * *"),
  /** The PostgreSQL schema of the plugin's tables. Default: `giftcard`. */
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/)
    .default("giftcard"),
  /** The absolute path of the plugin's own SQLite file, if Vendure uses SQLite. If left out, it is next to Vendure's file. */
  sqliteFile: z.string().refine(isAbsolute, "must be an absolute path").optional(),
  /** Opens a store of your own, for a Vendure on another database than PostgreSQL or SQLite. */
  store: aFunction<() => OpenedStore | Promise<OpenedStore>>().optional(),
  /**
   * Cancels a payment at your own provider that Vendure may never have stored, because a process crashed. It gets the
   * order's code and the `attemptId` of `outstandingOf`, by which the payment is named there. It must be idempotent, and throw if it fails.
   */
  closePayment:
    aFunction<(attempt: { orderCode: string; attemptId: string }, injector: Injector) => unknown>().optional(),
});

/** The options of the plugin. */
export type GiftcardPluginOptions = z.input<typeof declaration>;
/** The options with their defaults. */
export type Settings = z.output<typeof declaration>;

const refuse = (name: string, message: string) => {
  throw new TypeError(`GiftcardPlugin.init: ${name}: ${message}.`);
};

/**
 * Validates the options. Errors never contain their values.
 *
 * @throws {TypeError} naming an option that is missing, invalid or unknown
 */
export function readOptions(options: GiftcardPluginOptions): Settings {
  const read = declaration.safeParse(options);
  if (!read.success) {
    const [issue] = read.error.issues;
    const unknown = issue?.code === "unrecognized_keys" ? issue.keys : [];
    const name = [...(issue?.path ?? []), ...unknown].join(".") || "options";
    const value = issue?.path.reduce<unknown>((part, key) => Object(part)[key], options);
    const why = value === undefined ? "missing" : (issue?.message ?? "invalid");
    return refuse(name, unknown.length > 0 ? "unknown option" : why) as never;
  }
  const settings = read.data;
  if (settings.leaseMs <= settings.timeoutMs) refuse("leaseMs", "must be longer than timeoutMs");
  try {
    createSealer({ keys: settings.sealingKeys });
  } catch (error) {
    refuse("sealingKeys", error instanceof Error ? error.message.replace(/\.$/, "") : "invalid");
  }
  clientOf(settings);
  return settings;
}

/** Makes the client of the service. @throws {TypeError} naming the invalid option */
export function clientOf({ baseUrl, apiKey, companyId, environment, timeoutMs, allowHttp }: Settings) {
  return createClient({ baseUrl, apiKey, companyId, environment, timeoutMs, allowHttp });
}
