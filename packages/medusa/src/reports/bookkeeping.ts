import type { Days } from "@giftcard-pay/checkout/operator";
import { momentsOf, readGrossCents } from "@giftcard-pay/checkout/plugin";
import { readServices } from "../journal-tables/charges.js";
import {
  type BookedColumns,
  type BookedOrder,
  countBookedOrders,
  type MedusaTotals,
  type Period,
  readBookedColumns,
  readBookedOrders,
  readMedusaTotals,
} from "../medusa-tables/booked-orders.js";
import { isNothing, type Movement, type MovementKind, movementKinds, type VatAmounts } from "./order-movements.js";
import { type BookedSource, readOrderlessMovements, readOrderMovements } from "./read-movements.js";

/** A sum of the export next to the same sum from elsewhere, in whole cents. */
export interface BooksCheck {
  /**
   * - `cards`: the statement's gross sum
   * - `sales`: Medusa's totals of the orders
   * - `payments`, `refunds`: what Medusa captured and refunded by another method
   */
  readonly check: "cards" | "sales" | "payments" | "refunds";
  /** The provider of `payments` and `refunds`, otherwise null. */
  readonly method: string | null;
  readonly exportCents: number;
  readonly otherCents: number;
  /** The export's minus the other. */
  readonly differenceCents: number;
}

/** The totals of an export for the books, in whole cents. */
export interface BooksTotals extends Days {
  readonly currency: "EUR";
  /**
   * If the period isn't over, the export covers what happened before this moment, in ISO 8601; otherwise null. A purchase takes
   * less than the time from it to now, so none in progress is cut in two.
   */
  readonly until: string | null;
  /** The number of movements. */
  readonly movements: number;
  readonly byKind: Readonly<Record<MovementKind, { readonly count: number; readonly grossCents: number }>>;
  /** The highest rate first, in percent. */
  readonly byRate: readonly (VatAmounts & { readonly ratePercent: string })[];
  /** `card` for all gift cards, or Medusa's id of a provider. */
  readonly byMethod: readonly {
    readonly method: string;
    readonly paidCents: number;
    readonly repaidCents: number;
    readonly netCents: number;
  }[];
  /** Gross minus payments: what the customers still owe from this period. Below 0, it is owed to them. */
  readonly receivableCents: number;
  readonly checks: readonly BooksCheck[];
  /** The number of orders in other currencies, which are left out. */
  readonly otherCurrencies: number;
  /** Whether no check found a difference. */
  readonly reconciles: boolean;
}

/** An export for the books that is being read. */
export interface Bookkeeping {
  readonly days: Days;
  readonly columns: BookedColumns;
  /** Reads the movements, of the oldest order first. */
  movements(): AsyncGenerator<Movement>;
  /** Compares the movements that were read with the statement and with Medusa's own totals. */
  totals(): Promise<BooksTotals>;
}

/** How many orders, and how many of their ids, are in memory at once. */
const PAGE = 200;
const IDS = 5000;

/** Whatever is younger may still be in progress, such as an order whose payments aren't written yet. */
const SETTLED_MS = 2 * 60_000;

/**
 * Begins an export of a period for the books. It reads some hundred orders at a time. Of a period that isn't over, it covers
 * what happened until two minutes ago.
 * @param onProgress called with the number of orders that were read, and of all orders
 * @throws {RangeError} for invalid days
 */
export async function openBookkeeping(
  source: BookedSource,
  days: Days,
  onProgress?: (read: number, all: number) => void,
): Promise<Bookkeeping> {
  const { from, to } = momentsOf(days);
  const settled = new Date(Date.now() - SETTLED_MS);
  const period: Period = { from, to: to < settled ? to : settled };
  const columns = await readBookedColumns(source.sql, period);
  const sums = new Sums();
  const medusa = await readMedusaTotals(source.sql, period);
  const providers = new Set([...columns.providers, ...medusa.methods.map(({ providerId }) => providerId)]);

  async function* movements(): AsyncGenerator<Movement> {
    for await (const movement of everyMovement()) {
      sums.add(movement);
      if (!isNothing(movement)) yield movement;
    }
  }

  async function* everyMovement(): AsyncGenerator<Movement> {
    const all = onProgress ? await countBookedOrders(source.sql, period) : 0;
    let read = 0;
    for await (const orderIds of everyOrder(source, period)) {
      yield* await readOrderMovements(source, orderIds, period);
      read += orderIds.length;
      onProgress?.(read, all);
    }
    yield* readOrderlessMovements(source, period);
  }

  return {
    days: { from: days.from, to: days.to },
    columns: { rates: columns.rates, providers: [...providers].sort() },
    movements,
    totals: async () => {
      const statementCents = await readStatementCents(source, days, period);
      return sums.totals(days, { until: period.to < to ? period.to.toISOString() : null, statementCents, medusa });
    },
  };
}

/** Reads the ids of a period's orders in pages, oldest first. */
async function* everyOrder({ sql }: BookedSource, period: Period): AsyncGenerator<string[]> {
  let after: BookedOrder | null = null;
  for (;;) {
    const orders: BookedOrder[] = await readBookedOrders(sql, period, { after, limit: IDS });
    const orderIds = orders.map(({ id }) => id);
    for (let at = 0; at < orderIds.length; at += PAGE) yield orderIds.slice(at, at + PAGE);
    if (orders.length < IDS) return;
    after = orders.at(-1) ?? null;
  }
}

async function readStatementCents(source: BookedSource, { from, to }: Days, period: Period): Promise<number> {
  let cents = 0;
  for (const { environment, companyId } of await readServices(source.sql)) {
    const service = { journal: source.journal, environment: environment as "live", companyId: Number(companyId) };
    cents += await readGrossCents(service, { from, to, before: period.to });
  }
  return cents;
}

interface Others {
  readonly until: string | null;
  readonly statementCents: number;
  readonly medusa: MedusaTotals;
}

/** Adds movements up. */
class Sums {
  #movements = 0;
  readonly #byKind = new Map<MovementKind, { count: number; grossCents: number }>();
  readonly #byRate = new Map<string, VatAmounts>();
  readonly #byMethod = new Map<string, { paidCents: number; repaidCents: number }>([["card", nothingPaid()]]);

  add(movement: Movement): void {
    for (const { lastFour, providerId, cents } of movement.moves) {
      const method = lastFour === null ? providerId : "card";
      const sum = this.#byMethod.get(method) ?? nothingPaid();
      if (cents > 0) sum.paidCents += cents;
      else sum.repaidCents -= cents;
      this.#byMethod.set(method, sum);
    }
    if (isNothing(movement)) return;
    this.#movements += 1;
    const { count = 0, grossCents = 0 } = this.#byKind.get(movement.kind) ?? {};
    this.#byKind.set(movement.kind, { count: count + 1, grossCents: grossCents + movement.grossCents });
    for (const [rate, amounts] of movement.byRate) {
      const sum = this.#byRate.get(rate) ?? { grossCents: 0, netCents: 0, vatCents: 0 };
      this.#byRate.set(rate, {
        grossCents: sum.grossCents + amounts.grossCents,
        netCents: sum.netCents + amounts.netCents,
        vatCents: sum.vatCents + amounts.vatCents,
      });
    }
  }

  totals({ from, to }: Days, others: Others): BooksTotals {
    const kinds = movementKinds.map((kind) => [kind, this.#byKind.get(kind) ?? { count: 0, grossCents: 0 }] as const);
    const byKind = Object.fromEntries(kinds) as BooksTotals["byKind"];
    const byRate = [...this.#byRate]
      .map(([ratePercent, amounts]) => ({ ratePercent, ...amounts }))
      .sort((a, b) => Number(b.ratePercent) - Number(a.ratePercent));
    const byMethod = [...this.#byMethod]
      .map(([method, sum]) => ({ method, ...sum, netCents: sum.paidCents - sum.repaidCents }))
      .sort((a, b) => Number(b.method === "card") - Number(a.method === "card") || (a.method < b.method ? -1 : 1));
    const checks = this.#checks(others, byKind.sale.grossCents);
    const sumOf = (cents: readonly number[]) => cents.reduce((sum, one) => sum + one, 0);
    return {
      ...{ from, to, currency: "EUR", until: others.until },
      ...{ movements: this.#movements, byKind, byRate, byMethod, checks },
      receivableCents:
        sumOf(byRate.map(({ grossCents }) => grossCents)) - sumOf(byMethod.map(({ netCents }) => netCents)),
      otherCurrencies: others.medusa.otherCurrencies,
      reconciles: checks.every(({ differenceCents }) => differenceCents === 0),
    };
  }

  #checks({ statementCents, medusa }: Others, salesCents: number): BooksCheck[] {
    const check = (name: BooksCheck["check"], method: string | null, exportCents: number, otherCents: number) => ({
      ...{ check: name, method, exportCents, otherCents },
      differenceCents: exportCents - otherCents,
    });
    const cards = this.#byMethod.get("card") ?? nothingPaid();
    const byMedusa = new Map(medusa.methods.map(({ providerId, ...sums }) => [providerId, sums]));
    const methods = [...new Set([...byMedusa.keys(), ...this.#byMethod.keys()])].filter((one) => one !== "card").sort();
    return [
      check("cards", null, cards.paidCents - cards.repaidCents, statementCents),
      check("sales", null, salesCents, medusa.salesCents),
      ...methods.flatMap((method) => {
        const [own, other] = [this.#byMethod.get(method) ?? nothingPaid(), byMedusa.get(method) ?? nothingPaid()];
        return [
          check("payments", method, own.paidCents, other.paidCents),
          check("refunds", method, own.repaidCents, other.repaidCents),
        ];
      }),
    ];
  }
}

const nothingPaid = () => ({ paidCents: 0, repaidCents: 0 });
