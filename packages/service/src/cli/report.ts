import { formatCents } from "@giftcard-pay/client/contract";
import { checkFilter } from "../store/filters.js";
import { type ReportCard, type ReportRow, type ReportSums, report } from "../store/report.js";
import { command } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { addDayOptions, checkDays } from "./day-options.js";
import { identifier, type Output, print } from "./output.js";
import { csvRows, formatOf } from "./rows.js";

interface ReportOptions extends CommonOptions {
  readonly from: string;
  readonly to: string;
  readonly company?: number;
  readonly csv: boolean;
}

export const reportCommand = () =>
  addDayOptions(command("report", "List devalues and cancels of a period, by company and card"), {
    isRequired: true,
  })
    .option("--company <id>", "only this company", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nOutstanding is devalued minus canceled within the period; balance is what a card holds now.\n" +
        "Cards are printed while they are read. The report is complete only if the exit code is 0.",
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

/** A format of the report: the text before the cards, of each card, and after them. */
interface Form {
  readonly head: string;
  card(row: ReportCard, isFirst: boolean): string;
  foot(companies: readonly object[], total: ReportSums): string;
}

/** Prints cards while they are read. Keeps only the sums of each company in memory. */
function printReport(
  form: Form,
  out: Output,
  read: (onPage: (rows: ReportRow[]) => Promise<void>) => Promise<void>,
): Promise<void> {
  const companies: object[] = [];
  const progress = out.progress("cards");
  let cards = 0;
  return print(async (write) => {
    await write(form.head);
    await read(async (rows) => {
      const texts: string[] = [];
      for (const row of rows) {
        const { company_id, company, card, last_four, balance, ...sums } = row;
        if (card !== null) texts.push(form.card(row as ReportCard, cards++ === 0));
        else if (company_id !== null) companies.push({ company_id, company, ...sums });
        else texts.push(form.foot(companies, sums));
      }
      await write(texts.join(""));
      progress(cards);
    });
  });
}

const jsonForm = (days: { from: string; to: string }): Form => ({
  head: `${JSON.stringify(days).slice(0, -1)},"cards":[`,
  card: (row, isFirst) => `${isFirst ? "" : ","}${JSON.stringify(row)}`,
  foot: (companies, total) => `],"companies":${JSON.stringify(companies)},"total":${JSON.stringify(total)}}\n`,
});

const csvForm: Form = {
  head: "company_id,company,card,last_four,devalues,devalued,cancels,canceled,outstanding,balance\r\n",
  card: (row) => csvRows([Object.values(row)]),
  foot: () => "",
};

/** The table's columns with their widths. A longer cell shifts only its own line. */
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

const amountsOf = (of: ReportSums) => [
  String(of.devalues),
  formatCents(of.devalued),
  String(of.cancels),
  formatCents(of.canceled),
  formatCents(of.outstanding),
];

const tableForm: Form = {
  head: lineOf(Object.keys(COLUMNS)),
  card: (row) => {
    const [company, card] = [`${row.company_id} ${row.company}`, `…${row.last_four}`];
    return `\n${lineOf([company, card, ...amountsOf(row), formatCents(row.balance)])}`;
  },
  foot: (_companies, total) => `\n${lineOf(["total", "", ...amountsOf(total)])}\n`,
};
