import { type Cents, formatCents } from "@giftcard-pay/client/contract";
import { InvalidArgumentError } from "commander";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import { type Card, findCard, listMovements, lockedUntil, type Movement } from "../store/card-lookup.js";
import { type FoundCard, type FoundMovement, searchStatement } from "../store/card-search.js";
import { addCardArgument, type CardOptions, readCardReference } from "./card-argument.js";
import { command } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { day, wholeCents } from "./output.js";
import { formatOf, printRows } from "./rows.js";

export const show = () =>
  addCardArgument(command("show", "Show a card's status, balance and expiry date"))
    .option("--history", "also list the card's movements, oldest first: time, kind, amount, balance, company")
    .action(async (argument: string | undefined, options: CommonOptions & CardOptions & { history?: true }) => {
      const reference = await readCardReference(argument, options);
      await withContext(options, async ({ pool, out, keyring }) => {
        const keys = await keyring();
        const card = await findCard(pool, keys, reference);
        const history = options.history && (await listMovements(pool, card.id));
        // Guesses are counted by card number, so the lock is shown only to those who know the number.
        const until = "cardNumber" in reference ? await lockedUntil(pool, keys, reference.cardNumber) : undefined;
        const end = until instanceof Date ? until.toISOString() : "`card unlock`";
        const lock = until ? `, locked by wrong PINs until ${end}` : "";
        out.result(
          {
            ...shownCard(card),
            ...(until !== undefined && { locked_until: until }),
            ...(history && { history }),
          },
          [cardLine(card) + lock, ...(history ?? []).map(movementLine)].join("\n"),
        );
      });
    });

/** Formats a card for `--json`. */
export const shownCard = (card: Card) => ({
  card: card.id,
  card_status: card.cardStatus,
  balance: card.balanceCents,
  currency: "EUR",
  expiry_date: card.expiryDate,
  last_four: card.lastFour,
  blocked: card.isBlocked,
  inactive_balance: card.inactiveCents,
  reissued_as: card.reissuedAs,
  batch: card.batchId,
});

export const cardLine = ({ id, lastFour, cardStatus, balanceCents, expiryDate, ...more }: Card) =>
  [
    `card ${id} ending in ${lastFour}: ${cardStatus}, ${formatCents(balanceCents)} EUR, expires ${expiryDate}`,
    more.inactiveCents !== null && `not sold yet: activation puts ${formatCents(more.inactiveCents)} EUR on it`,
    more.reissuedAs !== null && `reissued as card ${more.reissuedAs}`,
  ]
    .filter(Boolean)
    .join(", ");

const movementLine = ({ at, kind, amount, company_id, balance, other_card }: Movement) =>
  [
    at.toISOString(),
    kind.padEnd(7),
    signed(amount).padStart(12),
    formatCents(balance).padStart(12),
    company_id === null ? "" : `company ${company_id}`,
    other_card === null ? "" : `card ${other_card}`,
  ]
    .join("  ")
    .trimEnd();

export const signed = (amount: Cents) => `${amount < 0 ? "" : "+"}${formatCents(amount)}`;

function lastFour(text: string): string {
  if (!/^[A-Za-z0-9]{1,4}$/.test(text)) throw new InvalidArgumentError("Give the last four characters of the number.");
  return text;
}

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
    .run(({ pool }, { lastFour, amount: amountCents, on, ...options }) =>
      printRows<FoundCard>(pool, {
        statement: searchStatement({ lastFour, amountCents, day: on }),
        format: formatOf(options),
        wire: ({ movements, ...card }) => ({
          ...shownCard(card),
          movements: movements.map((movement) => ({ ...movement, at: new Date(movement.at) })),
        }),
        line: ({ movements, ...card }) => [cardLine(card), ...movements.map(foundLine)].join("\n"),
        none: "no card matches",
      }),
    );

const foundLine = ({ at, kind, amount, company_id, company }: FoundMovement) =>
  [
    `  ${new Date(at).toISOString()}`,
    kind.padEnd(7),
    signed(amount).padStart(12),
    company_id === null ? "" : `company ${company_id} ${company}`,
  ]
    .join("  ")
    .trimEnd();
