import { cents, formatCents, Secret } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import type pg from "pg";
import { DEFAULT_PREFIX, MAX_PREFIX_LENGTH } from "../card-number.js";
import type { Keyring } from "../keyring.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Card, issueCards, listMovements, type Movement, setBlocked, showCard } from "../store/cards.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { wholeNumber } from "./output.js";
import { readLine } from "./stdin.js";

interface IssueOptions extends CommonOptions {
  readonly balance: number;
  readonly expires?: string;
  readonly count?: number;
  readonly prefix: string;
}

const MAX_BALANCE_CENTS = 100_000_000;
const MAX_COUNT = 10_000;
const DEFAULT_YEARS = 3;

/** Parses an option that is a day. */
export function day(text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  const real = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime());
  if (!real || date.toISOString().slice(0, 10) !== text || text < "1900-01-01") {
    throw new InvalidArgumentError("Give a date that exists, yyyy-mm-dd.");
  }
  return text;
}

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

const issue = () =>
  command("issue", "Issue cards; their numbers and PINs are shown only now")
    .requiredOption("--balance <cents>", "what each card holds, in cents", wholeNumber(0, MAX_BALANCE_CENTS))
    .option("--expires <yyyy-mm-dd>", `the last day that they work (default: in ${DEFAULT_YEARS} years)`, day)
    .option(
      "--count <number>",
      "issue so many; with --json the answer is then an array",
      wholeNumber(1, MAX_COUNT),
    )
    .option(
      "--prefix <digits>",
      `what the numbers begin with, at most ${MAX_PREFIX_LENGTH} digits`,
      prefix,
      DEFAULT_PREFIX,
    )
    .action((options: IssueOptions) =>
      withContext(options, async ({ pool, out, keyring }) => {
        const { balance, count = 1, expires: expiryDate = inYears(DEFAULT_YEARS) } = options;
        if (balance === 0) out.warn("a card of 0 cents cannot pay for anything");
        if (expiryDate < inYears(0)) out.warn(`${expiryDate} is in the past: the card has expired already`);
        const order = { count, balanceCents: cents(balance), expiryDate, prefix: options.prefix };
        const cards = await issueCards(pool, await keyring(), order);
        const shown = cards.map((card) => ({
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

type Change = (pool: pg.Pool, keys: Keyring, cardNumber: Secret) => Promise<Card | undefined>;

const onOneCard = (name: string, description: string, change: Change) =>
  command(name, description)
    .argument(
      "[cardnumber]",
      "the card; `-` reads it from standard input, left out it is GIFTCARD_CARDNUMBER",
    )
    .action(async (argument: string | undefined, options: CommonOptions & { history?: boolean }) => {
      const given =
        argument === "-" ? await readLine("the card number") : (argument ?? process.env.GIFTCARD_CARDNUMBER);
      if (!given) throw new OperatorError("Give a card number, `-` or GIFTCARD_CARDNUMBER.", exitCodes.usage);
      await withContext(options, async ({ pool, out, keyring }) => {
        const [keys, cardNumber] = [await keyring(), new Secret(given.replace(/[\s-]/g, ""))];
        const card = await change(pool, keys, cardNumber);
        if (!card) throw new OperatorError("There is no card of this number.", exitCodes.notFound);
        const { cardStatus, balanceCents, expiryDate, lastFour } = card;
        const history = options.history ? await listMovements(pool, keys, cardNumber) : undefined;
        out.result(
          {
            card_status: cardStatus,
            balance: balanceCents,
            currency: "EUR",
            expiry_date: expiryDate,
            last_four: lastFour,
            ...(history && { history: history.map(shownMovement) }),
          },
          [
            `card ending in ${lastFour}: ${cardStatus}, ${formatCents(balanceCents)} EUR, expires ${expiryDate}`,
            ...(history ?? []).map(movementLine),
          ].join("\n"),
        );
      });
    });

const shownMovement = ({ at, kind, amountCents, companyId, balanceCents }: Movement) => ({
  at,
  kind,
  amount: amountCents,
  company_id: companyId,
  balance: balanceCents,
});

const movementLine = ({ at, kind, amountCents, companyId, balanceCents }: Movement) =>
  [
    at.toISOString(),
    kind.padEnd(7),
    `${amountCents < 0 ? "" : "+"}${formatCents(amountCents)}`.padStart(12),
    formatCents(balanceCents).padStart(12),
    companyId === null ? "" : `company ${companyId}`,
  ]
    .join("  ")
    .trimEnd();

/** `card issue|show|block|unblock` */
export const cardCommand = (group: Command): Command =>
  group
    .addCommand(issue())
    .addCommand(
      onOneCard("show", "Show a card's status, balance and expiry date", showCard).option(
        "--history",
        "also every movement of its money, oldest first: time, kind, amount, balance after it, company",
      ),
    )
    .addCommand(
      onOneCard("block", "Block a card", (pool, keys, number) => setBlocked(pool, keys, number, true)),
    )
    .addCommand(
      onOneCard("unblock", "Unblock a card", (pool, keys, number) => setBlocked(pool, keys, number, false)),
    );
