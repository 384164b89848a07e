import type { GiftcardClient } from "@giftcard-pay/client";
import { type AttemptView, viewAttempt } from "./attempt-view.js";
import { type ReconcileOptions, readReconciliation, readStatement } from "./books.js";
import type { Engine, Evidence } from "./engine.js";
import { type Health, readHealth } from "./health.js";
import type { Attempt, AttemptListing } from "./journal.js";
import type { Reconciliation } from "./reconcile.js";
import type { Sealer } from "./seal.js";
import { resealAll } from "./sealing-upkeep.js";
import type { Statement, StatementOptions } from "./statement.js";

/** What a shop's operator does: look, decide what only a person can tell, and settle the books. Amounts in cents. */
export interface Operator {
  /** How the shop's gift cards are at this moment: the service, the key, the clocks, the seals, and what is open. */
  health(): Promise<Health>;
  /** Lists attempts, what needs attention first, then the newest: `attempts({ states: ["needs_attention"] })`. */
  attempts(filter?: AttemptListing): Promise<{ attempts: AttemptView[]; count: number }>;
  /** What a person goes by who must tell what became of an attempt; null where there is no such attempt. */
  evidence(reference: string): Promise<Evidence | null>;
  /**
   * Asks the service again about an attempt that needs attention, or tries an owed reversal (`canceldevalue`) now.
   *
   * @param actor who asks, as it is written down
   * @returns the attempt as it is now, or null when it doesn't need attention (any more); nothing was done then
   */
  retry(reference: string, actor: string): Promise<AttemptView | null>;
  /** A person tells that the money is off the card and stays off. Parameters and result as with `retry`. */
  markTaken(reference: string, actor: string): Promise<AttemptView | null>;
  /** A person tells that nothing was taken, or that it is back on the card. Parameters and result as with `retry`. */
  markNotTaken(reference: string, actor: string): Promise<AttemptView | null>;
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
   * Adds up what was devalued and cancelled in a period, by day and order, to hold against the issuer's invoice.
   *
   * @throws {RangeError} for days or a commission that are none
   */
  statement(options: StatementOptions): Promise<Statement>;
}

/** The operator's part of a checkout. */
export function createOperator(desk: { engine: Engine; sealer: Sealer; client: GiftcardClient }): Operator {
  const { engine, sealer, client } = desk;
  const { environment, journal } = engine;
  const books = { journal, environment, companyId: client.companyId as number };
  const view = (attempt: Attempt | null) => attempt && viewAttempt(attempt);
  return {
    health: () => readHealth({ environment, client, sealer, journal }),
    async attempts(filter = {}) {
      const { attempts, count } = await journal.list(filter);
      return { attempts: attempts.map(viewAttempt), count };
    },
    evidence: (reference) => engine.evidence(reference),
    retry: async (reference, actor) => view(await engine.retry(reference, actor)),
    markTaken: async (reference, actor) => view(await engine.markTaken(reference, actor)),
    markNotTaken: async (reference, actor) => view(await engine.markNotTaken(reference, actor)),
    reseal: () => resealAll(journal, sealer),
    reconcile: (options) => readReconciliation(books, options),
    statement: (options) => readStatement(books, options),
  };
}
