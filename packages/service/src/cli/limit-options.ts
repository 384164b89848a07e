import { type Command, Option } from "commander";
import { defaultTimeouts, type Timeouts } from "../http/server.js";
import { defaultLimits, type Limits } from "../limits/limits.js";
import { wholeNumber } from "./output.js";

/** The limits as options of `serve`. Times are in seconds. */
export interface LimitOptions {
  readonly pinFailures: number;
  readonly pinWindow: number;
  readonly lockTime: number;
  readonly longestLock: number;
  readonly slowPinFailures: number;
  readonly slowPinWindow: number;
  readonly loginFailures: number;
  readonly loginWindow: number;
  readonly callsPerMinute: number;
  /** Default: ten times the calls of a key. */
  readonly companyCallsPerMinute?: number;
  readonly companyPinFailures: number;
  readonly companyPinWindow: number;
  readonly eventsPerCompany: number;
  readonly eventMegabytesPerCompany: number;
  readonly conceptsPerCompany: number;
  readonly closedKeysPerCompany: number;
  readonly keysPerCompany: number;
  readonly callsAtOnce: number;
  readonly connections: number;
  readonly proxies: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly idleTimeout: number;
}

const DAY_SECONDS = 24 * 60 * 60;
const MAX_CALLS = 1_000_000_000;
const KEYS_COUNTED = 10;
const MEGABYTE = 1_000_000;
const { card, login, companyPins, storage, callsPerMinute, keysPerCompany, callsAtOnce, connections, proxies } =
  defaultLimits;
const { headersMs, requestMs, idleMs } = defaultTimeouts;

/** The options: flag, description, default, minimum and maximum. */
const OPTIONS: readonly (readonly [
  flag: string,
  description: string,
  value: number | undefined,
  min: number,
  max: number,
])[] = [
  ["--pin-failures <number>", "wrong PINs that lock a card number", card.failures, 1, 1000],
  ["--pin-window <seconds>", "the time window in which they count", card.windowSeconds, 1, 30 * DAY_SECONDS],
  [
    "--lock-time <seconds>",
    "duration of the first lock; each further lock is twice as long",
    card.lockSeconds,
    1,
    DAY_SECONDS,
  ],
  ["--longest-lock <seconds>", "maximum duration of a lock", card.longestLockSeconds, 1, 30 * DAY_SECONDS],
  [
    "--slow-pin-failures <number>",
    "wrong PINs that lock a card number until `card unlock`; 0 sets no limit",
    card.slowFailures,
    0,
    1_000_000,
  ],
  ["--slow-pin-window <days>", "the days in which they count", card.slowWindowSeconds / DAY_SECONDS, 1, 3650],
  [
    "--login-failures <number>",
    "failed logins of an account, or from an address, before more are refused",
    login.failures,
    1,
    1000,
  ],
  ["--login-window <seconds>", "the time window in which they count", login.windowSeconds, 1, 30 * DAY_SECONDS],
  ["--calls-per-minute <number>", "calls per minute of an API key; 0 sets no limit", callsPerMinute, 0, MAX_CALLS],
  [
    "--company-calls-per-minute <number>",
    `calls per minute of a company's keys together; 0 sets no limit (default: ${KEYS_COUNTED} times those of a key)`,
    undefined,
    0,
    MAX_CALLS,
  ],
  [
    "--company-pin-failures <number>",
    "wrong PINs of a company over all cards before its calls on cards are refused; 0 sets no limit",
    companyPins.failures,
    0,
    1_000_000,
  ],
  ["--company-pin-window <seconds>", "the time window in which they count", companyPins.windowSeconds, 60, DAY_SECONDS],
  ["--events-per-company <number>", "events of a company; 0 sets no limit", storage.events, 0, MAX_CALLS],
  [
    "--event-megabytes-per-company <number>",
    "size of a company's events together; 0 sets no limit",
    storage.eventBytes / MEGABYTE,
    0,
    1_000_000,
  ],
  ["--concepts-per-company <number>", "event concepts of a company; 0 sets no limit", storage.concepts, 0, MAX_CALLS],
  [
    "--closed-keys-per-company <number>",
    "Idempotency-Keys that canceldevalue closes unused in 24 hours; 0 sets no limit",
    storage.closedKeys,
    0,
    MAX_CALLS,
  ],
  [
    "--keys-per-company <number>",
    "active keys of a company up to which logins add keys; 0 sets no limit",
    keysPerCompany,
    0,
    MAX_CALLS,
  ],
  ["--calls-at-once <number>", "concurrent calls of a process; further ones get 503", callsAtOnce, 1, 100_000],
  [
    "--connections <number>",
    "open connections of a process; above it, the one that has waited longest for its caller is closed",
    connections,
    10,
    1_000_000,
  ],
  ["--proxies <number>", "proxies before the service that add to X-Forwarded-For", proxies, 0, 10],
  ["--headers-timeout <seconds>", "time limit for a call's headers", headersMs / 1000, 1, 600],
  ["--request-timeout <seconds>", "time limit for a whole request", requestMs / 1000, 1, 600],
  ["--idle-timeout <seconds>", "close a connection after this time without a call", idleMs / 1000, 1, 600],
];

/** Adds the options of the limits, each also as a variable `GIFTCARD_…`. */
export function addLimitOptions(command: Command): Command {
  for (const [flags, description, value, min, max] of OPTIONS) {
    const option = new Option(flags, description).default(value).argParser(wholeNumber(min, max));
    const name = option.long?.slice(2).replaceAll("-", "_").toUpperCase();
    command.addOption(option.env(`GIFTCARD_${name}`));
  }
  return command;
}

export const limitsOf = (options: LimitOptions): Limits => ({
  card: {
    failures: options.pinFailures,
    windowSeconds: options.pinWindow,
    lockSeconds: options.lockTime,
    longestLockSeconds: options.longestLock,
    slowFailures: options.slowPinFailures,
    slowWindowSeconds: options.slowPinWindow * DAY_SECONDS,
  },
  login: { failures: options.loginFailures, windowSeconds: options.loginWindow },
  callsPerMinute: options.callsPerMinute,
  companyCallsPerMinute: options.companyCallsPerMinute ?? Math.min(options.callsPerMinute * KEYS_COUNTED, MAX_CALLS),
  companyPins: { failures: options.companyPinFailures, windowSeconds: options.companyPinWindow },
  storage: {
    events: options.eventsPerCompany,
    eventBytes: options.eventMegabytesPerCompany * MEGABYTE,
    concepts: options.conceptsPerCompany,
    closedKeys: options.closedKeysPerCompany,
  },
  keysPerCompany: options.keysPerCompany,
  callsAtOnce: options.callsAtOnce,
  connections: options.connections,
  proxies: options.proxies,
});

export const timeoutsOf = (options: LimitOptions): Timeouts => ({
  headersMs: options.headersTimeout * 1000,
  requestMs: options.requestTimeout * 1000,
  idleMs: options.idleTimeout * 1000,
});
