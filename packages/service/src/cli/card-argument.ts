import { Secret } from "@giftcard-pay/client/contract";
import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { CardReference } from "../store/card-changes.js";
import { identifier } from "./output.js";
import { readLine } from "./stdin.js";

/** How a command names its card when it isn't by number. */
export interface CardOptions {
  readonly card?: number;
}

/** Adds the argument of a card number. */
export const addCardNumber = (command: Command): Command =>
  command.argument(
    "[cardnumber]",
    "the card; `-` reads it from standard input, left out it is GIFTCARD_CARDNUMBER",
  );

/** Adds the ways in which an operator names a card: its number, or `--card` with its id. */
export const addCardArgument = (command: Command): Command =>
  addCardNumber(command).option("--card <id>", "the card by its id in place of its number", identifier);

/**
 * The card number, spaces and dashes left out; undefined where none was given.
 *
 * @param argument as it stands on the command line
 */
export async function readCardNumber(argument: string | undefined): Promise<Secret | undefined> {
  const given =
    argument === "-" ? await readLine("the card number") : (argument ?? process.env.GIFTCARD_CARDNUMBER);
  return given ? new Secret(given.replace(/[\s-]/g, "")) : undefined;
}

/** @throws {OperatorError} when no card is named, or both ways are used */
export async function readCardReference(
  argument: string | undefined,
  { card: cardId }: CardOptions,
): Promise<CardReference> {
  if (cardId !== undefined && argument === undefined) return { cardId };
  const cardNumber = cardId === undefined ? await readCardNumber(argument) : undefined;
  if (cardNumber) return { cardNumber };
  throw new OperatorError(
    "Name one card: its number, `-`, GIFTCARD_CARDNUMBER, or --card with its id.",
    exitCodes.usage,
  );
}
