import { type Command, Option } from "commander";
import { wholeNumber } from "./output.js";

/** Where the service is. */
export interface AddressOptions {
  readonly port: number;
  readonly host: string;
}

/** Adds the options for where the service is. */
export const addAddressOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--port <port>", "the service's port; to serve, 0 takes a free one")
        .env("GIFTCARD_PORT")
        .default(8080)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--host <address>", "the address that it listens on")
        .env("GIFTCARD_HOST")
        .default("127.0.0.1"),
    );
