import { Secret } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { readLine } from "./stdin.js";

/** How a command gets a password. */
export interface PasswordOptions {
  readonly password?: string;
  readonly passwordStdin?: boolean;
}

/** Adds the ways to give a password. */
export const addPasswordOptions = (command: Command): Command =>
  command
    .option("--password <password>", "the account's password; others on this machine may see it, so better:")
    .option("--password-stdin", "read the password from standard input (or set GIFTCARD_PASSWORD)");

/** @throws {OperatorError} when none was given */
export async function readPassword({ password, passwordStdin }: PasswordOptions): Promise<Secret> {
  const given = passwordStdin ? await readLine("the password") : (password ?? process.env.GIFTCARD_PASSWORD);
  if (given) return new Secret(given);
  throw new OperatorError(
    "Give a password: --password-stdin, GIFTCARD_PASSWORD or --password.",
    exitCodes.usage,
  );
}

/** Parses an email address. The Basic scheme ends it at the first colon. */
export function email(text: string): string {
  if (!/^[^\s@:]+@[^\s@:]+$/.test(text) || text.length > 254)
    throw new InvalidArgumentError("Give an email address.");
  return text;
}
