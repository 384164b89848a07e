import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkLedger } from "../store/ledger-check.js";
import { resumeCheck } from "../store/ledger-resume.js";
import type { LedgerFault } from "../store/ledger-rules.js";
import { command } from "./command.js";
import type { Context } from "./context.js";
import { wholeNumber } from "./output.js";

export const checkCommand = () =>
  command(
    "check",
    "Check the ledger: every balance is the sum of its ledger rows, every used token has one reversal, and more",
  )
    .option("--resume", "verify only the rows that were added since the last such run", false)
    .option(
      "--seconds <number>",
      "with --resume: stop after this time, and go on in the next run",
      wholeNumber(1, 86_400),
      60,
    )
    .addHelpText(
      "after",
      `
Without --resume, all rows are checked. With it, rows that an earlier run verified are not checked again, but the rest of
--seconds is used to compare them with their digests, block after block, in rotation. A check of all rows compares all digests.

Exits with ${exitCodes.failed} and lists the rows if anything is wrong.`,
    )
    .run((context, { resume, seconds }: { resume: boolean; seconds: number }) =>
      resume ? checkNew(context, seconds) : checkAll(context),
    );

async function checkAll({ pool, out }: Context): Promise<void> {
  const { cards, ledgerRows, balanceCents, faults } = await checkLedger(pool, out.progress("rules checked"));
  const seen = { cards, ledger_rows: ledgerRows, balance: balanceCents };
  refuseFaults(faults, seen);
  out.result(
    { ok: true, ...seen, faults: [] },
    `The ledger is right: ${cards} cards with ${formatCents(balanceCents)} EUR, ${ledgerRows} ledger rows.`,
  );
}

async function checkNew({ pool, out }: Context, seconds: number): Promise<void> {
  const { newRows, through, isCurrent, recheckedThrough, faults } = await resumeCheck(
    pool,
    seconds,
    out.progress("new rows verified"),
  );
  const seen = { new_rows: newRows, through, current: isCurrent, rechecked_through: recheckedThrough };
  refuseFaults(faults, seen);
  out.result(
    { ok: true, ...seen, faults: [] },
    `${newRows} new ledger rows are right, up to row ${through}. ${
      isCurrent ? "All balances are right." : "Run it again: more rows are left, and the balances were not compared."
    }`,
  );
}

/** @throws {OperatorError} if there are faults */
function refuseFaults(faults: readonly LedgerFault[], seen: object): void {
  if (faults.length === 0) return;
  throw new OperatorError(
    `The ledger is wrong in ${faults.length} places:\n${faults.map(lineOf).join("\n")}`,
    exitCodes.failed,
    { ok: false, ...seen, faults },
  );
}

function lineOf({ rule, card, last_four, ledger_row, expected, found }: LedgerFault): string {
  if (rule === "verified_is_unchanged")
    return `${rule}: rows that were verified have changed, in the block up to row ${ledger_row}`;
  const row = ledger_row === null ? "" : `, ledger row ${ledger_row}`;
  return `${rule}: card ${card} (ending in ${last_four})${row}: expected ${expected} cents, found ${found}`;
}
