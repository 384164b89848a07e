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

/** The options of a reconciliation. */
export interface ReconcileOptions extends Days {
  /** The shop's own gift card payments. Better a function: a list is held in memory, and can't show later changes. */
  readonly payments: PaymentList | PaymentLister;
  /** The output of the service's `report` command for the same days, with `--json` or `--csv`: its text, or a file's stream. */
  readonly report?: string | AsyncIterable<string> | undefined;
  /** The time zone of the days. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
  /** Younger charges may still be in progress. Default: two minutes before they are read. */
  readonly settledBefore?: Date | undefined;
  /** Called from time to time with the number of charges or payments read so far. */
  readonly onProgress?: ((read: number, what: "charges" | "payments") => void) | undefined;
}

/**
 * Sums the charged, canceled and refunded amounts by day and order, for a period of any length.
 *
 * @throws {RangeError} if the days are invalid
 */
export async function readStatement(source: ReportSource, options: StatementOptions): Promise<Statement> {
  const charges: BookedCharge[] = [];
  const cancelRefunds = new Set<string>();
  for await (const page of readCharges(source, { moved: momentsOf(options, options.timeZone) })) {
    charges.push(...page.map(bookedChargeOf));
    const refundIds = page.flatMap(({ refundId }) => refundId ?? []);
    const found = refundIds.length > 0 ? await options.findCancelRefunds?.(refundIds) : undefined;
    for (const refundId of found ?? []) cancelRefunds.add(refundId);
  }
  return makeStatement(charges, options, cancelRefunds);
}

/**
 * Compares the journal with the shop's payments and, if given, with the service's report. It reads some hundred rows at a
 * time, so that its memory doesn't depend on the length of the period. Differences are compared a second time: a purchase
 * that moves meanwhile is counted in `moving`, and is no difference.
 *
 * @throws {RangeError} if the days are invalid
 * @throws {ReportError} if the report can't be read, or has other days
 * @throws {TypeError} if a payment's amounts aren't whole cents
 */
export async function readReconciliation(source: ReportSource, options: ReconcileOptions): Promise<Reconciliation> {
  const { from, to, timeZone } = options;
  const period = momentsOf({ from, to }, timeZone);
  const service = await readFigures(source, options);
  const list = await listerOf(options.payments);
  const compare = async () => {
    const comparison = new BookComparison(source, { ...options, period, list });
    await comparison.run();
    const differences = [...comparison.differences, ...(service ? comparison.figures.differencesTo(service) : [])];
    return { ...comparison.counts, cards: service?.cards ?? null, differences };
  };
  const first = await compare();
  if (first.differences.length === 0) return { from, to, ...first };
  await sleep(SECOND_LOOK_MS);
  const second = await compare();
  const before = new Set(first.differences.map(textOf));
  const differences = second.differences.filter((difference) => before.has(textOf(difference)));
  const moving = second.moving + second.differences.length - differences.length;
  return { from, to, ...second, moving, differences };
}

const textOf = (difference: Difference) => JSON.stringify(difference);

/** Reads the service's sums; undefined without its report. */
async function readFigures(
  { companyId }: ReportSource,
  { from, to, report }: ReconcileOptions,
): Promise<CardFigures | undefined> {
  if (report === undefined) return undefined;
  const figures = new CardFigures();
  for await (const card of readServiceReport(report, { from, to, companyId })) figures.addCard(card);
  return figures;
}
