import { formatCents } from "@giftcard-pay/client/contract";
import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { LineFault } from "../store/bulk-change.js";
import { GOOD_PIN_LENGTH, type ImportOutcome, importCards } from "../store/card-import.js";
import { batchesStatement, type CardBatch } from "../store/card-issue.js";
import { readNewCards } from "./card-rows.js";
import { command } from "./command.js";
import { formatOf, printRows } from "./rows.js";

const importFile = () =>
  command("import", "Import existing cards as a batch, all or none")
    .audited({ isReasonRequired: false })
    .argument("<file>", "a CSV file whose first line names the columns cardnumber, pin, balance, expiry_date")
    .option("--inactive", "the cards are not sold yet: `card activate` puts their balance on them", false)
    .option("--dry-run", "check every line, but import nothing", false)
    .addHelpText(
      "after",
      "\nBalances are whole cents, dates yyyy-mm-dd. If any line is faulty, nothing is imported, and the first hundred\n" +
        "faults are listed by line, without the lines' content. Delete the file afterwards: it holds numbers and PINs.",
    )
    .run(async ({ pool, out, keyring, act }, file: string, options: { dryRun: boolean; inactive: boolean }) => {
      const { dryRun: isDryRun, inactive: isInactive } = options;
      const read = (onFault: (fault: LineFault) => void) => readNewCards(file, onFault);
      const onProgress = (done: number, total?: number) =>
        out.progress(total ? "cards imported" : "lines read")(done, total);
      const outcome = await importCards(pool, await keyring(), { read, isInactive, isDryRun, onProgress }, act);
      refuseFaulty(outcome);
      const { batchId, cards, balanceCents, expired, shortPins } = outcome;
      if (expired > 0) out.warn(`${expired} of the cards have already expired`);
      if (shortPins > 0)
        out.warn(`${shortPins} cards have a PIN of fewer than ${GOOD_PIN_LENGTH} characters, which can be guessed`);
      const done = isDryRun ? "can be imported; nothing was imported" : `imported as batch ${batchId}`;
      out.result(
        { batch: batchId, cards, balance: balanceCents, expired, short_pins: shortPins, dry_run: isDryRun },
        `${cards} cards with ${formatCents(balanceCents)} EUR ${done}`,
      );
    });

const LISTED_FAULTS = 100;

/** @throws {OperatorError} that lists the first faulty lines */
function refuseFaulty({ faults: { length }, faults }: ImportOutcome): void {
  if (length === 0) return;
  const listed = faults.slice(0, LISTED_FAULTS);
  const lines = listed.map(({ line, fault }) => `line ${line}: ${fault}`);
  if (length > LISTED_FAULTS) lines.push(`and ${length - LISTED_FAULTS} more`);
  const what = `${length} lines are faulty. Nothing was imported:`;
  throw new OperatorError([what, ...lines].join("\n"), exitCodes.failed, { fault_count: length, faults: listed });
}

const batches = () =>
  command("batches", "List the batches of cards, with balances and unsold stock").run(({ pool }, options) =>
    printRows<CardBatch>(pool, {
      statement: batchesStatement,
      format: formatOf(options),
      line: ({ batch, origin, created_at, cards, balance, inactive_cards, inactive_balance }) =>
        [
          `batch ${batch}`,
          `${origin} ${created_at.toISOString()}`,
          `${cards} cards with ${formatCents(balance)} EUR`,
          `${inactive_cards} inactive for ${formatCents(inactive_balance)} EUR`,
        ].join("\t"),
      none: "no batches",
    }),
  );

export const cardStock = (): Command[] => [importFile(), batches()];
