import { createSealer, type GuessLimits, type RefundRule, type Sealer } from "@giftcard-pay/checkout";
import { type ClientOptions, createClient, type GiftcardClient } from "@giftcard-pay/client";
import { DEFAULT_TIME_ZONE, isTimeZone } from "@giftcard-pay/events";
import { z } from "@medusajs/framework/zod";

/** What recovery goes by where the options don't say it. */
export const defaults = {
  leaseMs: 120_000,
  pendingRemainderLifeMs: 7 * 24 * 60 * 60_000,
  maxCancelsPerRun: 20,
  maxChargesPerCard: 50,
  refundRule: "as-paid",
  dateOption: "Date",
} as const;

const text = z.string().min(1);
const milliseconds = z.coerce.number().int().min(1);
const count = z.coerce.number().int().min(1);
const address = z.url({ protocol: /^https?$/ });

/** An address with a place for a product's handle or id. */
const pattern = z
  .string()
  .max(1000)
  .refine(
    (url) => /\{(handle|id)\}/.test(url) && address.safeParse(url.replaceAll(/[{}]/g, "")).success,
    "must be an http or https address with {handle} or {id} in it.",
  );

const eventsSchema = z.strictObject({
  productUrl: pattern,
  organiser: z.string().trim().min(1).max(255).optional(),
  timeZone: text.refine(isTimeZone, "must name a time zone, as Europe/Amsterdam.").optional(),
  providerId: count.optional(),
  dateOption: text.optional(),
  publish: z.enum(["by-hand", "automatic"]).optional(),
});

const NOT_SET = "is not set. If it comes from an environment variable, give that one a value.";
/** All faults are told at once, so these are looked for beside others too. */
const alsoBesideOthers = {
  when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null,
};

/** Whole numbers may come as strings, since they often come from the environment. */
const optionsSchema = z
  .strictObject({
    environment: z.enum(["live", "sandbox"]),
    baseUrl: address.optional(),
    baseUrls: z.strictObject({ live: address, sandbox: address }).optional(),
    allowHttp: z.boolean().optional(),
    apiKey: text.optional(),
    credentials: z.strictObject({ email: text, password: text }).optional(),
    companyId: z.coerce.number().int().min(1),
    sealingKeys: z.array(z.strictObject({ id: text, key: text })).min(1),
    maxCards: z.coerce.number().int().min(1).max(20).optional(),
    charges: z.enum(["whole", "by-line"]).optional(),
    refundRule: z.enum(["as-paid", "cards-first", "other-first", "in-proportion"]).optional(),
    cardsBuyCards: z.boolean().optional(),
    maxChargesPerCard: z.coerce.number().int().min(1).max(50).optional(),
    timeoutMs: milliseconds.optional(),
    tenderLifeMs: milliseconds.optional(),
    quoteLifeMs: milliseconds.optional(),
    leaseMs: milliseconds.optional(),
    guessLimits: z
      .strictObject({
        windowMs: milliseconds.optional(),
        perCart: count.optional(),
        perAddress: count.optional(),
        perShop: count.optional(),
      })
      .optional(),
    trustedAddressHeader: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/)
      .optional(),
    allowPendingRemainder: z.boolean().optional(),
    pendingRemainderLifeMs: milliseconds.optional(),
    maxCancelsPerRun: z.coerce.number().int().min(0).optional(),
    callsHandlerItself: z.boolean().optional(),
    events: eventsSchema.optional(),
  })
  .refine((o) => o.baseUrl !== undefined || o.baseUrls !== undefined, {
    ...alsoBesideOthers,
    path: ["baseUrl"],
    error: `${NOT_SET} Or give baseUrls with both addresses.`,
  })
  .refine((o) => o.baseUrl === undefined || o.baseUrls === undefined, {
    ...alsoBesideOthers,
    path: ["baseUrls"],
    error: "Give baseUrls with both addresses, or baseUrl, not both.",
  })
  .refine((o) => o.apiKey !== undefined || o.credentials !== undefined, {
    ...alsoBesideOthers,
    path: ["apiKey"],
    error: `${NOT_SET} Or give credentials with email and password.`,
  });

/** What the shop's shows go by. */
export interface EventSettings {
  /** A product's page in the storefront, with {handle} or {id}. */
  readonly productUrl: string;
  /** Who organises a show that names nobody. */
  readonly organiser: string | undefined;
  /** Where the clocks of a show are that names no zone. */
  readonly timeZone: string;
  /** The ticketing provider of a show that names none. */
  readonly providerId: number | undefined;
  /** The product option whose values are a show's dates. */
  readonly dateOption: string;
  /** Whether a show is published as soon as it can be, or when a person says so. */
  readonly isAutomatic: boolean;
}

/** The options once checked, with what they make. */
export interface Setup {
  readonly client: GiftcardClient;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly callsHandlerItself: boolean;
  /** In lower case; null where no header says the shopper's address. */
  readonly trustedAddressHeader: string | null;
  readonly allowPendingRemainder: boolean;
  readonly pendingRemainderLifeMs: number;
  readonly maxCancelsPerRun: number;
  readonly leaseMs: number;
  /** Each card is charged by as many charges as it pays units of the order's lines. */
  readonly chargesByLine: boolean;
  readonly maxChargesPerCard: number;
  /** Who is paid back first. */
  readonly refundRule: RefundRule;
  /** Whether a card pays for gift cards in the cart too. */
  readonly cardsBuyCards: boolean;
  /** How the shop's shows are told to others; null in a shop that sells none. */
  readonly events: EventSettings | null;
  readonly limits: {
    maxCards?: number;
    tenderLifeMs?: number;
    quoteLifeMs?: number;
    guessLimits?: GuessLimits;
  };
}

/**
 * Checks the options.
 *
 * @throws {TypeError} naming every faulty option, never its value
 */
export function readSetup(options: unknown): Setup {
  // Medusa writes `database` into every module's options.
  const { database: _, ...given } =
    typeof options === "object" && options !== null ? (options as { database?: unknown }) : {};
  const parsed = optionsSchema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.join(".") || "options"}: ${describe(issue, given)}`,
    );
    throw new TypeError(`@giftcard-pay/medusa: wrong options. ${faults.join(" ")}`);
  }
  const { timeoutMs: longestCallMs = 10_000, leaseMs: ownedMs = defaults.leaseMs } = parsed.data;
  if (ownedMs <= longestCallMs)
    throw new TypeError("@giftcard-pay/medusa: wrong options. leaseMs: must be longer than timeoutMs.");
  const { environment, callsHandlerItself = false, sealingKeys, ...rest } = parsed.data;
  const { maxCards, tenderLifeMs, quoteLifeMs, guessLimits, leaseMs = ownedMs, ...others } = rest;
  const { trustedAddressHeader, allowPendingRemainder = false, ...another } = others;
  const { maxCancelsPerRun = defaults.maxCancelsPerRun, ...further } = another;
  const { pendingRemainderLifeMs = defaults.pendingRemainderLifeMs, ...charging } = further;
  const { charges, maxChargesPerCard = defaults.maxChargesPerCard, ...refunding } = charging;
  const { refundRule = defaults.refundRule, cardsBuyCards = false, events, ...connection } = refunding;
  try {
    return {
      client: createClient({ environment, ...connection } as ClientOptions),
      sealer: createSealer({ keys: sealingKeys }),
      environment,
      callsHandlerItself,
      trustedAddressHeader: trustedAddressHeader?.toLowerCase() ?? null,
      ...{ allowPendingRemainder, pendingRemainderLifeMs, maxCancelsPerRun, leaseMs },
      ...{ chargesByLine: charges === "by-line", maxChargesPerCard, refundRule, cardsBuyCards },
      events: events ? eventSettings(events) : null,
      limits: withoutUndefined({
        ...{ maxCards, tenderLifeMs, quoteLifeMs },
        guessLimits: guessLimits && withoutUndefined(guessLimits),
      }),
    };
  } catch (error) {
    throw new TypeError(
      `@giftcard-pay/medusa: wrong options. ${error instanceof Error ? error.message : ""}`,
    );
  }
}

const eventSettings = (given: z.output<typeof eventsSchema>): EventSettings => ({
  productUrl: given.productUrl,
  organiser: given.organiser,
  timeZone: given.timeZone ?? DEFAULT_TIME_ZONE,
  providerId: given.providerId,
  dateOption: given.dateOption ?? defaults.dateOption,
  isAutomatic: given.publish === "automatic",
});

/** zod's own messages of some issues show keys or values; these don't. */
function describe(issue: z.core.$ZodIssue, given: object): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "unrecognized_keys") return `unknown: ${issue.keys.join(", ")}.`;
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)?.[key], given);
  if (value === undefined || value === "") return NOT_SET;
  if (issue.code === "invalid_type") return `must be a ${issue.expected}.`;
  if (issue.code === "invalid_value") return `must be one of: ${issue.values.join(", ")}.`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}.`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}.`;
  return issue.code === "invalid_format" ? "must be an http or https address." : "is not valid.";
}

function withoutUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
