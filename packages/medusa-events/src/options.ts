import { DEFAULT_TIME_ZONE, isTimeZone } from "@giftcard-pay/events";
import { z } from "@medusajs/framework/zod";

const NOT_SET = "is not set. If it comes from an environment variable, set that variable.";
const NOT_WHOLE = "must be a whole number, 1 or more.";

const text = z.string(NOT_SET).min(1, NOT_SET);
const address = z.url({ protocol: /^https?$/, error: "must be an http or https address." });
/** Whole numbers may be strings, since they often come from environment variables. */
const count = z
  .union([z.number(), text], NOT_SET)
  .pipe(z.coerce.number<number | string>(NOT_WHOLE).int(NOT_WHOLE).min(1, NOT_WHOLE));

const hasPlaceholder = (url: string) =>
  /\{(handle|id)\}/.test(url) && address.safeParse(url.replaceAll(/[{}]/g, "")).success;

/**
 * Every option of the plugin: its type, default, limits and description. `npm run docs` writes the README's table from
 * it, and checks the defaults in the comments.
 */
export const declaration = z.strictObject({
  /** The address of a product's page in the storefront, with `{handle}` or `{id}` in it. */
  productUrl: text.max(1000).refine(hasPlaceholder, "must be an http or https address with {handle} or {id} in it."),
  /** The card issuer's address. */
  baseUrl: address,
  /** The card issuer's environment: `live`, or `sandbox` for testing. If the card issuer answers with the other one, calls fail. */
  environment: z.enum(["live", "sandbox"], "must be live or sandbox.").optional(),
  /** Allows an `http:` address on another machine. Only use it on a network that you control. Default: `false`. */
  allowHttp: z.boolean().default(false),
  /** The company's API key. */
  apiKey: text,
  /** The company's number at the card issuer. */
  companyId: count,
  /** Timeout of a call to the card issuer in milliseconds, including its retries. Default: 10 seconds. */
  timeoutMs: count.default(10_000),
  /** The organiser of shows that name none. */
  organiser: text.max(255).optional(),
  /** The IANA time zone of shows that name none. Default: `Europe/Amsterdam`. */
  timeZone: text.refine(isTimeZone, "must name a time zone, such as Europe/Amsterdam.").default(DEFAULT_TIME_ZONE),
  /** The card issuer's number for the ticketing provider of shows that name none. Each event needs a provider. */
  providerId: count.optional(),
  /** The title of the product option whose values are a show's dates. Default: `Date`. */
  dateOption: text.default("Date"),
  /** `automatic` publishes each event as soon as it is complete. Default: `by-hand`. */
  publish: z.enum(["by-hand", "automatic"], "must be by-hand or automatic.").default("by-hand"),
});

/** The plugin's options, as a merchant writes them. */
export interface EventsOptions extends z.input<typeof declaration> {}

/** The options with their defaults. */
export type Settings = z.output<typeof declaration>;

/**
 * Checks the options.
 *
 * @throws {TypeError} naming every faulty option, never its value
 */
export function readOptions(options: unknown): Settings {
  // Medusa writes `database` into the options of every module.
  const { database: _, ...given } = (options ?? {}) as { database?: unknown };
  const { data, error } = declaration.safeParse(given);
  if (data) return data;
  const faults = error.issues.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`);
  throw new TypeError(`@giftcard-pay/medusa-events: wrong options. ${faults.join(" ")}`);
}
