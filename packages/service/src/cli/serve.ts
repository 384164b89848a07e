import type { Command } from "commander";
import { defaultLimits, defaultTimeouts, KEYS_COUNTED, type Limits } from "../limits/limits.js";
import type { LogLevel } from "../monitoring/log.js";
import { environments } from "../store/environment.js";
import { command, type DatabaseCommand, variable } from "./command.js";
import { listenForSignals } from "./ending.js";
import { wholeNumber } from "./output.js";
import type { ServeOptions } from "./run-serve.js";

export type AddressOptions = Pick<ServeOptions, "port" | "host">;

export const addAddressOptions = <Added extends Command>(command: Added): Added =>
  command
    .addOption(
      variable("--port <port>", "the service's port; `serve` chooses a free one for 0").default(8080).argParser(port),
    )
    .addOption(variable("--host <address>", "the address that the service listens on").default("127.0.0.1"));

const port = wholeNumber(0, 65_535);

/** The limits that an operator has a reason to change. The others are constants. */
interface LimitOptions {
  readonly pinFailures: number;
  readonly slowPinFailures: number;
  readonly companyPinFailures: number;
  readonly callsPerMinute: number;
  readonly eventsPerCompany: number;
  readonly connections: number;
  readonly proxies: number;
  /** In seconds. */
  readonly idleTimeout: number;
}

const { card, companyPins, callsPerMinute, storage, connections, proxies } = defaultLimits;

/** The options: flag, description, default, minimum and maximum. */
const LIMITS: readonly (readonly [flag: string, description: string, value: number, min: number, max: number])[] = [
  ["--pin-failures <number>", "wrong PINs in 15 minutes that lock a card number", card.failures, 1, 1000],
  [
    "--slow-pin-failures <number>",
    "wrong PINs in 30 days that lock a card number until `card unlock`; 0 sets no limit",
    card.slowFailures,
    0,
    1_000_000,
  ],
  [
    "--company-pin-failures <number>",
    "wrong PINs of a company in an hour over all cards before its calls on cards are refused; 0 sets no limit",
    companyPins.failures,
    0,
    1_000_000,
  ],
  [
    "--calls-per-minute <number>",
    `calls per minute of an API key, and a ${KEYS_COUNTED}th of those of a company; 0 sets no limit`,
    callsPerMinute,
    0,
    100_000_000,
  ],
  ["--events-per-company <number>", "events of a company; 0 sets no limit", storage.events, 0, 1_000_000_000],
  [
    "--connections <number>",
    "open connections of a process; above it, the one that has waited longest for its caller is closed",
    connections,
    10,
    1_000_000,
  ],
  ["--proxies <number>", "proxies before the service that add to X-Forwarded-For", proxies, 0, 10],
  [
    "--idle-timeout <seconds>",
    "close a connection after this time without a call; longer than the proxy keeps it",
    defaultTimeouts.idleMs / 1000,
    1,
    3600,
  ],
];

function limitsOf(options: LimitOptions): Limits {
  const { callsPerMinute, connections, proxies } = options;
  return {
    ...defaultLimits,
    card: { ...card, failures: options.pinFailures, slowFailures: options.slowPinFailures },
    companyPins: { ...companyPins, failures: options.companyPinFailures },
    storage: { ...storage, events: options.eventsPerCompany },
    callsPerMinute,
    companyCallsPerMinute: callsPerMinute * KEYS_COUNTED,
    connections,
    proxies,
  };
}

function addLimitOptions(command: DatabaseCommand): DatabaseCommand {
  for (const [flags, description, value, min, max] of LIMITS)
    command.addOption(variable(flags, description).default(value).argParser(wholeNumber(min, max)));
  return command;
}

const logLevels: readonly LogLevel[] = ["info", "warn", "error", "silent"];

export const serveCommand = () =>
  addLimitOptions(addAddressOptions(command("serve", "Run the service, on its built-in PostgreSQL or on your own")))
    .addOption(
      variable("--environment <name>", "the environment of this service").choices(environments).default("live"),
    )
    .addOption(
      variable(
        "--metrics-port <port>",
        "serve /metrics on this port; 0 chooses a free one (default: metrics are not served)",
      ).argParser(port),
    )
    .addOption(variable("--metrics-host <address>", "the address of the metrics port").default("127.0.0.1"))
    .addOption(
      variable("--log-level <level>", "info logs every call; warn and error log only failures")
        .choices(logLevels)
        .default("info"),
    )
    .addOption(
      variable(
        "--stop-grace <seconds>",
        "after SIGTERM, keep serving for this time while /readyz says 503, and then keep idle connections as long again",
      )
        .default(3)
        .argParser(wholeNumber(0, 600)),
    )
    .addHelpText(
      "after",
      "\nPrints one line with its address when it is ready. After SIGTERM and the grace period, it answers the calls in\n" +
        "progress, stops the built-in database, and exits with 0. SIGINT, or a second SIGTERM, skips the grace period.\n" +
        "With --database-url, run `migrate` first and set GIFTCARD_SECRETS_FILE.",
    )
    .action(async (options: Omit<ServeOptions, "limits" | "timeouts"> & LimitOptions) => {
      const signals = listenForSignals();
      // Loaded on demand, so that other commands start faster.
      const { serve } = await import("./run-serve.js");
      const timeouts = { ...defaultTimeouts, idleMs: options.idleTimeout * 1000 };
      await serve({ ...options, limits: limitsOf(options), timeouts }, signals);
    });
