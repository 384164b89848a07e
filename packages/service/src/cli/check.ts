import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkLedger, type LedgerFault } from "../store/ledger-check.js";
import { type CommonOptions, command, withContext } from "./context.js";

/** `check` */
export const checkCommand = () =>
  command(
    "check",
    "Check the ledger: every balance is the sum of its ledger rows, every used token has one reversal, and more",
  )
    .addHelpText("after", `\nExits with ${exitCodes.failed} and lists the rows if anything is wrong.`)
    .action((options: CommonOptions) =>
      withContext(options, async ({ pool, out }) => {
        const { cards, ledgerRows, balanceCents, faults } = await checkLedger(pool);
        const seen = { cards, ledger_rows: ledgerRows, balance: balanceCents };
        if (faults.length > 0) {
          throw new OperatorError(
            `The ledger is wrong in ${faults.length} places:\n${faults.map(lineOf).join("\n")}`,
            exitCodes.failed,
            { ok: false, ...seen, faults: faults.map(wireOf) },
          );
        }
        out.result(
          { ok: true, ...seen, faults: [] },
          `The ledger is right: ${cards} cards with ${formatCents(balanceCents)} EUR, ${ledgerRows} ledger rows.`,
        );
      }),
    );

const wireOf = ({ rule, cardId, lastFour, ledgerId, expectedCents, foundCents }: LedgerFault) => ({
  rule,
  card: cardId,
  last_four: lastFour,
  ledger_row: ledgerId,
  expected: expectedCents,
  found: foundCents,
});

function lineOf({ rule, cardId, lastFour, ledgerId, expectedCents, foundCents }: LedgerFault): string {
  const row = ledgerId === null ? "" : `, ledger row ${ledgerId}`;
  return `${rule}: card ${cardId} (ending in ${lastFour})${row}: expected ${expectedCents} cents, found ${foundCents}`;
}
