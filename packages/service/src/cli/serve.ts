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
      // Loaded for it alone, so that every other command begins sooner.
      const { serve } = await import("./run-serve.js");
      await serve(options, signals);
    });
