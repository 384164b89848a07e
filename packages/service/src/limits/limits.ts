/** The rule by which wrong PINs lock a card number. Its fields have the order of the database's type `lockout_rule`. */
export interface LockoutRule {
  /** This number of wrong PINs within the window locks the card number. */
  readonly failures: number;
  readonly windowSeconds: number;
  /** The duration of the first lock. Each further lock is twice as long. */
  readonly lockSeconds: number;
  readonly longestLockSeconds: number;
  /** This number of wrong PINs within the slow window locks the number until a person unlocks it; 0 sets no limit. */
  readonly slowFailures: number;
  readonly slowWindowSeconds: number;
}

/** Limits of what a company may store through the interface. 0 sets no limit. */
export interface StorageRule {
  readonly events: number;
  /** Of all its events together. */
  readonly eventBytes: number;
  readonly concepts: number;
  /** Idempotency-Keys that `canceldevalue` closes before their devalue came, in 24 hours. */
  readonly closedKeys: number;
}

/** The number of failures within a time after which further calls are refused. */
export interface FailureRule {
  readonly failures: number;
  readonly windowSeconds: number;
}

/** The limits that can refuse a call, besides the lock of a card number. */
export const limitNames = [
  "key_calls",
  "company_calls",
  "company_pins",
  "company_keys",
  "closed_keys",
  "logins",
] as const;
export type LimitName = (typeof limitNames)[number];

/** The limits for callers. All processes on a database share the counters. */
export interface Limits {
  readonly card: LockoutRule;
  /** Failed logins of one account, or from one address. Further ones are refused unchecked. */
  readonly login: FailureRule;
  /** For each API key; 0 sets no limit. */
  readonly callsPerMinute: number;
  /** For all keys of a company together; 0 sets no limit. */
  readonly companyCallsPerMinute: number;
  /** Wrong PINs and unknown numbers of a company, over all cards. Then its balance and devalue are refused; 0 sets no limit. */
  readonly companyPins: FailureRule;
  readonly storage: StorageRule;
  /** Number of active keys up to which a company's logins add keys; 0 sets no limit. The operator may always add keys. */
  readonly keysPerCompany: number;
  /** Concurrent calls of this process. Further calls get 503. */
  readonly callsAtOnce: number;
  /** Open connections of this process. Above it, the connection that has waited longest for its caller is closed. */
  readonly connections: number;
  /** Number of proxies before the service that each add the sender's address to X-Forwarded-For. */
  readonly proxies: number;
}

/** Time limits for callers. */
export interface Timeouts {
  readonly headersMs: number;
  /** For the whole request, headers included. */
  readonly requestMs: number;
  /** For a connection without a call. */
  readonly idleMs: number;
}

/** The default time limits. */
export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than callers keep idle connections, so that the service does not close one just when a devalue is sent.
  idleMs: 75_000,
};

/** The calls of a company, as a multiple of those of a key. */
export const KEYS_COUNTED = 10;

const QUARTER_HOUR_SECONDS = 15 * 60;

/** The default limits. `serve` has options for those that an operator has a reason to change. */
export const defaultLimits: Limits = {
  card: {
    failures: 10,
    windowSeconds: QUARTER_HOUR_SECONDS,
    lockSeconds: QUARTER_HOUR_SECONDS,
    longestLockSeconds: 24 * 60 * 60,
    slowFailures: 50,
    slowWindowSeconds: 30 * 24 * 60 * 60,
  },
  login: { failures: 10, windowSeconds: QUARTER_HOUR_SECONDS },
  callsPerMinute: 600,
  companyCallsPerMinute: 600 * KEYS_COUNTED,
  companyPins: { failures: 1000, windowSeconds: 60 * 60 },
  storage: { events: 100_000, eventBytes: 200_000_000, concepts: 1000, closedKeys: 10_000 },
  keysPerCompany: 10_000,
  callsAtOnce: 500,
  connections: 4000,
  proxies: 0,
};

/** Formats the rule as the database's type. */
export const ruleText = (rule: LockoutRule) =>
  `(${rule.failures},${rule.windowSeconds},${rule.lockSeconds},${rule.longestLockSeconds},${rule.slowFailures},${rule.slowWindowSeconds})`;
