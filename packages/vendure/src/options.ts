import type { CheckoutOptions } from "@giftcard-pay/checkout";
import { createSealer } from "@giftcard-pay/checkout/plugin";
import { createClient } from "@giftcard-pay/client";
import type { Injector } from "@vendure/core";
import { z } from "zod";

const MINUTE_MS = 60_000;

const text = z.string().min(1);
/** Whole numbers may be strings, since they often come from environment variables. */
const count = z.coerce.number<number | string>().int().min(1);

/** Every option of the plugin: its type, default, limits and description. */
export const declaration = z.strictObject({
  /** `live`, or `sandbox` for testing. */
  environment: z.enum(["live", "sandbox"]),
  /** The card issuer's address. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Allows `http:` to another machine, over a network of your own. Default: `false`. */
  allowHttp: z.boolean().default(false),
  /** The company's API key. */
  apiKey: text,
  /** The company's number at the card issuer. */
  companyId: count,
  /** They encrypt cards and cancel tokens: 32 bytes in base64 each, newest first. Keep an old key until nothing is sealed under it. */
  sealingKeys: z.array(z.strictObject({ id: text, key: text })).min(1),
  /** The code of the payment method in Vendure. Default: `giftcard`. */
  paymentMethodCode: text.default("giftcard"),
  /** Maximum number of cards per order, 1 to 20. Default: 5. */
  maxCards: count.max(20).default(5),
  /** The least remainder that other payment methods accept, in cents. Cards pay less rather than leave less. Default: 50. */
  leastRemainderCents: z.coerce.number<number | string>().int().min(0).default(50),
  /**
   * `by-line`: a card is charged for each unit, so that a returned unit is refunded to the cent. `whole`: one charge, which
   * is only refunded as a whole. Without this option, by line.
   */
  charges: z.enum(["whole", "by-line"]).optional(),
  /** Timeout of a call to the card issuer, with its retries, in milliseconds. Default: 10 seconds. */
  timeoutMs: count.default(10_000),
  /** How long the remainder may stay unpaid before the cards are reversed, in milliseconds. Default: 30 minutes. */
  pendingRemainderMs: count.default(30 * MINUTE_MS),
  /** How long a process owns the charges and orders that it works on, in milliseconds. Default: 2 minutes. */
  leaseMs: count.default(2 * MINUTE_MS),
  /**
   * Limits on wrong card numbers and PINs within `windowMs` (15 minutes): `perCart` (10), `perAddress` (20) and `perShop` (600).
   * Beyond the last, each order and address has a fifth of its entries.
   */
  guessLimits: z.custom<CheckoutOptions["guessLimits"]>().optional(),
  /**
   * The header in which your own proxy sends the shopper's IP address, such as `x-forwarded-for`; the last entry of a list
   * counts. Without it, the connection's address counts, unless it is private.
   */
  addressHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional(),
  /** The cron pattern of recovery. Default: `* * * * *`. */
  schedule: text.default("* * * * *"),
  /**
   * Cancels a payment at your own provider that Vendure may never have stored, because a process crashed. It must be
   * idempotent, and throw if it fails.
   */
  closePayment: z
    .custom<(attempt: { orderCode: string; attemptId: string }, injector: Injector) => unknown>(
      (value) => typeof value === "function",
      "must be a function",
    )
    .optional(),
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
