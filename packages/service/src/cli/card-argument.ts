import { Secret } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { CardReference } from "../store/card-lookup.js";
import type { DatabaseCommand } from "./command.js";
import { identifier } from "./output.js";
import { readLine } from "./stdin.js";

export interface CardOptions {
  readonly card?: number;
}

export const addCardNumber = (command: DatabaseCommand): DatabaseCommand =>
  command.argument("[cardnumber]", "the card number; `-` reads it from standard input (default: GIFTCARD_CARDNUMBER)");

export const addCardArgument = (command: DatabaseCommand): DatabaseCommand =>
  addCardNumber(command).option("--card <id>", "the card's id, instead of its number", identifier);

/** Reads the card number, without spaces and dashes; undefined if there is none. */
export async function readCardNumber(argument: string | undefined): Promise<Secret | undefined> {
  const given = argument === "-" ? await readLine("the card number") : (argument ?? process.env.GIFTCARD_CARDNUMBER);
  return given ? new Secret(given.replace(/[\s-]/g, "")) : undefined;
}

/**
 * Reads the card that a command is for.
 *
 * @throws {OperatorError} if no card is named, or two ways are used
 */
export async function readCardReference(
  argument: string | undefined,
  { card: cardId }: CardOptions,
): Promise<CardReference> {
  if (cardId !== undefined && argument === undefined) return { cardId };
  const cardNumber = cardId === undefined ? await readCardNumber(argument) : undefined;
  if (cardNumber) return { cardNumber };
  throw new OperatorError(
    "Name one card: by its number, `-`, GIFTCARD_CARDNUMBER, or --card with its id.",
    exitCodes.usage,
  );
}
