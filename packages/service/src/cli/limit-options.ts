import { type Command, Option } from "commander";
import { defaultTimeouts, type Timeouts } from "../http/server.js";
import { defaultLimits, type Limits } from "../limits/limits.js";
import { wholeNumber } from "./output.js";

/** The limits as `serve` takes them; times in seconds. */
export interface LimitOptions {
  readonly pinFailures: number;
  readonly pinWindow: number;
  readonly lockTime: number;
  readonly longestLock: number;
  readonly loginFailures: number;
  readonly loginWindow: number;
  readonly callsPerMinute: number;
  /** Ten times those of a key when left out. */
  readonly companyCallsPerMinute?: number;
  readonly companyPinFailures: number;
  readonly companyPinWindow: number;
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
const { card, login, companyPins, callsPerMinute, keysPerCompany, callsAtOnce, connections, proxies } =
  defaultLimits;
const { headersMs, requestMs, idleMs } = defaultTimeouts;

/** Flag, what it is for, default, least and most. */
const OPTIONS: readonly (readonly [
  flag: string,
  says: string,
  value: number | undefined,
  min: number,
  max: number,
])[] = [
  ["--pin-failures <number>", "wrong PINs that lock a card number", card.failures, 1, 1000],
  ["--pin-window <seconds>", "the time within which they count", card.windowSeconds, 1, 30 * DAY_SECONDS],
  [
    "--lock-time <seconds>",
    "the first lock; each further one is twice as long",
    card.lockSeconds,
    1,
    DAY_SECONDS,
  ],
  ["--longest-lock <seconds>", "no lock is longer", card.longestLockSeconds, 1, 30 * DAY_SECONDS],
  [
    "--login-failures <number>",
    "failed logins of an account, or from an address, before more are refused",
    login.failures,
    1,
    1000,
  ],
  ["--login-window <seconds>", "the time within which they count", login.windowSeconds, 1, 30 * DAY_SECONDS],
  [
    "--calls-per-minute <number>",
    "calls that each API key may make; 0 sets no limit",
    callsPerMinute,
    0,
    MAX_CALLS,
  ],
  [
    "--company-calls-per-minute <number>",
    `calls that all keys of a company may make; 0 sets no limit (default: ${KEYS_COUNTED} times those of a key)`,
    undefined,
    0,
    MAX_CALLS,
  ],
  [
    "--company-pin-failures <number>",
    "wrong PINs of a company, over all cards, before it is refused; 0 sets no limit",
    companyPins.failures,
    0,
    1_000_000,
  ],
  [
    "--company-pin-window <seconds>",
    "the time within which they count",
    companyPins.windowSeconds,
    60,
    DAY_SECONDS,
  ],
  [
    "--keys-per-company <number>",
    "living keys that logins may bring a company to; 0 sets no bound",
    keysPerCompany,
    0,
    MAX_CALLS,
  ],
  ["--calls-at-once <number>", "calls that a process answers at once; more get 503", callsAtOnce, 1, 100_000],
  [
    "--connections <number>",
    "connections that a process keeps; past them, the one that has waited longest for a call, or for the rest of one, is closed",
    connections,
    10,
    1_000_000,
  ],
  ["--proxies <number>", "proxies before the service that add the caller to X-Forwarded-For", proxies, 0, 10],
  ["--headers-timeout <seconds>", "drop a caller whose headers take longer", headersMs / 1000, 1, 600],
  ["--request-timeout <seconds>", "drop a caller whose whole request takes longer", requestMs / 1000, 1, 600],
  ["--idle-timeout <seconds>", "close a connection without calls after so long", idleMs / 1000, 1, 600],
];

/** Adds the options of every limit, each also as `GIFTCARD_…` in the environment. */
export function addLimitOptions(command: Command): Command {
  for (const [flags, says, value, min, max] of OPTIONS) {
    const option = new Option(flags, says).default(value).argParser(wholeNumber(min, max));
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
  },
  login: { failures: options.loginFailures, windowSeconds: options.loginWindow },
  callsPerMinute: options.callsPerMinute,
  companyCallsPerMinute:
    options.companyCallsPerMinute ?? Math.min(options.callsPerMinute * KEYS_COUNTED, MAX_CALLS),
  companyPins: { failures: options.companyPinFailures, windowSeconds: options.companyPinWindow },
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
