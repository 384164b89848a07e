import { type Command, Option } from "commander";
import { wholeNumber } from "./output.js";

/** The address of the service. */
export interface AddressOptions {
  readonly port: number;
  readonly host: string;
}

/** Adds the options for the service's address. */
export const addAddressOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--port <port>", "the service's port; `serve` chooses a free one for 0")
        .env("GIFTCARD_PORT")
        .default(8080)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option("--host <address>", "the address that the service listens on")
        .env("GIFTCARD_HOST")
        .default("127.0.0.1"),
    );
