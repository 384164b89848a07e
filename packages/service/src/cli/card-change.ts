import { type Cents, formatCents } from "@giftcard-pay/client/contract";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type pg from "pg";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import type { Act } from "../store/audit.js";
import {
  adjustCard,
  type Card,
  type CardReference,
  extendCard,
  MAX_BALANCE_CENTS,
  setBlocked,
  unlockCard,
} from "../store/card-changes.js";
import { reissueCard } from "../store/card-reissue.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import {
  addCardArgument,
  addCardNumber,
  type CardOptions,
  readCardNumber,
  readCardReference,
} from "./card-argument.js";
import { addPrefix } from "./card-issue.js";
import { cardLine, shownCard } from "./card-show.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { day } from "./output.js";

type ChangeOptions = CommonOptions & CardOptions & ActOptions;
type Change<Options> = (
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  options: Options,
  act: Act,
) => Promise<Card>;

/** Creates a command that changes one card, with a reason, and shows the card afterwards. */
function cardChange<Options extends object>(
  name: string,
  description: string,
  change: Change<Options>,
  addOptions = (added: Command) => added,
): Command {
  const made = addOptions(addCardArgument(command(name, description)));
  return addActOptions(made, { isReasonRequired: true }).action(
    async (argument: string | undefined, options: ChangeOptions & Options) => {
      const reference = await readCardReference(argument, options);
      await withContext(options, async ({ pool, out, keyring }) => {
        const card = await change(pool, await keyring(), reference, options, actOf(options));
        out.result(shownCard(card), cardLine(card));
      });
    },
  );
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

const block = (name: string, description: string, isBlocked: boolean) =>
  cardChange(name, description, (pool, keys, reference, _options, act) =>
    setBlocked(pool, keys, reference, isBlocked, act),
  );

const adjust = () =>
  cardChange<{ by: Cents }>(
    "adjust",
    "Add cents to a card, or take them off, with a row in the ledger",
    (pool, keys, reference, { by }, act) => adjustCard(pool, keys, reference, by, act),
    (added) =>
      added
        .requiredOption(
          "--by <cents>",
          "the cents to add, or with a minus to take off; the balance stays 0 or more",
          signedCents,
        )
        .addHelpText("after", "\nEach run makes a further adjustment. `card show --history` lists them."),
  );

const extend = () =>
  cardChange<{ expires: string }>(
    "extend",
    "Extend a card's validity, even if it has expired",
    (pool, keys, reference, { expires }, act) => extendCard(pool, keys, reference, expires, act),
    (added) => added.requiredOption("--expires <yyyy-mm-dd>", "the last day of validity", day),
  );

const unlock = () =>
  addActOptions(addCardNumber(command("unlock", "Remove the lock of a card number, and its count of wrong PINs")), {
    isReasonRequired: true,
  }).action(async (argument: string | undefined, options: CommonOptions & ActOptions) => {
    const cardNumber = await readCardNumber(argument);
    if (!cardNumber) throw new OperatorError("Give a card number, `-` or GIFTCARD_CARDNUMBER.", exitCodes.usage);
    await withContext(options, async ({ pool, out, keyring }) => {
      const { card, wasLocked } = await unlockCard(pool, await keyring(), cardNumber, actOf(options));
      out.result(
        { ...shownCard(card), was_locked: wasLocked },
        `${cardLine(card)}, ${wasLocked ? "unlocked" : "was not locked"}`,
      );
    });
  });

const reissue = () =>
  addActOptions(
    addPrefix(
      addCardArgument(
        command(
          "reissue",
          "Replace a card by one with a new number and PIN; moves the balance and closes the old card",
        ),
      ),
    ),
    { isReasonRequired: true },
  )
    .addHelpText(
      "after",
      "\nNumber and PIN are shown only now. Cancel tokens of the old card keep working: their money goes to the new card.\n" +
        "The new card has the old one's expiry date, and is not blocked.",
    )
    .action(async (argument: string | undefined, options: ChangeOptions & { prefix: string }) => {
      const reference = await readCardReference(argument, options);
      await withContext(options, async ({ pool, out, keyring }) => {
        const act = actOf(options);
        const { made, old } = await reissueCard(pool, await keyring(), reference, options.prefix, act);
        const [cardnumber, pin] = [made.cardNumber.reveal(), made.pin.reveal()];
        out.result(
          {
            card: made.id,
            cardnumber,
            pin,
            balance: old.balanceCents,
            expiry_date: made.expiryDate,
            replaces: old.id,
          },
          `cardnumber ${cardnumber}  pin ${pin}  expires ${made.expiryDate}  card ${made.id}, replaces card ${old.id}, ` +
            `balance ${formatCents(old.balanceCents)} EUR`,
        );
      });
    });

/** `card block|unblock|adjust|extend|unlock|reissue` */
export const cardChanges = (): Command[] => [
  block("block", "Block a card", true),
  block("unblock", "Unblock a card", false),
  adjust(),
  extend(),
  unlock(),
  reissue(),
];
