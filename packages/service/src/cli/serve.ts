import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { requireAddress } from "../http/server.js";
import { type Log, logLevels } from "../log.js";
import { DEFAULT_METRICS_HOST } from "../service.js";
import { environments } from "../store/environment.js";
import { addAddressOptions } from "./address-options.js";
import { type CommonOptions, type Context, command, withContext } from "./context.js";
import { addLimitOptions } from "./limit-options.js";
import { wholeNumber } from "./output.js";
import {
  type EndingSignals,
  endInOrder,
  listenForSignals,
  logOf,
  type ServingOptions,
  startServing,
} from "./serving.js";
import { startWorkers } from "./workers.js";

interface ServeOptions extends CommonOptions, ServingOptions {
  readonly workers: number;
  readonly stopGrace: number;
}

/** `serve`: the HTTP service. */
export const serveCommand = (): Command =>
  addLimitOptions(
    addAddressOptions(command("serve", "Run the service, on its own built-in PostgreSQL or on one of yours")),
  )
    .addOption(
      new Option("--environment <name>", "what this instance is")
        .env("GIFTCARD_ENVIRONMENT")
        .choices(environments)
        .default("live"),
    )
    .addOption(
      new Option(
        "--metrics-port <port>",
        "serve /metrics on this port; 0 takes a free one; left out, they are nowhere",
      )
        .env("GIFTCARD_METRICS_PORT")
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--metrics-host <address>", "listen for /metrics on this address")
        .env("GIFTCARD_METRICS_HOST")
        .default(DEFAULT_METRICS_HOST),
    )
    .addOption(
      new Option("--log-level <level>", "info writes a line for every call, warn and error for failures only")
        .env("GIFTCARD_LOG_LEVEL")
        .choices(logLevels)
        .default("info"),
    )
    .addOption(
      new Option("--workers <number>", "so many processes answer on the one port")
        .env("GIFTCARD_WORKERS")
        .default(1)
        .argParser(wholeNumber(1, 64)),
    )
    .addOption(
      new Option(
        "--stop-grace <seconds>",
        "after SIGTERM go on for so long while /readyz says 503, and then keep idle connections for as long",
      )
        .env("GIFTCARD_STOP_GRACE")
        .default(3)
        .argParser(wholeNumber(0, 600)),
    )
    .addHelpText(
      "after",
      "\nPrints one line with its address when it is ready. SIGTERM: after the grace answers what is in flight, stops the\n" +
        "built-in database, and ends with 0; SIGINT, or a second SIGTERM, without the grace. With --database-url, run `migrate` first and set GIFTCARD_SECRETS_FILE.",
    )
    .action(async (options: ServeOptions) => {
      const signals = listenForSignals();
      const log = logOf(options);
      if (options.databaseUrl === undefined && !existsSync(options.dataDir)) await requireAddresses(options);
      await withContext(options, (context) => serve(options, context, log, signals), {
        role: "serve",
        onBroken: (error) => log.failure({ error }),
      });
    });

/** Nothing is made where nobody can be served. */
async function requireAddresses({ host, port, metricsHost, metricsPort }: ServeOptions): Promise<void> {
  await requireAddress(host, port);
  if (metricsPort) await requireAddress(metricsHost, metricsPort);
}

async function serve(
  options: ServeOptions,
  { pool, out, databaseUrl, databaseLost, secretsFile, keyring }: Context,
  log: Log,
  { asked, atOnce }: EndingSignals,
): Promise<void> {
  const { environment, workers, stopGrace } = options;
  const parts = { pool, databaseUrl, secretsFile: secretsFile(), log };
  // Makes the file where there is none yet, before several processes look for it.
  await keyring();
  const service =
    workers > 1 ? await startWorkers(workers, options, parts) : await startServing(options, parts);
  const { url, metricsUrl } = service;
  out.result(
    { url, metrics_url: metricsUrl, environment, pid: process.pid },
    `giftcard-service (${environment}) is ready at ${url}${metricsUrl ? `, metrics at ${metricsUrl}` : ""}`,
  );
  try {
    await Promise.race([asked, databaseLost]);
  } catch (error) {
    // Nothing can be done without it. Whoever watches over processes starts this one again, and the database with it.
    await service.close(0);
    throw error;
  }
  await endInOrder(service, stopGrace * 1000, atOnce);
}
