import type { EngineOptions } from "./engine/engine.js";
import { checkNames } from "./option-names.js";
import type { RemainderMethod } from "./purchase/remainder.js";
import type { SealingKey } from "./sealing/seal.js";
import type { CheckoutStore, Purchase } from "./store/purchase-store.js";

/** The options of a shop's checkout. */
export interface CheckoutOptions
  extends Pick<
    EngineOptions,
    | "issuer"
    | "environment"
    | "maxCards"
    | "leastRemainderCents"
    | "tenderLifeMs"
    | "quoteLifeMs"
    | "guessLimits"
    | "onChange"
    | "onTender"
    | "onFailure"
  > {
  readonly store: CheckoutStore;
  /** The newest first; also as text, such as an environment variable: `id:key,id:key`. */
  readonly sealingKeys: readonly SealingKey[] | string;
  /** Required if orders can have a remainder. */
  readonly remainder?: RemainderMethod;
  /**
   * How a card's part of an order is charged: as one charge, or by line, with a charge for each unit, so that units can be
   * refunded. Default: by line if `pay` gets lines. "by-line" refuses orders without lines.
   */
  readonly charges?: "whole" | "by-line";
  /** The maximum number of charges per card if it is charged by line: 1 to 50. Default 50. */
  readonly maxChargesPerCard?: number;
  /** How long a pending remainder may take before the cards are reversed. Default 30 minutes. */
  readonly pendingRemainderMs?: number;
  /**
   * How long a payment owns its order between two steps. Half of it is the timeout of the remainder method. Default two
   * minutes.
   */
  readonly leaseMs?: number;
  /**
   * Called after this process has changed the state of an order's payment, for logs and events. The checkout does not wait for
   * it, and a crash may prevent the call.
   */
  readonly onPurchase?: (purchase: Purchase) => unknown;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The requirement of an option in words, and its check. */
type Rule = readonly [string, (value: unknown) => boolean];
const wholeMs = (min: number, max: number): Rule => [
  `a whole number of milliseconds from ${min} to ${max}`,
  (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
];
const count = (max: number): Rule => [
  `a whole number from 1 to ${max}`,
  (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max,
];
const withFunctions = (...names: string[]): Rule => [
  `an object with the functions ${names.join(" and ")}`,
  (value) => names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function"),
];
const isLeast = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const aFunction: Rule = ["a function", (value) => typeof value === "function"];
const anObject: Rule = ["an object", (value) => typeof value === "object" && value !== null];

const needed: Readonly<Record<string, Rule>> = {
  issuer: withFunctions("balance", "devalue", "cancelDevalue", "resolveDevalue", "checkAccess"),
  "issuer.companyId": ["a whole number above 0", (value) => Number.isSafeInteger(value) && Number(value) > 0],
  "issuer.currency": ["three capital letters, such as EUR", (value) => /^[A-Z]{3}$/.test(String(value))],
  // The plan of a refund by line takes time in proportion to it.
  "issuer.maxDeductionCents": [
    "whole cents from 1 to 100000",
    (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 100_000,
  ],
  store: anObject,
  "store.journal": withFunctions("begin", "move", "claim"),
  "store.purchases": withFunctions("begin", "change", "claim", "refunds", "list"),
  sealingKeys: [
    "a list of at least one { id, key }, or a text id:key",
    (value) => (Array.isArray(value) ? value.length > 0 : typeof value === "string" && value.includes(":")),
  ],
};
const optional: Readonly<Record<string, Rule>> = {
  environment: ['"sandbox" or "live"', (value) => value === "sandbox" || value === "live"],
  remainder: withFunctions("authorize", "status", "cancel"),
  "remainder.refund": aFunction,
  "remainder.webhook": aFunction,
  charges: ['"whole" or "by-line"', (value) => value === "whole" || value === "by-line"],
  maxChargesPerCard: count(50),
  pendingRemainderMs: wholeMs(1000, 30 * DAY_MS),
  leaseMs: wholeMs(1000, DAY_MS),
  "remainder.leastCents": ["whole cents, 0 or more", isLeast],
  leastRemainderCents: ["whole cents, 0 or more", isLeast],
  maxCards: count(100),
  tenderLifeMs: wholeMs(1000, DAY_MS),
  quoteLifeMs: wholeMs(1000, DAY_MS),
  guessLimits: anObject,
  "guessLimits.windowMs": wholeMs(1000, DAY_MS),
  "guessLimits.perCart": count(1_000_000),
  "guessLimits.perAddress": count(1_000_000),
  "guessLimits.perShop": count(1_000_000),
  onChange: aFunction,
  onTender: aFunction,
  onPurchase: aFunction,
  onFailure: aFunction,
};

/** The names of all options; those of `guessLimits` with their prefix. */
const known = Object.keys({ ...needed, ...optional });

function at(options: unknown, name: string): unknown {
  let value = options;
  for (const step of name.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[step];
  return value;
}

/**
 * Validates the options. Errors never contain their values.
 *
 * @throws {TypeError} naming an option that is missing, invalid or unknown
 */
export function checkOptions(options: CheckoutOptions): void {
  const refuse = (name: string, what: string) => {
    throw new TypeError(`createCheckout: ${name} has to be ${what}.`);
  };
  for (const [name, [what, isRight]] of Object.entries(needed)) if (!isRight(at(options, name))) refuse(name, what);
  for (const [name, [what, isRight]] of Object.entries(optional)) {
    const value = at(options, name);
    if (value !== undefined && !isRight(value)) refuse(name, what);
  }
  const limits = Object.entries(options.guessLimits ?? {}).map(([name, value]) => [`guessLimits.${name}`, value]);
  checkNames("createCheckout", { ...options, ...Object.fromEntries(limits) }, known);
  const { environment, issuer } = options;
  // Without it, a test's charges would be recorded as live ones.
  if (!environment && !issuer.environment)
    refuse("environment", `${optional.environment?.[0]}, here or in createClient`);
  if (environment && issuer.environment && environment !== issuer.environment)
    refuse("environment", "the same as the issuer's");
  for (const key of typeof options.sealingKeys === "string" ? [] : options.sealingKeys) {
    if (typeof key?.id !== "string" || typeof key.key !== "string")
      refuse("sealingKeys", "a list of { id, key }, both texts");
  }
}
