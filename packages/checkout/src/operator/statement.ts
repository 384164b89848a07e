import { formatCents } from "@giftcard-pay/client";
import { type BookedCharge, movementsOf } from "./movements.js";
import { type Days, dayOf, momentsOf } from "./period.js";
import { layOut } from "./text-table.js";

/** The amounts that an order took and reversed on one day. */
export interface StatementLine {
  /** yyyy-mm-dd */
  readonly day: string;
  /** null for charges that never got an order. */
  readonly orderId: string | null;
  readonly devaluedCents: number;
  readonly canceledCents: number;
  /** Devalued minus canceled; negative on a day with only reversals. */
  readonly grossCents: number;
}

/** The amounts that the card issuer owes the merchant for a period, to compare with the issuer's invoice. */
export interface Statement extends Days {
  readonly lines: readonly StatementLine[];
  readonly devaluedCents: number;
  readonly canceledCents: number;
  readonly grossCents: number;
  readonly commissionPercent: number;
  readonly commissionCents: number;
  readonly netCents: number;
}

/** The options of a statement. */
export interface StatementOptions extends Days {
  /** The issuer's commission in percent of the gross sum, up to four decimals. Default 0. */
  readonly commissionPercent?: number | undefined;
  /** The time zone of the days. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
}

/**
 * Sums the devalued and canceled amounts by day and order.
 *
 * @param charges of one service; charges without movements in the period are ignored
 * @throws {RangeError} if a day is invalid, or the commission isn't between 0 and 100 percent
 */
export function makeStatement(charges: readonly BookedCharge[], options: StatementOptions): Statement {
  const { from, to, commissionPercent = 0, timeZone } = options;
  const moments = momentsOf({ from, to }, timeZone);
  const lines = new Map<string, { -readonly [K in keyof StatementLine]: StatementLine[K] }>();
  for (const movement of charges.flatMap((charge) => movementsOf(charge, moments.from, moments.to))) {
    const { orderId } = movement;
    const day = dayOf(movement.at, timeZone);
    const key = `${day} ${orderId ?? ""}`;
    const line = lines.get(key) ?? { day, orderId, devaluedCents: 0, canceledCents: 0, grossCents: 0 };
    if (movement.kind === "devalued") line.devaluedCents += movement.cents;
    else line.canceledCents += movement.cents;
    line.grossCents = line.devaluedCents - line.canceledCents;
    lines.set(key, line);
  }
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  const sum = (of: (line: StatementLine) => number) => sorted.reduce((total, line) => total + of(line), 0);
  const grossCents = sum((line) => line.grossCents);
  const commissionCents = percentOf(grossCents, commissionPercent);
  return {
    from,
    to,
    lines: sorted,
    devaluedCents: sum((line) => line.devaluedCents),
    canceledCents: sum((line) => line.canceledCents),
    grossCents,
    commissionPercent,
    commissionCents,
    netCents: grossCents - commissionCents,
  };
}

/** Returns a percentage, rounding half cents away from zero. */
function percentOf(amountCents: number, percent: number): number {
  if (!(percent >= 0 && percent <= 100)) throw new RangeError("A commission is 0 to 100 percent.");
  const share = (Math.abs(amountCents) * Math.round(percent * 10_000)) / 1_000_000;
  return Math.sign(amountCents) * Math.round(share) || 0;
}

/**
 * Formats a statement as comma-separated values, with amounts in euro, and the sums last.
 * @param nameOf returns the name of an order. Default: its id
 */
export function statementCsv(statement: Statement, nameOf: (orderId: string) => string = (id) => id): string {
  const { lines, devaluedCents, canceledCents, grossCents, commissionCents, netCents } = statement;
  const row = (...cells: string[]) => cells.map(csvCell).join(",");
  const amounts = (line: Pick<StatementLine, "devaluedCents" | "canceledCents" | "grossCents">) =>
    [line.devaluedCents, line.canceledCents, line.grossCents].map(formatCents);
  const body = lines.map((line) => row(line.day, line.orderId === null ? "" : nameOf(line.orderId), ...amounts(line)));
  return [
    "day,order,devalued_eur,canceled_eur,gross_eur",
    ...body,
    row("total", "", ...amounts({ devaluedCents, canceledCents, grossCents })),
    row(`commission ${statement.commissionPercent}%`, "", "", "", formatCents(-commissionCents)),
    row("net", "", "", "", formatCents(netCents)),
    "",
  ].join("\r\n");
}

/** Formats a statement as a table to print, with amounts in euro, and the sums last. */
export function statementText(statement: Statement, nameOf: (orderId: string) => string = (id) => id): string {
  const { lines, devaluedCents, canceledCents, grossCents } = statement;
  const { commissionPercent, commissionCents, netCents } = statement;
  const rows = [
    ["day", "order", "devalued", "canceled", "gross"],
    ...lines.map((line) => [
      line.day,
      line.orderId === null ? "(no order)" : nameOf(line.orderId),
      ...[line.devaluedCents, line.canceledCents, line.grossCents].map(formatCents),
    ]),
    ["total", "", ...[devaluedCents, canceledCents, grossCents].map(formatCents)],
    [`commission ${commissionPercent}%`, "", "", "", formatCents(-commissionCents)],
    ["net", "", "", "", formatCents(netCents)],
  ];
  return layOut(rows, [2, 3, 4]);
}

/** Quotes a cell, so that spreadsheets don't treat it as a formula. Negative amounts are not quoted. */
function csvCell(text: string): string {
  if (text === "" || /^-?\d+\.\d\d$|^\d{4}-\d\d-\d\d$/.test(text)) return text;
  return `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
}
