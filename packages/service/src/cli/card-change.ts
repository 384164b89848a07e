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

/** A command that changes one card, with a reason, and shows it as it is then. */
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

/** Parses an option that is an amount to add, or with a minus to take. */
function signedCents(text: string): Cents {
  const value = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value === 0 || Math.abs(value) > MAX_BALANCE_CENTS)
    throw new InvalidArgumentError(
      `Give whole cents that are not 0, from -${MAX_BALANCE_CENTS} to ${MAX_BALANCE_CENTS}: 2.50 is 250.`,
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
    "Put cents onto a card, or take them off, as a row of the ledger",
    (pool, keys, reference, { by }, act) => adjustCard(pool, keys, reference, by, act),
    (added) =>
      added
        .requiredOption("--by <cents>", "so many more, or with a minus less; never below zero", signedCents)
        .addHelpText(
          "after",
          "\nEach run is a further adjustment. `card show --history` shows those that were made.",
        ),
  );

const extend = () =>
  cardChange<{ expires: string }>(
    "extend",
    "Let a card work longer, also one that has expired",
    (pool, keys, reference, { expires }, act) => extendCard(pool, keys, reference, expires, act),
    (added) => added.requiredOption("--expires <yyyy-mm-dd>", "the last day that it works", day),
  );

const unlock = () =>
  addActOptions(addCardNumber(command("unlock", "Forget the wrong PINs of one number, and its lock")), {
    isReasonRequired: true,
  }).action(async (argument: string | undefined, options: CommonOptions & ActOptions) => {
    const cardNumber = await readCardNumber(argument);
    if (!cardNumber)
      throw new OperatorError("Give a card number, `-` or GIFTCARD_CARDNUMBER.", exitCodes.usage);
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
        command("reissue", "Replace a card: new number and PIN, its balance moved, the old one closed"),
      ),
    ),
    { isReasonRequired: true },
  )
    .addHelpText(
      "after",
      "\nNumber and PIN are shown only now. A cancel token of the old card works on, and its money goes to the new one.\n" +
        "The new card expires as the old one did, and is not blocked.",
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
          `cardnumber ${cardnumber}  pin ${pin}  expires ${made.expiryDate}  card ${made.id}, in place of card ${old.id} ` +
            `with its ${formatCents(old.balanceCents)} EUR`,
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
