import { createFingerprints } from "../sealing/fingerprints.js";
import type { Charge } from "../store/charge.js";
import { createRecovery } from "./charge-recovery.js";
import { viewCharge } from "./charge-view.js";
import { createCharges } from "./charges.js";
import { moveAndAnnounce } from "./context.js";
import { createDecisions } from "./decisions.js";
import type { Engine, EngineOptions } from "./engine.js";
import { CheckoutError } from "./errors.js";
import { createLateWrites } from "./late-writes.js";
import { createReport, guardObserver } from "./observers.js";
import { createRefunds } from "./refunds.js";
import { reportFaults } from "./service-faults.js";
import { createTenders } from "./tenders.js";

const MINUTE_MS = 60_000;

/**
 * Makes the engine of one shop.
 *
 * @throws {TypeError} if the issuer has no company id, without which no card can be charged; without an environment
 */
export function createEngine(options: EngineOptions): Engine {
  const { journal, sealer, leaseMs = 2 * MINUTE_MS, maxCards = 5 } = options;
  const environment = options.environment ?? options.issuer.environment;
  const { companyId } = options.issuer;
  if (companyId === undefined) throw new TypeError("The issuer needs a companyId.");
  if (environment === undefined) throw new TypeError('The engine needs the environment "sandbox" or "live".');
  const report = createReport(options.onFailure);
  const issuer = reportFaults(options.issuer, report);
  const announceChange = guardObserver(options.onChange, report);
  const onChange = (charge: Charge) => announceChange(viewCharge(charge));
  const tenders = createTenders({
    issuer,
    journal,
    sealer,
    fingerprints: createFingerprints(journal, sealer),
    environment,
    maxCards,
    leastRemainderCents: options.leastRemainderCents ?? 0,
    tenderLifeMs: options.tenderLifeMs ?? 120 * MINUTE_MS,
    quoteLifeMs: options.quoteLifeMs ?? 15 * MINUTE_MS,
    guessLimits: options.guessLimits ?? {},
    onTender: guardObserver(options.onTender, report),
  });
  const context = {
    issuer,
    journal,
    sealer,
    environment,
    companyId,
    leaseMs,
    maxCards,
    onChange,
    report,
    lateWrites: createLateWrites(moveAndAnnounce({ journal, onChange }).move, report),
  };
  const recovery = createRecovery(context);
  const charges = createCharges(context, recovery);
  return {
    environment,
    journal,
    ...tenders,
    ...createDecisions(context, recovery),
    ...createRefunds(context, recovery),
    checkShown(plan, shown) {
      if (shown === plan.shown) return;
      if (plan.hasSettling) throw new CheckoutError("payment_in_progress");
      throw new CheckoutError(plan.hasExpired ? "applied_card_expired" : "amount_changed");
    },
    ...charges,
    recoverCart: recovery.recoverCart,
    recover: recovery.recover,
    renew: (owner) => journal.renew(owner, leaseMs),
  };
}
