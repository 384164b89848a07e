import { type ChargeView, viewCharge } from "../engine/charge-view.js";
import type { Engine, Evidence } from "../engine/engine.js";
import type { Sealer } from "../sealing/seal.js";
import { resealAll } from "../sealing/upkeep.js";
import type { Charge, ChargeListing } from "../store/charge.js";
import type { Purchase, PurchaseListing, PurchaseStore } from "../store/purchase-store.js";
import { type Health, type HealthSource, readHealth } from "./health.js";
import type { Reconciliation } from "./reconciliation.js";
import { type ReconcileOptions, readReconciliation, readStatement } from "./reports.js";
import type { Statement, StatementOptions } from "./statement.js";

/** The health of a checkout, including its purchases. */
export interface CheckoutHealth extends Health {
  readonly purchases: {
    /** The number of unsettled purchases. */
    readonly open: number;
    /** The number of those that have failed at least three times. */
    readonly failing: number;
  };
}

const FAILING_TRIES = 3;

/** Reads the health of a checkout. Never throws if the issuer is down. */
export async function readCheckoutHealth(source: HealthSource, purchases: PurchaseStore): Promise<CheckoutHealth> {
  const [health, open, failing] = await Promise.all([
    readHealth(source),
    purchases.list({ limit: 0 }),
    purchases.list({ limit: 0, minTries: FAILING_TRIES }),
  ]);
  return { ...health, purchases: { open: open.count, failing: failing.count } };
}

/** The calls for a shop's operator: decisions, reconciliation and statements. Amounts in cents. */
export interface Operator {
  /**
   * Lists purchases by most failed attempts first, then the oldest. Default: those that aren't settled. Each has its `tries`,
   * `lastError` and `createdAt`.
   */
  purchases(listing?: PurchaseListing): Promise<{ purchases: Purchase[]; count: number }>;
  /**
   * Retries the failed step of an unsettled purchase, such as canceling a remainder that couldn't be canceled before. The
   * remainder of a pending purchase is asked for. If it isn't paid yet, the purchase stays pending; `cancel` gives it up.
   *
   * @param actor the person, for the record
   * @returns the current purchase, or null if it is settled or another process holds it; nothing was done then
   */
  retryPurchase(orderId: string, actor: string): Promise<Purchase | null>;
  /**
   * Records that a remainder which the method can't return is settled elsewhere: refunded by hand, or lost to a dispute. Its
   * reversal or refund is completed without the method, which isn't asked about this remainder any more.
   *
   * @param actor the person, for the record
   * @returns the current purchase, or null if nothing is being returned or another process holds it; nothing was done then
   */
  markRemainderSettled(orderId: string, actor: string): Promise<Purchase | null>;
  /** Lists charges that need attention first, then the newest. For example `charges({ states: ["needs_attention"] })`. */
  charges(filter?: ChargeListing): Promise<{ charges: ChargeView[]; count: number }>;
  /** Returns the facts for a person's decision about a charge; null if there is no such charge. */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * Retries a charge that needs attention, or an owed reversal (`canceldevalue`).
   *
   * @param actor the person, for the record
   * @returns the current charge, or null if it doesn't need attention (any more); nothing was done then
   */
  retry(reference: string, actor: string): Promise<ChargeView | null>;
  /** Records a decision that the money was taken and stays taken. Parameters and result as for `retry`. */
  markTaken(reference: string, actor: string): Promise<ChargeView | null>;
  /** Records a decision that nothing was taken, or that it is back on the card. Parameters and result as for `retry`. */
  markNotTaken(reference: string, actor: string): Promise<ChargeView | null>;
  /**
   * Seals all cards and cancel tokens that are still needed under the newest sealing key, so that older keys can be removed
   * from the settings. The shop can sell meanwhile.
   *
   * @returns the number of resealed values
   * @throws {SealError} if one can't be opened; those before it are resealed
   */
  reseal(): Promise<number>;
  /**
   * Compares the charges with the shop's own payments and, if the issuer shares it, with the service's report, for a period of
   * any length. Differences are compared again a second later: a purchase that moves meanwhile is counted in `moving`, and is
   * no difference.
   *
   * @param options whole days; `payments`, a list or a function that lists them, one per order or one per charge
   * @returns the differences, each with both sides
   * @throws {RangeError} if the days are invalid
   * @throws {ReportError} if the report can't be read, or has other days
   * @throws {TypeError} if a payment's amounts aren't whole cents, or it refers to neither an order nor a charge
   */
  reconcile(options: ReconcileOptions): Promise<Reconciliation>;
  /**
   * Sums the devalued and canceled amounts of a period by day and order, to compare with the issuer's invoice.
   *
   * @throws {RangeError} if the days are invalid
   */
  statement(options: StatementOptions): Promise<Statement>;
}

interface OperatorContext extends Pick<Operator, "retryPurchase" | "markRemainderSettled"> {
  readonly engine: Engine;
  readonly sealer: Sealer;
  readonly companyId: number;
  readonly purchases: PurchaseStore;
}

/** Makes the operator's calls of a checkout. */
export function createOperator(context: OperatorContext): Operator {
  const { engine, sealer, companyId, purchases, retryPurchase, markRemainderSettled } = context;
  const { environment, journal } = engine;
  const source = { journal, environment, companyId };
  const view = (charge: Charge | null) => charge && viewCharge(charge);
  return {
    purchases: (listing = {}) => purchases.list(listing),
    retryPurchase,
    markRemainderSettled,
    async charges(filter = {}) {
      const { charges, count } = await journal.list(filter);
      return { charges: charges.map(viewCharge), count };
    },
    evidence: (reference) => engine.evidence(reference),
    retry: async (reference, actor) => view(await engine.retry(reference, actor)),
    markTaken: async (reference, actor) => view(await engine.markTaken(reference, actor)),
    markNotTaken: async (reference, actor) => view(await engine.markNotTaken(reference, actor)),
    reseal: () => resealAll(journal, sealer),
    reconcile: (options) => readReconciliation(source, options),
    statement: (options) => readStatement(source, options),
  };
}
