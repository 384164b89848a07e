import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type BulkOutcome, type CardFailure, type CardSelection, changeCards } from "../store/bulk-change.js";
import type { CardChange } from "../store/card-changes.js";
import type { CardOptions } from "./card-argument.js";
import { readNamedCards } from "./card-rows.js";
import type { DatabaseCommand } from "./command.js";
import type { Context } from "./context.js";
import { identifier } from "./output.js";

export interface BulkOptions {
  readonly batch?: number;
  readonly file?: string;
  readonly dryRun: boolean;
  readonly skipFailed: boolean;
}

/** The number of failures that are listed as text. `--json` lists more. */
const LISTED_FAILURES = 100;

export const addBulkOptions = (command: DatabaseCommand): DatabaseCommand =>
  command
    .option("--batch <id>", "all cards of this batch (see `card batches`), instead of one card", identifier)
    .option(
      "--file <csv>",
      "the cards of this file, whose first line names a column cardnumber, or card with ids; instead of one card",
    )
    .option("--dry-run", "with --batch or --file: judge each card, but change none", false)
    .option("--skip-failed", "with --batch or --file: change the other cards if some can't be changed", false)
    .addHelpText(
      "after",
      "\nMany cards are changed in one transaction. If one can't be changed, none is, and each failure is listed, unless you\n" +
        "give --skip-failed. Cards that were reissued are closed: name their replacements.",
    );

/**
 * Returns the cards of `--batch` or `--file`; undefined if the command is for one card.
 *
 * @throws {OperatorError} if the options contradict each other
 */
export function selectionOf(
  argument: string | undefined,
  { card, batch, file, dryRun, skipFailed }: CardOptions & BulkOptions,
): CardSelection | undefined {
  if (batch === undefined && file === undefined) {
    if (!dryRun && !skipFailed) return undefined;
    throw new OperatorError("--dry-run and --skip-failed need --batch or --file.", exitCodes.usage);
  }
  const named = [argument, card, batch, file].filter((one) => one !== undefined);
  if (named.length > 1)
    throw new OperatorError("Name a card, --batch or --file, but only one of them.", exitCodes.usage);
  return batch !== undefined ? { batchId: batch } : { read: (onFault) => readNamedCards(file as string, onFault) };
}

export interface BulkCommand {
  readonly selection: CardSelection;
  readonly change: CardChange;
  /** The result, such as "blocked". */
  readonly participle: string;
  readonly options: BulkOptions;
  /** Wraps the transaction, such as with a file of new cards. */
  readonly around?: ((work: () => Promise<BulkOutcome>) => Promise<BulkOutcome>) | undefined;
  /** Added to the answer. */
  readonly further?: Readonly<Record<string, unknown>>;
}

export async function changeMany(
  { pool, out, keyring, act }: Context,
  { selection, change, participle, options, around = (work) => work(), further = {} }: BulkCommand,
): Promise<void> {
  const { batch, file, dryRun: isDryRun, skipFailed: skipsFailed } = options;
  const order = { selection, change, isDryRun, skipsFailed, onProgress: out.progress("cards") };
  const keys = await keyring();
  const outcome = await around(() => changeCards(pool, keys, order, act));
  const { cards, changed, unchanged, failed, isReadable, balanceCents, failures } = outcome;
  const name = batch === undefined ? (file as string) : `batch ${batch}`;
  if (cards === 0) throw new OperatorError(`${name} has no cards.`, exitCodes.usage);
  if (changed === 0 && failed === 0 && change.refuseRepetition)
    throw new OperatorError(`All cards of ${name} are already ${participle}.`, exitCodes.conflict);
  const named = { ...(batch === undefined ? { file } : { batch }), cards };
  const failing = { failed, failures: failures.map(({ line, cardId: card, reason }) => ({ line, card, reason })) };
  if (failed > 0 && (changed === 0 || !skipsFailed || !isReadable)) {
    const what = `${failed} of ${cards} cards can't be ${participle}. Nothing was changed:`;
    throw new OperatorError([what, ...linesOf(outcome)].join("\n"), exitCodes.conflict, { ...named, ...failing });
  }
  if (failed > 0) out.warn([`${failed} of ${cards} cards can't be ${participle}:`, ...linesOf(outcome)].join("\n"));
  const rest = unchanged > 0 ? `; ${unchanged} already were` : "";
  const done = isDryRun ? `can be ${participle}; nothing was changed` : participle;
  const answer = { ...named, changed, unchanged, ...failing, balance: balanceCents, dry_run: isDryRun, ...further };
  out.result(answer, `${name}: ${changed} cards with ${formatCents(balanceCents)} EUR ${done}${rest}`);
}

function linesOf({ failed, failures }: BulkOutcome): string[] {
  const lines = failures.slice(0, LISTED_FAILURES).map(lineOf);
  return failed > LISTED_FAILURES ? [...lines, `and ${failed - LISTED_FAILURES} more`] : lines;
}

const lineOf = ({ line, reason }: CardFailure): string => (line === null ? reason : `line ${line}: ${reason}`);
