import { formatCents } from "@giftcard-pay/client/contract";
import { readPages } from "../database/database.js";
import { checkFilter } from "../store/filters.js";
import { type Reversal, reversalsStatement } from "../store/reversals.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier } from "./output.js";
import { formatOf, printRows } from "./rows.js";

interface ReversalOptions extends CommonOptions, DayOptions {
  readonly company?: number;
  readonly csv: boolean;
}

/** `reversals` */
export const reversalsCommand = () =>
  addDayOptions(
    command(
      "reversals",
      "List reversals onto cards that can't be spent: blocked or expired now, or when the money came back",
    ),
    { isRequired: false },
  )
    .option("--company <id>", "only this company", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nA reversal succeeds for every status of the card, so the shop does not notice. The earlier status comes from the audit log.\n" +
        "`transactions` lists reversals onto every card.",
    )
    .action((options: ReversalOptions) => {
      const { company: companyId, from, to, csv, json } = options;
      const format = formatOf({ csv, json });
      checkDays(options);
      return withContext(options, async ({ pool }) => {
        await checkFilter(pool, { companyId });
        await printRows<Reversal>((onPage) => readPages(pool, reversalsStatement({ companyId, from, to }), onPage), {
          format,
          wire,
          line,
          none: "no reversals onto blocked or expired cards",
          columns: COLUMNS,
        });
      });
    });

const COLUMNS = [
  "id",
  "at",
  "amount",
  "company_id",
  "company",
  "card",
  "last_four",
  "status_then",
  "reissued_as",
  "card_status",
  "balance",
];

const wire = (row: Reversal) => ({
  id: row.id,
  at: row.at.toISOString(),
  amount: row.amountCents,
  company_id: row.companyId,
  company: row.company,
  card: row.cardId,
  last_four: row.lastFour,
  status_then: row.statusThen,
  reissued_as: row.reissuedAs,
  card_status: row.cardStatus,
  balance: row.balanceCents,
});

const line = (row: Reversal) =>
  [
    row.at.toISOString(),
    formatCents(row.amountCents).padStart(12),
    `card ${row.cardId} (…${row.lastFour})`,
    `company ${row.companyId} ${row.company}`,
    `then ${row.statusThen}`,
    `now ${row.cardStatus}${row.reissuedAs === null ? "" : `, as card ${row.reissuedAs}`}, holds ${formatCents(row.balanceCents)}`,
  ].join("  ");
