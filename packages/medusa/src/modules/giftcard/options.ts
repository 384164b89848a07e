import { createSealer, type Sealer } from "@giftcard-pay/checkout";
import { type ClientOptions, createClient, type GiftcardClient } from "@giftcard-pay/client";
import { z } from "@medusajs/framework/zod";

const text = z.string().min(1);
const milliseconds = z.coerce.number().int().min(1);
const address = z.url({ protocol: /^https?$/ });

/** Whole numbers may come as strings, since they often come from the environment. */
const optionsSchema = z
  .strictObject({
    environment: z.enum(["live", "sandbox"]),
    baseUrl: address.optional(),
    baseUrls: z.strictObject({ live: address, sandbox: address }).optional(),
    apiKey: text.optional(),
    credentials: z.strictObject({ email: text, password: text }).optional(),
    companyId: z.coerce.number().int().min(1),
    sealingKeys: z.array(z.strictObject({ id: text, key: text })).min(1),
    maxCards: z.coerce.number().int().min(1).max(20).optional(),
    timeoutMs: milliseconds.optional(),
    tenderLifeMs: milliseconds.optional(),
    quoteLifeMs: milliseconds.optional(),
    leaseMs: milliseconds.optional(),
    callsHandlerItself: z.boolean().optional(),
  })
  .refine((o) => (o.baseUrl === undefined) !== (o.baseUrls === undefined), {
    path: ["baseUrls"],
    error: "Give baseUrls with both addresses, or baseUrl.",
  })
  .refine((o) => o.apiKey !== undefined || o.credentials !== undefined, {
    path: ["apiKey"],
    error: "Give apiKey, or credentials with email and password.",
  });

/** The options once checked, with what they make. */
export interface Setup {
  readonly client: GiftcardClient;
  readonly sealer: Sealer;
  readonly environment: "live" | "sandbox";
  readonly callsHandlerItself: boolean;
  readonly limits: { maxCards?: number; tenderLifeMs?: number; quoteLifeMs?: number; leaseMs?: number };
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
      (issue) => `${issue.path.join(".") || "options"}: ${describe(issue)}`,
    );
    throw new TypeError(`@giftcard-pay/medusa: wrong options. ${faults.join(" ")}`);
  }
  const { timeoutMs: longestCallMs = 10_000, leaseMs: ownedMs = 120_000 } = parsed.data;
  if (ownedMs <= longestCallMs)
    throw new TypeError("@giftcard-pay/medusa: wrong options. leaseMs: must be longer than timeoutMs.");
  const { environment, callsHandlerItself = false, sealingKeys, ...rest } = parsed.data;
  const { maxCards, tenderLifeMs, quoteLifeMs, leaseMs, ...connection } = rest;
  try {
    return {
      client: createClient({ environment, ...connection } as ClientOptions),
      sealer: createSealer({ keys: sealingKeys }),
      environment,
      callsHandlerItself,
      limits: withoutUndefined({ maxCards, tenderLifeMs, quoteLifeMs, leaseMs }),
    };
  } catch (error) {
    throw new TypeError(
      `@giftcard-pay/medusa: wrong options. ${error instanceof Error ? error.message : ""}`,
    );
  }
}

/** zod's own messages of some issues show keys or values; these don't. */
function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "unrecognized_keys") return `unknown: ${issue.keys.join(", ")}.`;
  if (issue.code === "invalid_type") return `must be a ${issue.expected}.`;
  if (issue.code === "invalid_value") return `must be one of: ${issue.values.join(", ")}.`;
  if (issue.code === "too_small")
    return `must be at least ${issue.minimum}${issue.origin === "string" ? " character" : ""}.`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}.`;
  return issue.code === "invalid_format" ? "must be an http or https address." : "is not valid.";
}

function withoutUndefined(limits: Record<string, number | undefined>): Setup["limits"] {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
