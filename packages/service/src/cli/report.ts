import { formatCents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type ReportRow, report } from "../store/report.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { csvCell, day, identifier } from "./output.js";

interface ReportOptions extends CommonOptions {
  readonly from: string;
  readonly to: string;
  readonly company?: number;
  readonly csv: boolean;
}

/** `report` */
export const reportCommand = () =>
  command("report", "What companies took from cards and put back within a period")
    .requiredOption("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam", day)
    .requiredOption("--to <yyyy-mm-dd>", "the last day, which counts in full", day)
    .option("--company <id>", "of this company alone", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nOutstanding is what was taken and not put back within the period; balance is what a card holds now.",
    )
    .action((options: ReportOptions) => {
      const { from, to, company: companyId, csv } = options;
      if (csv && options.json) throw new OperatorError("Give --json or --csv, not both.", exitCodes.usage);
      if (to < from) throw new OperatorError("--to is before --from.", exitCodes.usage);
      return withContext(options, async ({ pool, out }) => {
        const rows = await report(pool, { from, to, companyId });
        const ids = [...new Set(rows.map((row) => row.companyId))];
        const companies = ids.map((id) => {
          const those = rows.filter((row) => row.companyId === id);
          return { company_id: id, company: those[0]?.company, ...totalOf(those) };
        });
        out.result(
          { from, to, cards: rows.map(wireOf), companies, total: totalOf(rows) },
          csv ? csvOf(rows) : tableOf(rows),
        );
      });
    });

const wireOf = (row: ReportRow) => ({
  company_id: row.companyId,
  company: row.company,
  card: row.cardId,
  last_four: row.lastFour,
  devalues: row.devalues,
  devalued: row.devaluedCents,
  cancels: row.cancels,
  cancelled: row.cancelledCents,
  outstanding: row.outstandingCents,
  balance: row.balanceCents,
});

function totalOf(rows: readonly ReportRow[]) {
  const sum = (of: (row: ReportRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    devalues: sum((row) => row.devalues),
    devalued: sum((row) => row.devaluedCents),
    cancels: sum((row) => row.cancels),
    cancelled: sum((row) => row.cancelledCents),
    outstanding: sum((row) => row.outstandingCents),
  };
}

function csvOf(rows: readonly ReportRow[]): string {
  const lines = rows.map((row) => Object.values(wireOf(row)).map(csvCell).join(","));
  const head = "company_id,company,card,last_four,devalues,devalued,cancels,cancelled,outstanding,balance";
  return [head, ...lines].join("\r\n");
}

function tableOf(rows: readonly ReportRow[]): string {
  const head = ["company", "card", "devalues", "devalued", "cancels", "cancelled", "outstanding", "balance"];
  const amounts = (of: ReturnType<typeof totalOf>) => [
    String(of.devalues),
    formatCents(of.devalued),
    String(of.cancels),
    formatCents(of.cancelled),
    formatCents(of.outstanding),
  ];
  const body = rows.map((row) => [
    `${row.companyId} ${row.company}`,
    `…${row.lastFour}`,
    ...amounts(totalOf([row])),
    formatCents(row.balanceCents),
  ]);
  const lines = [head, ...body, ["total", "", ...amounts(totalOf(rows)), ""]];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}
