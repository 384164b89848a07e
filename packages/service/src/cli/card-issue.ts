import { cents } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { DEFAULT_PREFIX, MAX_PREFIX_LENGTH } from "../card-number.js";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import { issueCards } from "../store/card-issue.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { day, wholeNumber } from "./output.js";

interface IssueOptions extends CommonOptions, ActOptions {
  readonly balance: number;
  readonly expires?: string;
  readonly count?: number;
  readonly prefix: string;
}

const MAX_COUNT = 10_000;
const DEFAULT_YEARS = 3;

/** Adds the option of what new numbers begin with. */
export const addPrefix = (command: Command): Command =>
  command.option(
    "--prefix <digits>",
    `what the numbers begin with, at most ${MAX_PREFIX_LENGTH} digits`,
    prefix,
    DEFAULT_PREFIX,
  );

function prefix(text: string): string {
  if (!/^\d*$/.test(text) || text.length > MAX_PREFIX_LENGTH) {
    throw new InvalidArgumentError(`Give at most ${MAX_PREFIX_LENGTH} digits.`);
  }
  return text;
}

function inYears(years: number): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return date.toISOString().slice(0, 10);
}

/** `card issue` */
export const issue = () =>
  addActOptions(addPrefix(command("issue", "Issue cards; their numbers and PINs are shown only now")), {
    isReasonRequired: false,
  })
    .requiredOption("--balance <cents>", "what each card holds, in cents", wholeNumber(0, MAX_BALANCE_CENTS))
    .option("--expires <yyyy-mm-dd>", `the last day that they work (default: in ${DEFAULT_YEARS} years)`, day)
    .option(
      "--count <number>",
      "issue so many; with --json the answer is then an array",
      wholeNumber(1, MAX_COUNT),
    )
    .action((options: IssueOptions) =>
      withContext(options, async ({ pool, out, keyring }) => {
        const { balance, count = 1, expires: expiryDate = inYears(DEFAULT_YEARS) } = options;
        if (balance === 0) out.warn("a card of 0 cents cannot pay for anything");
        if (expiryDate < inYears(0)) out.warn(`${expiryDate} is in the past: the card has expired already`);
        const order = { count, balanceCents: cents(balance), expiryDate, prefix: options.prefix };
        const cards = await issueCards(pool, await keyring(), order, actOf(options));
        const shown = cards.map((card) => ({
          card: card.id,
          cardnumber: card.cardNumber.reveal(),
          pin: card.pin.reveal(),
          balance,
          expiry_date: card.expiryDate,
        }));
        out.result(
          options.count === undefined ? shown[0] : shown,
          shown
            .map((card) => `cardnumber ${card.cardnumber}  pin ${card.pin}  expires ${card.expiry_date}`)
            .join("\n"),
        );
      }),
    );
