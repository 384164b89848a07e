import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import * as z from "zod";
import type { Days } from "./period.js";

/** A card in the service's report. */
export interface ReportedCard {
  readonly lastFour: string;
  readonly devaluedCents: number;
  readonly canceledCents: number;
}

/** A whole number, in JSON or in a cell of CSV. */
const count = z.union([
  z.int().min(0),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);
const cardSchema = z
  .object({
    company_id: count,
    last_four: z.string(),
    devalued: count,
    canceled: count,
  })
  .transform((row) => ({
    companyId: row.company_id,
    lastFour: row.last_four,
    devaluedCents: row.devalued,
    canceledCents: row.canceled,
  }));
const reportSchema = z.object({ from: z.string(), to: z.string(), cards: z.array(cardSchema) });

/** Of a report in JSON, which is read as a whole. The one of a large shop is read as CSV, row by row. */
const MAX_JSON_CHARACTERS = 32 * 1024 * 1024;

type Chunks = Iterable<string> | AsyncIterable<string>;

/**
 * - `not_a_report`: another file, such as a spreadsheet
 * - `broken`: a report that was cut off or edited; of CSV, with the first `line` that can't be read
 * - `other_days`: a report for the days `from` to `to`
 */
export type ReportFault =
  | { readonly code: "not_a_report" }
  | { readonly code: "broken"; readonly line?: number }
  | ({ readonly code: "other_days" } & Days);

/** The error of a report that can't be read, or has another period. Its message can be shown to people. */
export class ReportError extends Error {
  override readonly name = "ReportError";
  /** The report's fault. */
  readonly fault: ReportFault;

  constructor(message: string, fault: ReportFault) {
    super(message);
    this.fault = fault;
  }
}

const notAReport = () =>
  new ReportError(
    "The file is not the card issuer's report. Choose the output of the service's command report, as JSON or CSV.",
    { code: "not_a_report" },
  );

/**
 * Reads the output of the service's `report` command with `--json` or `--csv`, card by card.
 *
 * @param report the whole text, or a file's stream
 * @param about the required days (a CSV report doesn't contain its days), and the company whose cards are read
 * @throws {ReportError} possibly when cards have been read
 */
export async function* readServiceReport(
  report: string | AsyncIterable<string>,
  { from, to, companyId }: Days & { companyId: number },
): AsyncGenerator<ReportedCard> {
  const { first, chunks } = await beginningOf(typeof report === "string" ? [report] : report);
  const cards = first === "{" ? readJson(chunks, { from, to }) : readCsv(chunks);
  for await (const { companyId: id, ...card } of cards) if (id === companyId) yield card;
}

type Row = z.output<typeof cardSchema>;

/** Returns the first character that isn't white space, and the chunks starting there. */
async function beginningOf(report: Chunks): Promise<{ first: string; chunks: AsyncIterable<string> }> {
  const all = (async function* () {
    yield* report;
  })();
  let head = "";
  for (let next = await all.next(); ; next = await all.next()) {
    head += next.done ? "" : next.value;
    head = head.replace(/^\uFEFF?\s*/, "");
    if (head === "" && !next.done) continue;
    const chunks = (async function* () {
      yield head;
      yield* all;
    })();
    return { first: head.charAt(0), chunks };
  }
}

async function* readJson(chunks: Chunks, { from, to }: Days): AsyncGenerator<Row> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > MAX_JSON_CHARACTERS)
      throw new ReportError("The service's report is too long for JSON. Ask for it as CSV.", { code: "broken" });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ReportError("The service's report is not readable JSON.", { code: "broken" });
  }
  const { data: report } = reportSchema.safeParse(value);
  if (!report) throw notAReport();
  if (report.from !== from || report.to !== to)
    throw new ReportError(`The report is about ${report.from} to ${report.to}, not ${from} to ${to}.`, {
      ...{ code: "other_days", from: report.from, to: report.to },
    });
  yield* report.cards;
}

const columns = ["company_id", "last_four", "devalued", "canceled"];

/** Reads a table. A line with another number of cells than the header's, or with a wrong quote, is a fault. */
async function* readCsv(chunks: Chunks): AsyncGenerator<Row> {
  let number = 1;
  let hasHeader = false;
  const parser = parse({
    bom: true,
    record_delimiter: ["\r\n", "\n"],
    skip_empty_lines: true,
    columns: (header: string[]) => {
      // Otherwise any text would be accepted as a report without cards.
      if (!columns.every((name) => header.includes(name))) throw notAReport();
      hasHeader = true;
      return header;
    },
  });
  // The loop throws the errors.
  pipeline(Readable.from(chunks), parser, () => {});
  try {
    for await (const row of parser) {
      number += 1;
      yield cardSchema.parse(row);
    }
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof z.ZodError || error instanceof ReportError)) throw error;
    if (!hasHeader) throw notAReport();
    const line = error instanceof CsvError ? Number(error.lines) : number;
    throw new ReportError(`Line ${line} of the service's report can't be read.`, { code: "broken", line });
  }
  if (!hasHeader) throw notAReport();
}
