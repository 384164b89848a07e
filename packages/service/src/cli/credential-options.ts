import { Secret } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { isPrintable } from "./output.js";
import { readLine } from "./stdin.js";

/** The options for a password. */
export interface PasswordOptions {
  readonly password?: string;
  readonly passwordStdin?: boolean;
}

/** Adds the options for a password. */
export const addPasswordOptions = (command: Command): Command =>
  command
    .option("--password <password>", "the account's password, which others on this machine may see; better:")
    .option("--password-stdin", "read the password from standard input (or set GIFTCARD_PASSWORD)");

/**
 * Reads the password.
 *
 * @throws {OperatorError} if there is none
 */
export async function readPassword({ password, passwordStdin }: PasswordOptions): Promise<Secret> {
  const given = passwordStdin ? await readLine("the password") : (password ?? process.env.GIFTCARD_PASSWORD);
  if (given) return new Secret(given);
  throw new OperatorError("Give a password: --password-stdin, GIFTCARD_PASSWORD or --password.", exitCodes.usage);
}

/** Parses an email address, without a colon, which would end it in the Basic scheme. */
export function email(text: string): string {
  if (!/^[^\s@:]+@[^\s@:]+$/.test(text) || !isPrintable(text) || text.length > 254)
    throw new InvalidArgumentError("Give an email address.");
  return text;
}
