import type { Charge } from "../store/charge.js";
import { movingStates } from "../store/charge-states.js";
import { type Group, groupsOf, judge, type ShopPayment } from "./charge-groups.js";
import { PAGE, type ReportSource, readAnyCharges, readCharges } from "./charge-pages.js";
import type { Difference } from "./difference.js";
import { hasMoved } from "./movements.js";
import { CardFigures } from "./service-figures.js";
import { type PaymentLister, paymentsBetween, paymentsOf } from "./shop-payments.js";

/** The payments to compare with the journal, and the period. */
interface ComparisonOptions {
  readonly period: { readonly from: Date; readonly to: Date };
  readonly list: PaymentLister;
  readonly settledBefore?: Date | undefined;
  readonly onProgress?: ((read: number, what: "charges" | "payments") => void) | undefined;
}

/**
 * One comparison of the journal with the shop's payments. It reads charges in pages by reference, each page with its payments
 * and everything else that belongs to them. A group that begins on another page is judged there. Then it reads the payments
 * without any of these charges. Only differences are kept in memory.
 */
export class BookComparison {
  readonly #source: ReportSource;
  readonly #options: ComparisonOptions;
  readonly #differences = new Map<string, Difference>();
  /** The groups that were judged because of their payments: those of another period, and those that differ. */
  readonly #judged = new Set<string>();
  readonly #counts = { charges: 0, payments: 0, moving: 0 };
  /** The journal's sums for each card. */
  readonly figures = new CardFigures();

  constructor(source: ReportSource, options: ComparisonOptions) {
    this.#source = source;
    this.#options = options;
  }

  get differences(): Difference[] {
    return [...this.#differences.values()];
  }

  /** The numbers of judged charges and payments, and of groups that only differ because they are moving. */
  get counts() {
    return { ...this.#counts };
  }

  async run(): Promise<void> {
    const { period, list, onProgress } = this.#options;
    let read = 0;
    for (const filter of [{ moved: period }, { states: movingStates, to: period.to }]) {
      for await (const page of readCharges(this.#source, filter)) {
        read += page.length;
        onProgress?.(read, "charges");
        await this.#compare(page.filter((charge) => filter.moved || !hasMoved(charge, period)));
      }
    }
    read = 0;
    for await (const batch of paymentsBetween(list, period, PAGE)) {
      read += batch.length;
      onProgress?.(read, "payments");
      await this.#compareUnmatched(batch);
    }
  }

  /** Judges the groups that begin on a page. */
  async #compare(page: readonly Charge[]): Promise<void> {
    const { list, period } = this.#options;
    const charges = new Map(page.map((charge) => [charge.reference, charge]));
    for (const charge of page) this.figures.addCharge(charge, period);
    const payments = await paymentsOf(list, {
      externalIds: page.map(({ externalId }) => externalId),
      orderIds: page.map(({ orderId }) => orderId),
    });
    const own = await this.#chargesOf({
      // A payment that was charged by line may have further charges on another page, or in another period.
      externalIds: page.filter(({ pieces }) => pieces !== null).map(({ externalId }) => externalId),
      orderIds: ordersOf(payments),
    });
    for (const charge of own) if (this.#isOurs(charge)) charges.set(charge.reference, charge);
    const here = new Set(page.map(({ reference }) => reference));
    const groups = groupsOf(charges.values(), payments);
    await this.#judge(groups.filter((group) => here.has(this.#firstOf(group)?.reference ?? "")));
  }

  /** Judges payments whose charges are missing in the journal, or are of another period. */
  async #compareUnmatched(listed: readonly ShopPayment[]): Promise<void> {
    const charges = await this.#chargesOf({
      externalIds: listed.flatMap(({ externalId }) => externalId ?? []),
      orderIds: ordersOf(listed),
    });
    const ours = charges.filter((charge) => this.#isOurs(charge));
    const foreign = charges.filter((charge) => !this.#isOurs(charge));
    const isForeign = ({ charges: [charge], payments: [payment] }: Group) =>
      charge === undefined &&
      foreign.some(({ externalId, orderId }) =>
        payment?.externalId === undefined ? orderId === payment?.orderId : externalId === payment.externalId,
      );
    const left = groupsOf(ours, listed).filter(
      (group) =>
        group.payments.length > 0 && !this.#firstOf(group) && !this.#judged.has(group.key) && !isForeign(group),
    );
    if (left.length === 0) return;
    for (const { key } of left) this.#judged.add(key);
    // Further payments of these groups may be listed later, or be of another period.
    const paid = left.flatMap(({ payments }) => payments);
    const whole = await paymentsOf(this.#options.list, {
      externalIds: paid.flatMap(({ externalId }) => externalId ?? []),
      orderIds: ordersOf(paid),
    });
    const leftCharges = left.flatMap((group) => group.charges);
    const again = new Map(groupsOf(leftCharges, whole).map((group) => [group.key, group]));
    await this.#judge(left.map((group) => again.get(group.key) ?? group));
  }

  async #judge(groups: readonly Group<Charge>[]): Promise<void> {
    if (groups.length === 0) return;
    const asOf = await this.#source.journal.now();
    for (const group of groups) {
      this.#counts.charges += group.charges.length;
      this.#counts.payments += group.payments.length;
      const found = judge(group, { asOf, settledBefore: this.#options.settledBefore });
      if (found === null) this.#counts.moving += 1;
      else for (const difference of found) this.#differences.set(JSON.stringify(difference), difference);
    }
  }

  /** Returns the charge on whose page a group is judged: the first of those that are read. */
  #firstOf({ charges }: Group<Charge>): Charge | undefined {
    const { period } = this.#options;
    const first = (some: Charge[]) =>
      some.reduce<Charge | undefined>((a, b) => (a && a.reference < b.reference ? a : b), undefined);
    const isOpen = ({ state, createdAt }: Charge) => movingStates.includes(state) && createdAt < period.to;
    return first(charges.filter((charge) => hasMoved(charge, period))) ?? first(charges.filter(isOpen));
  }

  /** Returns all charges of these payments and orders, of any service. */
  async #chargesOf(ids: { externalIds: string[]; orderIds: string[] }): Promise<Charge[]> {
    const found: Charge[] = [];
    for (const name of ["externalIds", "orderIds"] as const) {
      const named = [...new Set(ids[name])];
      if (named.length === 0) continue;
      for await (const page of readAnyCharges(this.#source.journal, { [name]: named })) found.push(...page);
    }
    return found;
  }

  #isOurs({ environment, companyId }: Charge): boolean {
    return environment === this.#source.environment && companyId === this.#source.companyId;
  }
}

/** Returns the orders of the payments that are the sum of an order. */
const ordersOf = (payments: readonly ShopPayment[]): string[] =>
  payments.flatMap(({ externalId, orderId }) => (externalId === undefined ? (orderId ?? []) : []));
