import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type BookFault, checkBooks } from "../store/books.js";
import { type CommonOptions, command, withWorkplace } from "./workplace.js";

/** `check` */
export const checkCommand = () =>
  command(
    "check",
    "Prove the books: every card's balance is the sum of its ledger, every used token has one reversal",
  )
    .addHelpText(
      "after",
      `\nEnds with ${exitCodes.failed}, and shows the rows, when something does not add up.`,
    )
    .action((options: CommonOptions) =>
      withWorkplace(options, async ({ pool, out }) => {
        const { cards, ledgerRows, balanceCents, faults } = await checkBooks(pool);
        const seen = { cards, ledger_rows: ledgerRows, balance: balanceCents };
        if (faults.length > 0) {
          throw new OperatorError(
            `The books are wrong in ${faults.length} places:\n${faults.map(lineOf).join("\n")}`,
            exitCodes.failed,
            { ok: false, ...seen, faults: faults.map(wireOf) },
          );
        }
        out.result(
          { ok: true, ...seen, faults: [] },
          `The books are right: ${cards} cards with ${formatCents(balanceCents)} EUR, ${ledgerRows} ledger rows.`,
        );
      }),
    );

const wireOf = ({ rule, cardId, lastFour, ledgerId, expectedCents, foundCents }: BookFault) => ({
  rule,
  card: cardId,
  last_four: lastFour,
  ledger_row: ledgerId,
  expected: expectedCents,
  found: foundCents,
});

function lineOf({ rule, cardId, lastFour, ledgerId, expectedCents, foundCents }: BookFault): string {
  const row = ledgerId === null ? "" : `, ledger row ${ledgerId}`;
  return `${rule}: card ${cardId} (ending in ${lastFour})${row}: expected ${expectedCents} cents, found ${foundCents}`;
}
