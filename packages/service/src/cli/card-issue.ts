import { cents, formatCents } from "@giftcard-pay/client/contract";
import { InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { DEFAULT_PREFIX, MAX_PREFIX_LENGTH } from "../secrets/card-number.js";
import { MAX_BALANCE_CENTS } from "../store/card-changes.js";
import { type IssuedCard, type IssueOrder, issueCards, issueTo } from "../store/card-issue.js";
import { CardFile } from "./card-file.js";
import { command, type DatabaseCommand } from "./command.js";
import type { Context } from "./context.js";
import { day, wholeCents, wholeNumber } from "./output.js";

interface IssueOptions {
  readonly balance: number;
  readonly expires?: string;
  readonly count?: number;
  readonly prefix: string;
  readonly inactive: boolean;
  readonly out?: string;
}

/** Maximum number of cards on standard output, and in a file. */
const MAX_SHOWN = 10_000;
const MAX_COUNT = 10_000_000;
const DEFAULT_YEARS = 3;

export const addPrefix = (command: DatabaseCommand): DatabaseCommand =>
  command.option(
    "--prefix <digits>",
    `the first digits of the card numbers, at most ${MAX_PREFIX_LENGTH}`,
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

export const issue = () =>
  addPrefix(command("issue", "Issue cards; numbers and PINs are shown only now"))
    .audited({ isReasonRequired: false })
    .requiredOption(
      "--balance <cents>",
      "the balance of each card, in cents: 2500 is 25.00",
      wholeCents(MAX_BALANCE_CENTS),
    )
    .option("--expires <yyyy-mm-dd>", `the last day of validity (default: in ${DEFAULT_YEARS} years)`, day)
    .option(
      "--count <number>",
      `the number of cards, as a batch; more than ${MAX_SHOWN} need --out. With --json the answer is an array`,
      wholeNumber(1, MAX_COUNT),
    )
    .option("--inactive", "stock that is not sold yet: empty until `card activate`", false)
    .option("--out <file>", "write the cards into this CSV file, which only you can read")
    .run(async (context, { balance, prefix, inactive: isInactive, out: file, ...options }: IssueOptions) => {
      const { count = 1, expires: expiryDate = inYears(DEFAULT_YEARS) } = options;
      if (file === undefined && count > MAX_SHOWN)
        throw new OperatorError(`More than ${MAX_SHOWN} cards need a file. Give --out.`, exitCodes.usage);
      if (balance === 0 && !isInactive) context.out.warn("a card of 0 cents cannot pay for anything");
      if (expiryDate < inYears(0)) context.out.warn(`${expiryDate} is in the past: the card has already expired`);
      const order = { count, balanceCents: cents(balance), expiryDate, prefix, isInactive };
      if (file !== undefined) return issueToFile(context, order, file);
      await issueShown(context, order, { asArray: options.count !== undefined });
    });

async function issueShown({ pool, out, keyring, act }: Context, order: IssueOrder, { asArray }: { asArray: boolean }) {
  const cards = await issueCards(pool, await keyring(), order, act);
  const shown = cards.map((card) => ({
    card: card.id,
    cardnumber: card.cardNumber.reveal(),
    pin: card.pin.reveal(),
    balance: order.balanceCents,
    expiry_date: card.expiryDate,
  }));
  out.result(
    asArray ? shown : shown[0],
    shown.map((one) => `cardnumber ${one.cardnumber}  pin ${one.pin}  card ${one.card}, ${worthOf(order)}`).join("\n"),
  );
}

/** Describes what each card is worth, so that a wrong amount is noticed. */
const worthOf = ({ balanceCents, expiryDate, isInactive }: IssueOrder) =>
  `${formatCents(balanceCents)} EUR${isInactive ? " once it is activated" : ""}, expires ${expiryDate}`;

async function issueToFile({ pool, out, keyring, act }: Context, order: IssueOrder, target: string): Promise<void> {
  const { count, balanceCents, expiryDate, isInactive } = order;
  const file = new CardFile<IssuedCard>(target, {
    columns: ["card", "batch", "cardnumber", "pin", "balance", "expiry_date"],
    cells: ({ id, cardNumber, pin }, batch) => [id, batch, cardNumber.reveal(), pin.reveal(), balanceCents, expiryDate],
    proof: "`card batches` lists the batch in the file",
  });
  const keys = await keyring();
  const onProgress = out.progress("cards");
  const batchId = await file.fill(() => issueTo(file, pool, keys, { ...order, onProgress }, act));
  out.result(
    {
      batch: batchId,
      cards: count,
      balance: balanceCents,
      expiry_date: expiryDate,
      inactive: isInactive,
      file: target,
    },
    `${count === 1 ? "1 card" : `${count} cards`} in ${target}${batchId === null ? "" : `, batch ${batchId}`}, each ${worthOf(order)}`,
  );
}
