import type { EngineOptions } from "./engine/engine.js";
import type { RemainderMethod } from "./purchase/remainder.js";
import type { SealingKey } from "./sealing/seal.js";
import type { CheckoutStore } from "./store/checkout-store.js";
import type { Purchase } from "./store/purchase-store.js";

/** What a shop gives to its checkout: where the money flow is written down, its keys, its remainder, its limits. */
export interface CheckoutOptions
  extends Pick<
    EngineOptions,
    | "client"
    | "environment"
    | "maxCards"
    | "tenderLifeMs"
    | "quoteLifeMs"
    | "guessLimits"
    | "onChange"
    | "onTender"
    | "onFailure"
  > {
  readonly store: CheckoutStore;
  /** The newest first. */
  readonly sealingKeys: readonly SealingKey[];
  /** Needed where orders can have a remainder. */
  readonly remainder?: RemainderMethod;
  /**
   * How a card's part of an order is charged: as one charge, or by the order's lines, each unit by charges of its own. The
   * service reverses a charge only as a whole, so a unit can be refunded exactly as it was paid only if it was charged by
   * line. Default: by line if `pay` is given lines, else whole. "by-line" refuses orders without lines, and "whole" charges
   * once though an order has lines: fewer calls while the shopper waits, and refunds only by whole charges.
   */
  readonly charges?: "whole" | "by-line";
  /**
   * By line, how many charges a card has at most: 1 to 50. With more units than that, some charges pay several of them.
   * Each is a call to the service while the shopper waits. Default 50.
   */
  readonly maxChargesPerCard?: number;
  /** How long a pending remainder may take before the cards are reversed. Default 30 minutes. */
  readonly pendingLifeMs?: number;
  /**
   * How long a commit owns its purchase between two of its steps; longer than a step takes. At least a second, default two
   * minutes. A call of the remainder's `status`, `cancel` or `refund` may take half of it.
   */
  readonly leaseMs?: number;
  /**
   * Called after each change of a purchase's state by this process, for logs and events, and for a platform that collects
   * the remainder itself. Nobody waits for it, and a crash may swallow it: what stands written is in `read`.
   */
  readonly onPurchase?: (purchase: Purchase) => unknown;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What each option has to be, in words, and the test. */
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
const aFunction: Rule = ["a function", (value) => typeof value === "function"];
const anObject: Rule = ["an object", (value) => typeof value === "object" && value !== null];

const needed: Readonly<Record<string, Rule>> = {
  client: withFunctions("balance", "devalue", "cancelDevalue", "resolveDevalue"),
  "client.companyId": ["a whole number above 0", (value) => Number.isSafeInteger(value) && Number(value) > 0],
  store: anObject,
  "store.journal": withFunctions("begin", "move", "claim"),
  "store.purchases": withFunctions("begin", "change", "claim", "refunds", "list"),
  sealingKeys: ["a list of at least one { id, key }", (value) => Array.isArray(value) && value.length > 0],
};
const optional: Readonly<Record<string, Rule>> = {
  environment: ['"sandbox" or "live"', (value) => value === "sandbox" || value === "live"],
  remainder: withFunctions("status", "cancel"),
  "remainder.refund": aFunction,
  charges: ['"whole" or "by-line"', (value) => value === "whole" || value === "by-line"],
  maxChargesPerCard: count(50),
  pendingLifeMs: wholeMs(1000, 30 * DAY_MS),
  leaseMs: wholeMs(1000, DAY_MS),
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

/** All of them, and those of `guessLimits` by both their names. */
const known = new Set(Object.keys({ ...needed, ...optional }));

/** Without TypeScript a name that is misspelt would leave its option at the default, such as `live`. */
function checkNames(options: object, prefix = ""): void {
  for (const name of Object.keys(options))
    if (!known.has(prefix + name))
      throw new TypeError(`createCheckout: there is no option ${prefix}${name}.`);
}

function at(options: unknown, name: string): unknown {
  let value = options;
  for (const step of name.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[step];
  return value;
}

/**
 * Refuses options that are missing, of another type, out of range, or that there aren't. What they hold stands in no error.
 *
 * @throws {TypeError} naming the option
 */
export function checkOptions(options: CheckoutOptions): void {
  const refuse = (name: string, what: string) => {
    throw new TypeError(`createCheckout: ${name} has to be ${what}.`);
  };
  for (const [name, [what, isRight]] of Object.entries(needed))
    if (!isRight(at(options, name))) refuse(name, what);
  for (const [name, [what, isRight]] of Object.entries(optional)) {
    const value = at(options, name);
    if (value !== undefined && !isRight(value)) refuse(name, what);
  }
  checkNames(options);
  checkNames(options.guessLimits ?? {}, "guessLimits.");
  // A setting that is missing in the process's environment must not make a shop live.
  if ("environment" in options && options.environment === undefined && !options.client.environment)
    refuse("environment", `${optional.environment?.[0]}, or left out`);
  const { environment, client } = options;
  if (environment && client.environment && environment !== client.environment)
    refuse("environment", "the same as the client's");
  for (const key of options.sealingKeys) {
    if (typeof key?.id !== "string" || typeof key.key !== "string")
      refuse("sealingKeys", "a list of { id, key }, both texts");
  }
}
