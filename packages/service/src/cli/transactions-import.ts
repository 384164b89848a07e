import { formatCents, Secret } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type ImportedCharge, type ImportResult, importCharges } from "../store/lost-charges.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { readJournalCharges } from "./charge-rows.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { identifier } from "./output.js";
import { readLines } from "./stdin.js";

interface ImportOptions extends CommonOptions, ActOptions {
  readonly company?: number;
  readonly dryRun: boolean;
  readonly numbersStdin: boolean;
}

/** The number of faults that are listed. */
const LISTED_FAULTS = 100;

const DONE: Partial<Record<ImportResult, string>> = {
  booked: "booked",
  reversed: "canceled",
  unchanged: "already in the ledger",
};

/** The results that a person has to look at, each with its explanation. */
const FAILED: Partial<Record<ImportResult, string>> = {
  differs: "the ledger has another charge with this reference",
  key_closed: "the shop resolved this reference after the restore, so nothing may be taken",
  card_unproven: "no card proves this charge; give card numbers with --numbers-stdin",
  balance_too_low: "the card no longer has this amount",
  company_unknown: "there is no such company",
  cancel_unproven: "the row has no token; if this company sent the file, give its id with --company",
};

const HELP = `
After a restore, the merchants' journals know the charges that the database lost. \`giftcard-medusa export-charges\`, and
\`checkout.exportCharges\` of a shop with @giftcard-pay/checkout, write FILE. It has no card number, PIN or token.

A charge is booked only if its cancel token proves it: the service derives the token from the charge and its card. Afterwards
the shop's cancel token and Idempotency-Key work as before. Each charge is booked in a transaction of its own, so the service
may keep running, and the command can be repeated: charges in the ledger are left alone.

A cancel that the shop made without a token has no proof. It is believed only if --company names the merchant that sent FILE.

Exits with ${exitCodes.conflict} if some charges can't be imported. The others are.`;

/** `transactions import` */
export const transactionsImport = () =>
  addActOptions(command("import", "Book the charges of a merchant's journal that a restore lost"), {
    isReasonRequired: false,
  })
    .argument("<file>", "a CSV file of charges")
    .option("--company <id>", "the company that sent the file: its cancels need no token", identifier)
    .option("--dry-run", "judge each charge, but change nothing", false)
    .option(
      "--numbers-stdin",
      "read card numbers from standard input, one a line, for charges that are reported as card_unproven",
      false,
    )
    .addHelpText("after", HELP)
    .action(async (file: string, options: ImportOptions) => {
      const { dryRun: isDryRun } = options;
      const { charges, faults } = await readJournalCharges(file);
      if (faults.length > 0) {
        const listed = faults.slice(0, LISTED_FAULTS);
        throw new OperatorError(
          [
            `${faults.length} lines are faulty, and nothing was imported:`,
            ...listed.map(({ line, fault }) => `line ${line}: ${fault}`),
          ].join("\n"),
          exitCodes.conflict,
          { fault_count: faults.length, faults: listed },
        );
      }
      const numbers = options.numbersStdin ? await readLines() : [];
      const cardNumbers = numbers.map((number) => new Secret(number.replace(/[\s-]/g, "")));
      await withContext(options, async ({ pool, out, keyring }) => {
        const onProgress = (done: number, total: number) => out.progress(done, total, "charges");
        const order = { charges, cardNumbers, senderId: options.company, isDryRun, onProgress };
        const all = await importCharges(pool, await keyring(), order, actOf(options));
        const failed = all.filter(({ outcome }) => FAILED[outcome]);
        const count = (result: ImportResult) => all.filter(({ outcome }) => outcome === result).length;
        const [booked, reversed, unchanged] = [count("booked"), count("reversed"), count("unchanged")];
        const counts = { file, charges: all.length, booked, reversed, unchanged, failed: failed.length };
        const answer = { ...counts, dry_run: isDryRun, rows: all.map(wire) };
        const lines = all.filter(({ outcome }) => outcome !== "unchanged").map(lineOf);
        const text = [...lines, summary(counts, isDryRun)].join("\n");
        if (failed.length > 0) throw new OperatorError(text, exitCodes.conflict, answer);
        out.result(answer, text);
      });
    });

const summary = (
  { booked, reversed, unchanged, failed }: { booked: number; reversed: number; unchanged: number; failed: number },
  isDryRun: boolean,
) =>
  `${booked} charges ${isDryRun ? "can be booked" : "booked"}, ${reversed} ${isDryRun ? "can be " : ""}canceled, ` +
  `${unchanged} already in the ledger, ${failed} failed${isDryRun ? "; nothing was changed" : ""}`;

const wire = ({ charge, outcome, cardId, ledgerId }: ImportedCharge) => ({
  line: charge.line,
  reference: charge.reference,
  company_id: charge.companyId,
  amount: charge.deductedCents,
  outcome,
  card: cardId,
  ledger_row: ledgerId,
});

const lineOf = ({ charge, outcome, cardId }: ImportedCharge) =>
  [
    `line ${charge.line}: ${charge.reference}`,
    `${formatCents(charge.deductedCents)} EUR`,
    cardId === null ? "" : `card ${cardId}`,
    `company ${charge.companyId}`,
    DONE[outcome] ?? `${outcome}: ${FAILED[outcome]}`,
  ]
    .filter(Boolean)
    .join("  ");
