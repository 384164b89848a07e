import type { Cents } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import {
  activating,
  adjusting,
  blocking,
  type CardChange,
  changeCard,
  extending,
  MAX_BALANCE_CENTS,
  unlockCard,
} from "../store/card-changes.js";
import {
  addCardArgument,
  addCardNumber,
  type CardOptions,
  readCardNumber,
  readCardReference,
} from "./card-argument.js";
import { addBulkOptions, type BulkOptions, changeMany, selectionOf } from "./card-bulk.js";
import { reissue } from "./card-reissue.js";
import { cardLine, shownCard } from "./card-show.js";
import { command, type DatabaseCommand } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { day } from "./output.js";

/** A command that makes the same change to one card or to many. */
interface ChangeCommand<Options> {
  readonly name: string;
  readonly description: string;
  /** The result, such as "blocked". */
  readonly participle: string;
  readonly change: (options: Options) => CardChange;
  readonly addOptions?: (command: DatabaseCommand) => DatabaseCommand;
  readonly isReasonRequired?: boolean;
}

/** Creates a command that changes one card and shows it afterwards, or that changes many. */
function cardChange<Options extends object>({
  name,
  description,
  participle,
  change,
  addOptions = (added) => added,
  isReasonRequired = true,
}: ChangeCommand<Options>): Command {
  return addBulkOptions(addOptions(addCardArgument(command(name, description))))
    .audited({ isReasonRequired })
    .action(async (argument: string | undefined, options: CommonOptions & CardOptions & BulkOptions & Options) => {
      const selection = selectionOf(argument, options);
      if (selection)
        return withContext(options, (context) =>
          changeMany(context, { selection, change: change(options), participle, options }),
        );
      const reference = await readCardReference(argument, options);
      return withContext(options, async ({ pool, out, keyring, act }) => {
        const card = await changeCard(pool, await keyring(), reference, change(options), act);
        out.result(shownCard(card), cardLine(card));
      });
    });
}

/** Parses an amount to add, or with a minus to take off. */
function signedCents(text: string): Cents {
  const value = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value === 0 || Math.abs(value) > MAX_BALANCE_CENTS)
    throw new InvalidArgumentError(
      `Give whole cents from -${MAX_BALANCE_CENTS} to ${MAX_BALANCE_CENTS}, but not 0: 2.50 is 250.`,
    );
  return value as Cents;
}

const block = () => {
  const change = () => blocking(true);
  return cardChange({ name: "block", description: "Block a card, or many", participle: "blocked", change });
};

const unblock = () => {
  const change = () => blocking(false);
  return cardChange({ name: "unblock", description: "Unblock a card, or many", participle: "unblocked", change });
};

const adjust = () =>
  cardChange<{ by: Cents }>({
    name: "adjust",
    description: "Add cents to a card or take them off, or to each of many, with a row in the ledger",
    participle: "adjusted",
    change: ({ by }) => adjusting(by),
    addOptions: (added) =>
      added
        .requiredOption(
          "--by <cents>",
          "the cents to add, or with a minus to take off; the balance stays 0 or more",
          signedCents,
        )
        .addHelpText("after", "\nEach run makes a further adjustment. `card show --history` lists them."),
  });

const extend = () =>
  cardChange<{ expires: string }>({
    name: "extend",
    description: "Extend the validity of a card, or of many, even if it has expired",
    participle: "extended",
    change: ({ expires }) => extending(expires),
    addOptions: (added) => added.requiredOption("--expires <yyyy-mm-dd>", "the last day of validity", day),
  });

const activate = () =>
  cardChange({
    name: "activate",
    description: "Activate a sold card, or many: puts the amount on it that it was issued for",
    participle: "activated",
    change: () => activating,
    isReasonRequired: false,
  });

const unlock = () =>
  addCardNumber(command("unlock", "Remove the lock of a card number, and its count of wrong PINs"))
    .audited({ isReasonRequired: true })
    .action(async (argument: string | undefined, options: CommonOptions) => {
      const cardNumber = await readCardNumber(argument);
      if (!cardNumber) throw new OperatorError("Give a card number, `-` or GIFTCARD_CARDNUMBER.", exitCodes.usage);
      await withContext(options, async ({ pool, out, keyring, act }) => {
        const { card, wasLocked } = await unlockCard(pool, await keyring(), cardNumber, act);
        out.result(
          { ...shownCard(card), was_locked: wasLocked },
          `${cardLine(card)}, ${wasLocked ? "unlocked" : "was not locked"}`,
        );
      });
    });

export const cardChanges = (): Command[] => [activate(), block(), unblock(), adjust(), extend(), unlock(), reissue()];
