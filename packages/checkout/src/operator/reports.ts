import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { movingStates } from "../store/charge-states.js";
import type { Charge, ChargeFilter, Journal } from "../store/journal.js";
import type { Difference } from "./difference.js";
import type { BookedCharge } from "./movements.js";
import { type Days, momentsOf } from "./period.js";
import { type ReconcileInput, type Reconciliation, reconcile, type ShopPayment } from "./reconcile.js";
import { type ReportedCard, readServiceReport } from "./service-report.js";
import { makeStatement, type Statement, type StatementOptions } from "./statement.js";

const PAGE = 500;
const SECOND_LOOK_MS = 1_000;

/** The journal, and which service's money the report is about. */
export interface ReportSource {
  readonly journal: Journal;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
}

/** Which of its payments a shop is asked for: all of one of the three kinds, each once. */
export interface PaymentQuery {
  /** Those made at or after this moment ... */
  readonly from: Date;
  /** ... and before this one. */
  readonly to: Date;
  /** Those of these orders, whenever they were made. */
  readonly orderIds: readonly string[];
  /** Those of these charges, whenever they were made; of no matter to a shop that has one sum per order. */
  readonly externalIds: readonly string[];
}

type Listed = Iterable<ShopPayment> | AsyncIterable<ShopPayment>;

/** What a reconciliation is about. */
export interface ReconcileOptions extends Days, Pick<ReconcileInput, "timeZone" | "settledBefore"> {
  /**
   * The shop's own payments by gift card, or a function that lists them. A function is better where the shop sells
   * meanwhile: what differs is asked for again a second later, and what changed in between was only moving.
   */
  readonly payments: Listed | ((query: PaymentQuery) => Listed | Promise<Listed>);
  /** What the service's `report` command printed for the same days with `--json` or `--csv`. */
  readonly report?: string | undefined;
}

/**
 * Adds up what was devalued and cancelled, by day and order. The journal is read to its end, however long the period is.
 *
 * @throws {RangeError} for days or a commission that are none
 */
export async function readStatement(source: ReportSource, options: StatementOptions): Promise<Statement> {
  const charges: BookedCharge[] = [];
  for await (const charge of readAll(source, { moved: momentsOf(options, options.timeZone) }))
    charges.push(keep(charge));
  return makeStatement(charges, options);
}

/**
 * Holds the journal against the shop's payments and, where it is given, the service's report. The journal is read to its
 * end, however long the period is. What differs is looked at once more, so that a purchase that moves while the books
 * are read is counted in `moving`, and is no difference.
 *
 * @throws {RangeError} for days that are none
 * @throws {ReportError} for a report that can't be read, or is about other days
 * @throws {TypeError} for a payment whose amounts aren't whole cents
 */
export async function readReconciliation(
  source: ReportSource,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { from, to, timeZone, report } = options;
  const moved = momentsOf({ from, to }, timeZone);
  const { companyId } = source;
  const cards = report === undefined ? undefined : readServiceReport(report, { from, to, companyId });
  // A list that can be gone through only once is kept for the second look.
  const given = typeof options.payments === "function" ? undefined : await toArray(options.payments);
  const look = () => lookOnce(source, { ...options, ...(given && { payments: given }) }, moved, cards);
  const first = await look();
  if (first.differences.length === 0) return first;
  await sleep(SECOND_LOOK_MS);
  const second = await look();
  const before = new Set(first.differences.map(textOf));
  const differences = second.differences.filter((difference) => before.has(textOf(difference)));
  return { ...second, differences, moving: second.moving + second.differences.length - differences.length };
}

/** What a report needs of a charge. A month has many of them, and what is sealed in each is the most of it. */
interface KeptCharge extends BookedCharge {
  readonly isByLine: boolean;
}

const keep = (charge: Charge): KeptCharge => ({
  reference: charge.reference,
  externalId: charge.externalId,
  orderId: charge.orderId,
  lastFour: charge.lastFour,
  state: charge.state,
  amountCents: charge.amountCents,
  deductedCents: charge.deductedCents,
  createdAt: charge.createdAt,
  sentAt: charge.sentAt,
  devaluedAt: charge.devaluedAt,
  reversedAt: charge.reversedAt,
  leaseUntil: charge.leaseUntil,
  isByLine: charge.pieces !== null,
});

const textOf = (difference: Difference) => JSON.stringify(difference);

async function lookOnce(
  source: ReportSource,
  { from, to, payments: listed, timeZone, settledBefore }: ReconcileOptions,
  moved: { from: Date; to: Date },
  report: readonly ReportedCard[] | undefined,
): Promise<Reconciliation> {
  const found = new Map<string, KeptCharge>();
  const read = async (filter: ChargeFilter) => {
    for await (const charge of readAll(source, filter)) found.set(charge.reference, keep(charge));
  };
  await read({ moved });
  await read({ states: movingStates, to: moved.to });
  const charges = [...found.values()];
  const query: PaymentQuery = {
    ...moved,
    orderIds: [...new Set(charges.flatMap(({ orderId }) => orderId ?? []))],
    externalIds: charges.map(({ externalId }) => externalId),
  };
  const payments = await toArray(typeof listed === "function" ? await listed(query) : listed);
  const own = await addChargesOf(source, payments, found);
  const asOf = await source.journal.now();
  return reconcile({
    ...{ from, to, charges: [...found.values()], payments: own, report },
    ...{ timeZone, settledBefore, asOf },
  });
}

/**
 * A payment of the period may belong to a charge of another one, and an order has charges of several.
 *
 * @returns the payments without those that another service's cards made
 */
async function addChargesOf(
  source: ReportSource,
  payments: readonly ShopPayment[],
  found: Map<string, KeptCharge>,
): Promise<ShopPayment[]> {
  const isOurs = (charge: Charge) =>
    charge.environment === source.environment && charge.companyId === source.companyId;
  const foreignCharges = new Set<string>();
  const foreignOrders = new Set<string | null>();
  const add = (charge: Charge) => {
    if (isOurs(charge)) found.set(charge.reference, keep(charge));
    else {
      foreignCharges.add(charge.externalId);
      foreignOrders.add(charge.orderId);
    }
  };
  const addThese = async (name: "externalIds" | "orderIds", ids: readonly (string | null | undefined)[]) => {
    const all = [...new Set(ids.flatMap((id) => id ?? []))];
    for (let at = 0; at < all.length; at += PAGE) {
      const filter = { [name]: all.slice(at, at + PAGE) };
      for await (const charge of readPages(source.journal, filter)) add(charge);
    }
  };
  const known = [...found.values()];
  const isKnown = new Set(known.map(({ externalId }) => externalId));
  // A payment that was charged by line may have others of its charges in another period.
  const byLine = known.filter(({ isByLine }) => isByLine).map(({ externalId }) => externalId);
  const others = payments.map(({ externalId }) => externalId).filter((id) => id && !isKnown.has(id));
  await addThese("externalIds", [...byLine, ...others]);
  const ofOrders = payments.filter(({ externalId }) => externalId === undefined);
  await addThese(
    "orderIds",
    ofOrders.map(({ orderId }) => orderId),
  );
  const ourOrders = new Set([...found.values()].map(({ orderId }) => orderId));
  return payments.filter(({ externalId, orderId }) =>
    externalId === undefined
      ? !foreignOrders.has(orderId) || ourOrders.has(orderId)
      : !foreignCharges.has(externalId),
  );
}

async function toArray(payments: Listed): Promise<ShopPayment[]> {
  const all: ShopPayment[] = [];
  for await (const payment of payments) all.push(payment);
  return all;
}

const readAll = ({ journal, environment, companyId }: ReportSource, filter: ChargeFilter) =>
  readPages(journal, { ...filter, environment, companyId });

/** Every charge that matches, page by page: no number of them is cut off. */
async function* readPages(journal: Journal, filter: ChargeFilter): AsyncGenerator<Charge> {
  let after = "";
  for (;;) {
    // A journal in a file answers at once: a long month must not keep the shop from selling meanwhile.
    await turn();
    const page = await journal.readPage(filter, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.reference;
  }
}
