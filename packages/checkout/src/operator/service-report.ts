import * as z from "zod";
import type { Days } from "./period.js";

/** One card of the service's report. */
export interface ReportedCard {
  readonly lastFour: string;
  readonly devaluedCents: number;
  readonly cancelledCents: number;
}

const cents = z.coerce.number().int().min(0);
const cardSchema = z
  .object({
    company_id: z.coerce.number().int(),
    last_four: z.string(),
    devalued: cents,
    cancelled: cents,
  })
  .transform((row) => ({
    companyId: row.company_id,
    lastFour: row.last_four,
    devaluedCents: row.devalued,
    cancelledCents: row.cancelled,
  }));
const jsonSchema = z.object({ from: z.string(), to: z.string(), cards: z.array(cardSchema) });

/** A report that can't be read, or is about something else. Its text can be shown. */
export class ReportError extends Error {
  override readonly name = "ReportError";
}

/**
 * Reads what the service's `report` command printed with `--json` or `--csv`.
 *
 * @param text the whole file
 * @param about the days it must be about (a report in CSV doesn't say its days), and the company whose cards count
 * @throws {ReportError}
 */
export function readServiceReport(text: string, about: Days & { companyId: number }): ReportedCard[] {
  const content = text.replace(/^\uFEFF/, "").trim();
  const parsed = content.startsWith("{") ? readJson(content, about) : readCsv(content);
  return parsed
    .filter((card) => card.companyId === about.companyId)
    .map(({ lastFour, devaluedCents, cancelledCents }) => ({ lastFour, devaluedCents, cancelledCents }));
}

function readJson(content: string, { from, to }: Days): z.output<typeof cardSchema>[] {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new ReportError("The service's report is not readable JSON.");
  }
  const report = jsonSchema.safeParse(value);
  if (!report.success) throw new ReportError("The file is not a report of the service.");
  if (report.data.from !== from || report.data.to !== to) {
    throw new ReportError(
      `The report is about ${report.data.from} to ${report.data.to}, not ${from} to ${to}.`,
    );
  }
  return report.data.cards;
}

const columns = ["company_id", "last_four", "devalued", "cancelled"];

function readCsv(content: string): z.output<typeof cardSchema>[] {
  const [head = [], ...rows] = content.split(/\r?\n/).map(splitLine);
  // Any other text would pass for a report without cards.
  if (!columns.every((name) => head.includes(name)))
    throw new ReportError("The file is not a report of the service.");
  return rows.map((cells, index) => {
    const row = cardSchema.safeParse(Object.fromEntries(head.map((name, column) => [name, cells[column]])));
    if (!row.success) throw new ReportError(`Line ${index + 2} of the service's report can't be read.`);
    return row.data;
  });
}

/** A cell is bare, or in quotes with its own quotes doubled. */
function splitLine(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
    quoted === undefined ? (bare ?? "") : quoted.replaceAll('""', '"'),
  );
}
