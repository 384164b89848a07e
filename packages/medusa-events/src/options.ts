import { DEFAULT_TIME_ZONE, isTimeZone } from "@giftcard-pay/events";
import { z } from "@medusajs/framework/zod";

const NOT_SET = "is not set. If it comes from an environment variable, give that variable a value.";

const text = z.string(NOT_SET).min(1, NOT_SET);
const address = z.url({ protocol: /^https?$/, error: "must be an http or https address." });
/** A whole number, which may come as a string, since options often come from the environment. */
const wholeNumber = z
  .union([z.number(), text], NOT_SET)
  .pipe(
    z.coerce
      .number<number | string>("must be a whole number.")
      .int("must be a whole number.")
      .min(1, "must be 1 or more."),
  );

const hasPlace = (url: string) =>
  /\{(handle|id)\}/.test(url) && address.safeParse(url.replaceAll(/[{}]/g, "")).success;

/**
 * The plugin's options: names, types, defaults, checks and descriptions. `EventsOptions` and the README's table come from
 * here.
 */
export const optionsSchema = z
  .strictObject({
    productUrl: text
      .max(1000)
      .refine(hasPlace, "must be an http or https address with {handle} or {id} in it.")
      .describe("a product's page in the storefront, with `{handle}` or `{id}` in it"),
    baseUrl: address.describe("the issuer's address, without `/api/endpoint/v1`"),
    environment: z
      .enum(["live", "sandbox"])
      .optional()
      .describe("which of the issuer's installations that is; an answer of the other one is refused"),
    allowHttp: z
      .boolean()
      .default(false)
      .describe("allows `http:` to another machine, where the network between is your own"),
    apiKey: text.optional().describe("the company's API key"),
    credentials: z
      .strictObject({ email: text, password: text })
      .optional()
      .describe("`email` and `password`, which fetch a key if there is no `apiKey`"),
    companyId: wholeNumber.describe("the issuer's number for the company"),
    timeoutMs: wholeNumber.default(10_000).describe("timeout of a call to the issuer"),
    organiser: text.max(255).optional().describe("the organiser of a show that names none"),
    timeZone: text
      .refine(isTimeZone, "must name a time zone, such as Europe/Amsterdam.")
      .default(DEFAULT_TIME_ZONE)
      .describe("the IANA time zone of a show that names none"),
    providerId: wholeNumber
      .optional()
      .describe(
        "the issuer's number for the ticketing provider of a show that names none; an event needs one",
      ),
    dateOption: text.default("Date").describe("the product option whose values are a show's dates"),
    publish: z
      .enum(["by-hand", "automatic"])
      .default("by-hand")
      .describe("`automatic` publishes each event as soon as nothing is missing"),
  })
  .refine(({ apiKey, credentials }) => apiKey !== undefined || credentials !== undefined, {
    path: ["apiKey"],
    error: `${NOT_SET} Or give credentials with email and password.`,
    // Report this fault together with those of other options.
    when: ({ value }) => typeof value === "object" && value !== null,
  });

/** The plugin's options, as a merchant writes them. */
export type EventsOptions = z.input<typeof optionsSchema>;

/** The options with their defaults. */
export type EventSettings = z.output<typeof optionsSchema>;

/**
 * Checks the options.
 *
 * @throws {TypeError} naming every wrong option, never its value
 */
export function readOptions(options: unknown): EventSettings {
  // Medusa adds `database` to every module's options.
  const { database: _, ...given } = (options ?? {}) as Record<string, unknown>;
  const { data, error } = optionsSchema.safeParse(given);
  if (data) return data;
  const faults = error.issues.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`);
  throw new TypeError(`@giftcard-pay/medusa-events: wrong options. ${faults.join(" ")}`);
}
