import { type Command, Option } from "commander";
import { DEFAULT_METRICS_HOST } from "../http/server.js";
import { logLevels } from "../monitoring/log-level.js";
import { environments } from "../store/environment.js";
import { addAddressOptions } from "./address-options.js";
import { command } from "./context.js";
import { listenForSignals } from "./ending.js";
import { addLimitOptions } from "./limit-options.js";
import { wholeNumber } from "./output.js";
import type { ServeOptions } from "./run-serve.js";

/** `serve` */
export const serveCommand = (): Command =>
  addLimitOptions(addAddressOptions(command("serve", "Run the service, on its built-in PostgreSQL or on your own")))
    .addOption(
      new Option("--environment <name>", "the environment of this service")
        .env("GIFTCARD_ENVIRONMENT")
        .choices(environments)
        .default("live"),
    )
    .addOption(
      new Option(
        "--metrics-port <port>",
        "serve /metrics on this port; 0 chooses a free one (default: metrics are not served)",
      )
        .env("GIFTCARD_METRICS_PORT")
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--metrics-host <address>", "the address of the metrics port")
        .env("GIFTCARD_METRICS_HOST")
        .default(DEFAULT_METRICS_HOST),
    )
    .addOption(
      new Option("--log-level <level>", "info logs every call; warn and error log only failures")
        .env("GIFTCARD_LOG_LEVEL")
        .choices(logLevels)
        .default("info"),
    )
    .addOption(
      new Option("--workers <number>", "the number of processes that share the port")
        .env("GIFTCARD_WORKERS")
        .default(1)
        .argParser(wholeNumber(1, 64)),
    )
    .addOption(
      new Option(
        "--stop-grace <seconds>",
        "after SIGTERM, keep serving for this time while /readyz says 503, and then keep idle connections as long again",
      )
        .env("GIFTCARD_STOP_GRACE")
        .default(3)
        .argParser(wholeNumber(0, 600)),
    )
    .addHelpText(
      "after",
      "\nPrints one line with its address when it is ready. After SIGTERM and the grace period, it answers the calls in\n" +
        "progress, stops the built-in database, and exits with 0. SIGINT, or a second SIGTERM, skips the grace period.\n" +
        "With --database-url, run `migrate` first and set GIFTCARD_SECRETS_FILE.",
    )
    .action(async (options: ServeOptions) => {
      const signals = listenForSignals();
      // Loaded on demand, so that other commands start faster.
      const { serve } = await import("./run-serve.js");
      await serve(options, signals);
    });
