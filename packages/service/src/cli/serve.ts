import { type Command, Option } from "commander";
import { type LogLevel, logLevels, openLog } from "../log.js";
import { type Environment, startService } from "../service.js";
import { wholeNumber } from "./output.js";
import { type CommonOptions, command, withWorkplace } from "./workplace.js";

interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly logLevel: LogLevel;
}

/** `serve`: the HTTP service. */
export const serveCommand = (): Command =>
  command("serve", "Run the service, on its own built-in PostgreSQL or on one of yours")
    .addOption(
      new Option("--port <port>", "listen on this port; 0 takes a free one")
        .env("GIFTCARD_PORT")
        .default(8080)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--host <address>", "listen on this address").env("GIFTCARD_HOST").default("127.0.0.1"),
    )
    .addOption(
      new Option("--environment <name>", "what this instance is")
        .env("GIFTCARD_ENVIRONMENT")
        .choices(["live", "sandbox"])
        .default("live"),
    )
    .addOption(
      new Option("--metrics-port <port>", "serve /metrics on this port, and on no other; 0 takes a free one")
        .env("GIFTCARD_METRICS_PORT")
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--log-level <level>", "info writes a line for every call, warn and error for failures only")
        .env("GIFTCARD_LOG_LEVEL")
        .choices(logLevels)
        .default("info"),
    )
    .addHelpText(
      "after",
      "\nPrints one line with its address when it is ready. SIGTERM or SIGINT: answers what is in flight, stops the\n" +
        "built-in database, and ends with 0. With --database-url, run `migrate` first and set GIFTCARD_SECRETS_FILE.",
    )
    .action(async (options: ServeOptions) => {
      const stopped = new Promise<void>((resolve) => {
        for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
      });
      await withWorkplace(options, (workplace) => serve(options, workplace, stopped), { role: "serve" });
    });

async function serve(
  { host, port, environment, metricsPort, logLevel: level }: ServeOptions,
  { pool, out, keyring }: Parameters<Parameters<typeof withWorkplace>[1]>[0],
  stopped: Promise<void>,
): Promise<void> {
  const log = openLog({ level, environment });
  const service = await startService({
    pool,
    keys: await keyring(),
    environment,
    host,
    port,
    log,
    metricsPort,
  });
  const { url, metricsUrl } = service;
  out.result(
    { url, metrics_url: metricsUrl, environment, pid: process.pid },
    `giftcard-service (${environment}) is ready at ${url}${metricsUrl ? `, metrics at ${metricsUrl}` : ""}`,
  );
  await stopped;
  await service.close();
}
