/** When wrong PINs lock a card number. The fields stand in the order of the database's type `lockout_rule`. */
export interface LockoutRule {
  /** So many wrong PINs within the window lock the number. */
  readonly failures: number;
  readonly windowSeconds: number;
  /** The first lock; each further one is twice as long as the one before. */
  readonly lockSeconds: number;
  readonly longestLockSeconds: number;
}

/** When failed logins are refused unseen: so many for one account, or from one address, within the window. */
export interface LoginRule {
  readonly failures: number;
  readonly windowSeconds: number;
}

/** When a company is refused balance and devalue: so many wrong PINs and unknown numbers, over all cards, within the window. */
export interface CompanyPinRule {
  /** 0 sets no limit. */
  readonly failures: number;
  readonly windowSeconds: number;
}

/** The limits that a call can meet, besides the lock of a card number. */
export const limitNames = ["key_calls", "company_calls", "company_pins", "company_keys", "logins"] as const;
export type LimitName = (typeof limitNames)[number];

/** What callers may do; the counters are shared by every process on the database. */
export interface Limits {
  readonly card: LockoutRule;
  readonly login: LoginRule;
  /** For each API key; 0 sets no limit. */
  readonly callsPerMinute: number;
  /** For all keys of a company together; 0 sets no limit. */
  readonly companyCallsPerMinute: number;
  readonly companyPins: CompanyPinRule;
  /** Living keys of a company that its logins may bring it to; 0 sets no bound. The operator's own have none. */
  readonly keysPerCompany: number;
  /** Calls that this process answers at once; it refuses more with 503. */
  readonly callsAtOnce: number;
  /** Connections that this process keeps; past them, the one that has waited longest for a call, or for the rest of one, is closed. */
  readonly connections: number;
  /** Proxies before the service that each add the caller's address to X-Forwarded-For. */
  readonly proxies: number;
}

const QUARTER_HOUR_SECONDS = 15 * 60;

/** The limits of a service where nothing else is said. */
export const defaultLimits: Limits = {
  card: {
    failures: 10,
    windowSeconds: QUARTER_HOUR_SECONDS,
    lockSeconds: QUARTER_HOUR_SECONDS,
    longestLockSeconds: 24 * 60 * 60,
  },
  login: { failures: 10, windowSeconds: QUARTER_HOUR_SECONDS },
  callsPerMinute: 600,
  companyCallsPerMinute: 6000,
  companyPins: { failures: 1000, windowSeconds: 60 * 60 },
  keysPerCompany: 10_000,
  callsAtOnce: 500,
  connections: 4000,
  proxies: 0,
};

/** The rule as the database reads it. */
export const ruleText = ({ failures, windowSeconds, lockSeconds, longestLockSeconds }: LockoutRule) =>
  `(${failures},${windowSeconds},${lockSeconds},${longestLockSeconds})`;
