import type { GiftcardClient } from "@giftcard-pay/client";
import { type ChargeView, viewCharge } from "../engine/charge-view.js";
import type { Engine, Evidence } from "../engine/engine.js";
import type { Sealer } from "../sealing/seal.js";
import { resealAll } from "../sealing/upkeep.js";
import type { Charge, ChargeListing } from "../store/charge.js";
import type { Purchase, PurchaseListing, PurchaseStore } from "../store/purchase-store.js";
import { type Health, readHealth } from "./health.js";
import type { Reconciliation } from "./reconciliation.js";
import { type ReconcileOptions, readReconciliation, readStatement } from "./reports.js";
import type { Statement, StatementOptions } from "./statement.js";

/** How a checkout is: its health as an engine, and its purchases. */
export interface CheckoutHealth extends Health {
  readonly purchases: {
    /** How many aren't settled. */
    readonly open: number;
    /** How many of them have failed three times or more. */
    readonly failing: number;
  };
}

const FAILING_TRIES = 3;

/** What a shop's operator does: look, decide what only a person can tell, and reconcile. Amounts in cents. */
export interface Operator {
  /** How the shop's gift cards are at this moment: the service, the key, the clocks, the seals, and what is open. */
  health(): Promise<CheckoutHealth>;
  /**
   * Lists purchases, those that aren't settled unless `states` says otherwise: the most failed tries first, then the oldest.
   * Each has its `tries`, its `lastError` and when it was begun.
   */
  purchases(listing?: PurchaseListing): Promise<{ purchases: Purchase[]; count: number }>;
  /**
   * Takes the next step of a purchase that isn't settled now, such as canceling a remainder that couldn't be canceled before.
   *
   * @param actor who asks, as it is written down
   * @returns the purchase as it is now, or null when it is settled, or somebody is at it; nothing was done then
   */
  retryPurchase(orderId: string, actor: string): Promise<Purchase | null>;
  /** Lists charges, what needs attention first, then the newest: `charges({ states: ["needs_attention"] })`. */
  charges(filter?: ChargeListing): Promise<{ charges: ChargeView[]; count: number }>;
  /** What a person goes by who must tell what became of a charge; null where there is no such charge. */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * Asks the service again about a charge that needs attention, or tries an owed reversal (`canceldevalue`) now.
   *
   * @param actor who asks, as it is written down
   * @returns the charge as it is now, or null when it doesn't need attention (any more); nothing was done then
   */
  retry(reference: string, actor: string): Promise<ChargeView | null>;
  /** A person tells that the money is off the card and stays off. Parameters and result as with `retry`. */
  markTaken(reference: string, actor: string): Promise<ChargeView | null>;
  /** A person tells that nothing was taken, or that it is back on the card. Parameters and result as with `retry`. */
  markNotTaken(reference: string, actor: string): Promise<ChargeView | null>;
  /**
   * Seals every card and cancel token that may still be needed under the newest sealing key, so that older keys can be
   * taken out of the settings. Safe beside a shop that sells.
   *
   * @returns how many were sealed anew
   * @throws {SealError} when one can't be opened; those before it are done
   */
  reseal(): Promise<number>;
  /**
   * Holds what was charged against the shop's own payments and, where the card's issuer shares it, the service's report.
   * The whole period is read, however many charges it has. What differs is looked at again a second later: a purchase
   * that moves while the books are read counts as `moving`, and is no difference.
   *
   * @param options whole days; `payments`, a list or a function that lists them: one per order is enough
   * @returns the differences, each with both sides
   * @throws {RangeError} for days that are none
   * @throws {ReportError} for a report that can't be read, or is about other days
   * @throws {TypeError} for a payment whose amounts aren't whole cents, or that names no order
   */
  reconcile(options: ReconcileOptions): Promise<Reconciliation>;
  /**
   * Adds up what was devalued and canceled in a period, by day and order, to hold against the issuer's invoice.
   *
   * @throws {RangeError} for days or a commission that are none
   */
  statement(options: StatementOptions): Promise<Statement>;
}

interface OperatorContext extends Pick<Operator, "retryPurchase"> {
  readonly engine: Engine;
  readonly sealer: Sealer;
  readonly client: GiftcardClient;
  readonly purchases: PurchaseStore;
}

/** The operator's part of a checkout. */
export function createOperator(context: OperatorContext): Operator {
  const { engine, sealer, client, purchases, retryPurchase } = context;
  const { environment, journal } = engine;
  const source = { journal, environment, companyId: client.companyId as number };
  const view = (charge: Charge | null) => charge && viewCharge(charge);
  return {
    async health() {
      const [health, open, failing] = await Promise.all([
        readHealth({ environment, client, sealer, journal }),
        purchases.list({ limit: 0 }),
        purchases.list({ limit: 0, minTries: FAILING_TRIES }),
      ]);
      return { ...health, purchases: { open: open.count, failing: failing.count } };
    },
    purchases: (listing = {}) => purchases.list(listing),
    retryPurchase,
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
