import { formatCents } from "@giftcard-pay/client/contract";
import { InvalidArgumentError } from "commander";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import { type FoundCard, type FoundMovement, searchStatement } from "../store/card-search.js";
import { cardLine, shownCard } from "./card-show.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { day, wholeCents } from "./output.js";
import { formatOf, printRows } from "./rows.js";

interface FindOptions extends CommonOptions {
  readonly lastFour: string;
  readonly amount?: number;
  readonly on?: string;
}

function lastFour(text: string): string {
  if (!/^[A-Za-z0-9]{1,4}$/.test(text)) throw new InvalidArgumentError("Give the last four characters of the number.");
  return text;
}

/** `card find` */
export const find = () =>
  command("find", "Find a card by the last four digits of its number, and by the amount and day of a movement")
    .requiredOption("--last-four <digits>", "the last four digits of the card number", lastFour)
    .option(
      "--amount <cents>",
      "the amount that was taken, returned, added, or requested by a shop, in cents",
      wholeCents(MAX_BALANCE_CENTS),
    )
    .option("--on <yyyy-mm-dd>", "the day of that movement, by the clock in Amsterdam", day)
    .addHelpText("after", "\nOne of 10,000 cards has the same last four digits, so give an amount or a day, too.")
    .action(({ lastFour, amount: amountCents, on, ...options }: FindOptions) =>
      withContext(options, ({ pool }) =>
        printRows<FoundCard>(pool, {
          statement: searchStatement({ lastFour, amountCents, day: on }),
          format: formatOf(options),
          wire: ({ movements, ...card }) => ({ ...shownCard(card), movements: movements.map(shown) }),
          line: ({ movements, ...card }) => [cardLine(card), ...movements.map(movementLine)].join("\n"),
          none: "no card matches",
        }),
      ),
    );

const shown = ({ id, at, kind, amountCents, companyId, company }: FoundMovement) => ({
  id,
  at: new Date(at).toISOString(),
  kind,
  amount: amountCents,
  company_id: companyId,
  company,
});

const movementLine = ({ at, kind, amountCents, companyId, company }: FoundMovement) =>
  [
    `  ${new Date(at).toISOString()}`,
    kind.padEnd(7),
    `${amountCents < 0 ? "" : "+"}${formatCents(amountCents)}`.padStart(12),
    companyId === null ? "" : `company ${companyId} ${company}`,
  ]
    .join("  ")
    .trimEnd();
