import { createSealer } from "@giftcard-pay/checkout/plugin";
import { type ClientOptions, createClient } from "@giftcard-pay/client";
import { z } from "@medusajs/framework/zod";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const text = z.string().min(1);
/** Whole numbers may be strings, since they often come from environment variables. */
const count = z.coerce.number<number | string>().int().min(1);

/**
 * Every option of the plugin: its type, default, limits and description. `npm run docs` writes docs/medusa-options.md from
 * it, and checks the defaults in the comments.
 */
export const declaration = z.strictObject({
  /** The card issuer's environment: `live`, or `sandbox` for testing. */
  environment: z.enum(["live", "sandbox"]),
  /** The card issuer's address. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Allows an `http:` address on another machine, on a network that you control. Default: `false`. */
  allowHttp: z.boolean().default(false),
  /** The company's API key. */
  apiKey: text,
  /** The company's number at the card issuer. */
  companyId: count,
  /** The keys that seal cards and cancel tokens, newest first: 32 bytes each, in base64. */
  sealingKeys: z.array(z.strictObject({ id: text, key: text })).min(1),
  /** Maximum number of cards per order, 1 to 20. Default: 5. */
  maxCards: count.max(20).default(5),
  /** The least remainder that other payment methods accept, in cents. Cards pay less rather than leave less. Default: 50. */
  leastRemainderCents: z.coerce.number<number | string>().int().min(0).default(50),
  /**
   * `by-line`: one charge for each unit that a card pays, so that a returned ticket is refunded to the cent. `whole`: one charge
   * per card. Without this option, by line, except in the hook `validate`, which doesn't know the order's lines.
   */
  charges: z.enum(["whole", "by-line"]).optional(),
  /**
   * When Medusa captures a card's payment. `when-placed`: once the order is paid. `manual`: by a person or by your own code.
   * Default: `when-placed`.
   */
  capture: z.enum(["when-placed", "manual"]).default("when-placed"),
  /** Timeout of a call to the card issuer in milliseconds, including its retries. Default: 10 seconds. */
  timeoutMs: count.default(10_000),
  /**
   * How long a process owns what it works on, in milliseconds. It renews the lease while it lives. Must be longer than
   * `timeoutMs`. Default: 2 minutes.
   */
  leaseMs: count.default(2 * MINUTE_MS),
  /** Limits on wrong card numbers and PINs. Beyond them, the gift card routes answer 429 until the window has passed. */
  guessLimits: z
    .strictObject({
      /** The window in which wrong entries are counted, in milliseconds. Default: 15 minutes. */
      windowMs: count.default(15 * MINUTE_MS),
      /** Wrong entries per cart. Default: 10. */
      perCart: count.default(10),
      /** Wrong entries per public network address. Default: 20. */
      perAddress: count.default(20),
      /** Wrong entries in the whole shop. Beyond it, each cart and each address has a fifth of its entries. Default: 600. */
      perShop: count.default(600),
    })
    .prefault({}),
  /**
   * The header in which your own proxy writes the shopper's address, such as `x-real-ip`. In a list, the last entry counts.
   * Without this option, the connection's address counts. Addresses that aren't public never count.
   */
  addressHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .toLowerCase()
    .optional(),
  /** Allows cards to pay for gift cards in the cart. Default: `false`. */
  cardsBuyCards: z.boolean().default(false),
  /** Allows the remainder to be paid by a method that promises to pay later, such as a bank transfer. Default: `false`. */
  allowPromisedRemainder: z.boolean().default(false),
  /**
   * How long such a promise may stay open, in milliseconds. Then the order is canceled and its cards are refunded.
   * Default: 7 days.
   */
  promisedRemainderMs: count.default(7 * DAY_MS),
  /** If more orders than this look unpaid at once, recovery cancels none of them, and a person decides. Default: 20. */
  maxCancelsPerRun: z.coerce.number<number | string>().int().min(0).default(20),
});

/** The plugin's options, as a merchant writes them. */
export interface GiftcardOptions extends z.input<typeof declaration> {}

const NOT_SET = "is not set. If it comes from an environment variable, set that variable.";

const schema = declaration.refine(({ leaseMs, timeoutMs }) => leaseMs > timeoutMs, {
  path: ["leaseMs"],
  error: "must be longer than timeoutMs.",
});

/** The options that the plugin's functions use. Contains no secret. */
export type Settings = ReturnType<typeof readSetup>["settings"];

/**
 * Checks the options, and creates what needs their secrets.
 * @throws {TypeError} naming every faulty option, never its value
 */
export function readSetup(options: unknown) {
  // Medusa writes `database` into the options of every module.
  const { database: _, ...given } = (options ?? {}) as { database?: unknown };
  const { sealingKeys, baseUrl, allowHttp, apiKey, companyId, timeoutMs, ...settings } = parse(given);
  const { environment } = settings;
  /** Fails to compile if an option is neither among the settings nor passed on. */
  type Connecting = Exclude<keyof z.output<typeof schema>, keyof typeof settings | "sealingKeys"> | "environment";
  const connection: Record<Connecting, unknown> = { environment, baseUrl, allowHttp, apiKey, companyId, timeoutMs };
  try {
    const client = createClient(connection as ClientOptions);
    return { client, sealer: createSealer({ keys: sealingKeys }), settings };
  } catch (error) {
    throw wrongOptions(error instanceof Error ? error.message : "");
  }
}

function parse(given: object): z.output<typeof schema> {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const faults = error.issues.map((issue) => `${issue.path.join(".") || "options"}: ${describe(issue, given)}`);
  throw wrongOptions(faults.join(" "));
}

const wrongOptions = (faults: string) => new TypeError(`@giftcard-pay/medusa: wrong options. ${faults}`);

/** Describes a fault in our own words, since zod's messages can contain keys and values. */
function describe(issue: z.core.$ZodIssue, given: object): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "unrecognized_keys") return `unknown: ${issue.keys.join(", ")}.`;
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)?.[key], given);
  if (value === undefined || value === "") return NOT_SET;
  if (issue.code === "invalid_type") return `must be a ${issue.expected}.`;
  if (issue.code === "invalid_value") return `must be one of: ${issue.values.join(", ")}.`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}.`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}.`;
  if (issue.code === "invalid_format" && issue.format === "url") return "must be an http or https address.";
  return "is not valid.";
}
