import { setTimeout as sleep } from "node:timers/promises";
import { BookComparison } from "./book-comparison.js";
import { type ReportSource, readCharges } from "./charge-pages.js";
import type { Difference } from "./difference.js";
import { type BookedCharge, bookedChargeOf } from "./movements.js";
import { type Days, momentsOf } from "./period.js";
import type { Reconciliation } from "./reconciliation.js";
import { CardFigures } from "./service-figures.js";
import { readServiceReport } from "./service-report.js";
import { listerOf, type PaymentList, type PaymentLister } from "./shop-payments.js";
import { makeStatement, type Statement, type StatementOptions } from "./statement.js";

const SECOND_LOOK_MS = 1_000;

/** What a reconciliation is about. */
export interface ReconcileOptions extends Days {
  /** The shop's own payments by gift card. A list is held in memory, and is what it is; a function is better. */
  readonly payments: PaymentList | PaymentLister;
  /** What the service's `report` command printed for the same days with `--json` or `--csv`: its text, or a file's stream. */
  readonly report?: string | AsyncIterable<string> | undefined;
  /** By whose clock days begin. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
  /** Charges younger than this are still on their way. Default: two minutes before they are read. */
  readonly settledBefore?: Date | undefined;
  /** Is told now and then how far it has come: how many of each kind were read. */
  readonly onProgress?: ((read: number, what: "charges" | "payments") => void) | undefined;
}

/**
 * Adds up what was devalued and canceled, by day and order. The journal is read to its end, however long the period is.
 *
 * @throws {RangeError} for days or a commission that are none
 */
export async function readStatement(source: ReportSource, options: StatementOptions): Promise<Statement> {
  const charges: BookedCharge[] = [];
  for await (const page of readCharges(source, { moved: momentsOf(options, options.timeZone) }))
    charges.push(...page.map(bookedChargeOf));
  return makeStatement(charges, options);
}

/**
 * Holds the journal against the shop's payments and, where it is given, the service's report. All of them are read to their
 * ends, some hundred rows at a time, so that no length of the period needs more memory. What differs is looked at once
 * more: a purchase that moves while the books are read is counted in `moving`, and is no difference.
 *
 * @throws {RangeError} for days that are none
 * @throws {ReportError} for a report that can't be read, or is about other days
 * @throws {TypeError} for a payment whose amounts aren't whole cents
 */
export async function readReconciliation(
  source: ReportSource,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { from, to, timeZone } = options;
  const period = momentsOf({ from, to }, timeZone);
  const service = await readFigures(source, options);
  const list = await listerOf(options.payments);
  const look = async () => {
    const comparison = new BookComparison(source, { ...options, period, list });
    await comparison.run();
    const differences = [
      ...comparison.differences,
      ...(service ? comparison.figures.differencesTo(service) : []),
    ];
    return { ...comparison.counts, cards: service?.cards ?? null, differences };
  };
  const first = await look();
  if (first.differences.length === 0) return { from, to, ...first };
  await sleep(SECOND_LOOK_MS);
  const second = await look();
  const before = new Set(first.differences.map(textOf));
  const differences = second.differences.filter((difference) => before.has(textOf(difference)));
  const moving = second.moving + second.differences.length - differences.length;
  return { from, to, ...second, moving, differences };
}

const textOf = (difference: Difference) => JSON.stringify(difference);

/** What the service has of each card; undefined without its report. */
async function readFigures(
  { companyId }: ReportSource,
  { from, to, report }: ReconcileOptions,
): Promise<CardFigures | undefined> {
  if (report === undefined) return undefined;
  const figures = new CardFigures();
  for await (const card of readServiceReport(report, { from, to, companyId })) figures.addCard(card);
  return figures;
}
