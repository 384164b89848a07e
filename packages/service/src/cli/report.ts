import { formatCents } from "@giftcard-pay/client/contract";
import { checkFilter } from "../store/filters.js";
import { type ReportRow, report } from "../store/report.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays } from "./day-options.js";
import { csvCell, identifier, type Output, print } from "./output.js";
import { formatOf } from "./rows.js";

interface ReportOptions extends CommonOptions {
  readonly from: string;
  readonly to: string;
  readonly company?: number;
  readonly csv: boolean;
}

/** `report` */
export const reportCommand = () =>
  addDayOptions(command("report", "What companies took from cards and put back within a period"), {
    isRequired: true,
  })
    .option("--company <id>", "of this company alone", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nOutstanding is what was taken and not put back within the period; balance is what a card holds now.\n" +
        "Cards are printed as they are read, however many: only with exit code 0 it is the whole report.",
    )
    .action((options: ReportOptions) => {
      const { from, to, company: companyId, csv, json } = options;
      checkDays(options);
      const form = { json: jsonForm({ from, to }), csv: csvForm, text: tableForm }[formatOf({ csv, json })];
      return withContext(options, async ({ pool, out }) => {
        await checkFilter(pool, { companyId });
        await printReport(form, out, (onPage) => report(pool, { from, to, companyId }, onPage));
      });
    });

/** Sums, named as they are printed. */
const nothing = { devalues: 0, devalued: 0, cancels: 0, canceled: 0, outstanding: 0 };
type Totals = typeof nothing;
interface CompanyTotals extends Totals {
  readonly company_id: number;
  readonly company: string;
}

/** How a report is written: what stands before its cards, each of them, and what stands behind. */
interface Form {
  readonly head: string;
  card(row: ReportRow, isFirst: boolean): string;
  foot(companies: readonly CompanyTotals[], total: Totals): string;
}

/** Prints cards as they come, and keeps the sums of each company alone. */
function printReport(
  form: Form,
  out: Output,
  read: (onPage: (rows: ReportRow[]) => Promise<void>) => Promise<void>,
): Promise<void> {
  const companies = new Map<number, CompanyTotals>();
  const total = { ...nothing };
  let cards = 0;
  return print(async (write) => {
    await write(form.head);
    await read(async (rows) => {
      await write(rows.map((row, index) => form.card(row, cards + index === 0)).join(""));
      for (const row of rows) {
        const { companyId, company } = row;
        const ofCompany = companies.get(companyId) ?? { company_id: companyId, company, ...nothing };
        companies.set(companyId, ofCompany);
        for (const name of Object.keys(nothing) as (keyof Totals)[]) {
          const more = wireOf(row)[name];
          ofCompany[name] += more;
          total[name] += more;
        }
      }
      cards += rows.length;
      out.progress(cards, undefined, "cards");
    });
    await write(form.foot([...companies.values()], total));
  });
}

const wireOf = (row: ReportRow) => ({
  company_id: row.companyId,
  company: row.company,
  card: row.cardId,
  last_four: row.lastFour,
  devalues: row.devalues,
  devalued: row.devaluedCents,
  cancels: row.cancels,
  canceled: row.canceledCents,
  outstanding: row.outstandingCents,
  balance: row.balanceCents,
});

const jsonForm = (days: { from: string; to: string }): Form => ({
  head: `${JSON.stringify(days).slice(0, -1)},"cards":[`,
  card: (row, isFirst) => `${isFirst ? "" : ","}${JSON.stringify(wireOf(row))}`,
  foot: (companies, total) =>
    `],"companies":${JSON.stringify(companies)},"total":${JSON.stringify(total)}}\n`,
});

const csvForm: Form = {
  head: "company_id,company,card,last_four,devalues,devalued,cancels,canceled,outstanding,balance",
  card: (row) => `\r\n${Object.values(wireOf(row)).map(csvCell).join(",")}`,
  foot: () => "\n",
};

/** The names of the table's columns, and how wide each is: a longer cell moves its own line alone. */
const COLUMNS = {
  company: 24,
  card: 5,
  devalues: 8,
  devalued: 12,
  cancels: 8,
  canceled: 12,
  outstanding: 12,
  balance: 12,
};

function lineOf(cells: readonly string[]): string {
  const widths = Object.values(COLUMNS);
  const pad = (cell: string, column: number) =>
    column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return cells.map(pad).join("  ").trimEnd();
}

const amountsOf = (of: Totals) => [
  String(of.devalues),
  formatCents(of.devalued),
  String(of.cancels),
  formatCents(of.canceled),
  formatCents(of.outstanding),
];

const tableForm: Form = {
  head: lineOf(Object.keys(COLUMNS)),
  card: (row) => {
    const [company, card] = [`${row.companyId} ${row.company}`, `…${row.lastFour}`];
    return `\n${lineOf([company, card, ...amountsOf(wireOf(row)), formatCents(row.balanceCents)])}`;
  },
  foot: (_companies, total) => `\n${lineOf(["total", "", ...amountsOf(total)])}\n`,
};
