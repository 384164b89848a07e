import { formatCents } from "@giftcard-pay/client";
import { type BookedCharge, type Movement, movementsOf } from "./movements.js";
import { type Days, dayOf, momentsOf } from "./period.js";
import { layOut } from "./text-table.js";

/** The amounts that an order charged to cards and returned to them on one day. */
export interface StatementLine {
  /** yyyy-mm-dd */
  readonly day: string;
  /** null for charges that never got an order. */
  readonly orderId: string | null;
  readonly chargedCents: number;
  /** Returned because the purchase or its order was canceled. */
  readonly canceledCents: number;
  /** Returned by a refund. */
  readonly refundedCents: number;
  /** Charged, minus canceled and refunded; negative on a day on which more was returned. */
  readonly grossCents: number;
}

/** The amounts that the card issuer owes the merchant for a period, to compare with the issuer's invoice. */
export interface Statement extends Days {
  readonly lines: readonly StatementLine[];
  readonly chargedCents: number;
  readonly canceledCents: number;
  readonly refundedCents: number;
  readonly grossCents: number;
}

/** The options of a statement. */
export interface StatementOptions extends Days {
  /** The time zone of the days. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
  /**
   * Returns those of these refunds that were made because their order was canceled. They count as canceled. Default:
   * none.
   */
  readonly findCancelRefunds?: ((refundIds: readonly string[]) => Promise<ReadonlySet<string>>) | undefined;
}

/**
 * Sums the charged, canceled and refunded amounts by day and order.
 *
 * @param charges of one service; charges without movements in the period are ignored
 * @param cancelRefunds the refunds that count as canceled
 * @throws {RangeError} if a day is invalid
 */
export function makeStatement(
  charges: readonly BookedCharge[],
  options: StatementOptions,
  cancelRefunds: ReadonlySet<string> = new Set(),
): Statement {
  const { from, to, timeZone } = options;
  const moments = momentsOf({ from, to }, timeZone);
  const lines = new Map<string, { -readonly [K in keyof StatementLine]: StatementLine[K] }>();
  for (const movement of charges.flatMap((charge) => movementsOf(charge, moments.from, moments.to))) {
    const { orderId } = movement;
    const day = dayOf(movement.at, timeZone);
    const key = `${day} ${orderId ?? ""}`;
    const line = lines.get(key) ?? { day, orderId, ...NOTHING };
    line[columnOf(movement, cancelRefunds)] += movement.cents;
    line.grossCents = line.chargedCents - line.canceledCents - line.refundedCents;
    lines.set(key, line);
  }
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  const sum = (of: (line: StatementLine) => number) => sorted.reduce((total, line) => total + of(line), 0);
  return {
    from,
    to,
    lines: sorted,
    chargedCents: sum((line) => line.chargedCents),
    canceledCents: sum((line) => line.canceledCents),
    refundedCents: sum((line) => line.refundedCents),
    grossCents: sum((line) => line.grossCents),
  };
}

const NOTHING = { chargedCents: 0, canceledCents: 0, refundedCents: 0, grossCents: 0 };

type Amounts = Pick<StatementLine, keyof typeof NOTHING>;

/** Lists the amounts of a line, or of all lines, in the order of the columns. */
const amountsOf = ({ chargedCents, canceledCents, refundedCents, grossCents }: Amounts) =>
  [chargedCents, canceledCents, refundedCents, grossCents].map(formatCents);

function columnOf({ kind, isRefund, refundId }: Movement, cancelRefunds: ReadonlySet<string>) {
  if (kind === "devalued") return "chargedCents";
  return isRefund && !(refundId !== null && cancelRefunds.has(refundId)) ? "refundedCents" : "canceledCents";
}

/**
 * Formats a statement as comma-separated values, with amounts such as 49.98, and the sum last.
 * @param nameOf returns the name of an order. Default: its id
 */
export function statementCsv(statement: Statement, nameOf: (orderId: string) => string = (id) => id): string {
  const row = (...cells: string[]) => cells.map(csvCell).join(",");
  const body = statement.lines.map((line) =>
    row(line.day, line.orderId === null ? "" : nameOf(line.orderId), ...amountsOf(line)),
  );
  return ["day,order,charged,canceled,refunded,gross", ...body, row("total", "", ...amountsOf(statement)), ""].join(
    "\r\n",
  );
}

/** Formats a statement as a table to print, with amounts such as 49.98, and the sum last. */
export function statementText(statement: Statement, nameOf: (orderId: string) => string = (id) => id): string {
  const rows = [
    ["day", "order", "charged", "canceled", "refunded", "gross"],
    ...statement.lines.map((line) => [
      line.day,
      line.orderId === null ? "(no order)" : nameOf(line.orderId),
      ...amountsOf(line),
    ]),
    ["total", "", ...amountsOf(statement)],
  ];
  return layOut(rows, [2, 3, 4, 5]);
}

/** Quotes a cell, so that spreadsheets don't treat it as a formula. Numbers and days are not quoted. */
function csvCell(text: string): string {
  if (text === "" || /^-?\d+(\.\d\d)?$|^\d{4}-\d\d-\d\d$/.test(text)) return text;
  return `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
}
