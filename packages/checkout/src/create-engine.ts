import { createAttempts } from "./attempts.js";
import type { Engine, EngineOptions } from "./engine.js";
import { CheckoutError } from "./errors.js";
import { createPeople } from "./people.js";
import { createTenders } from "./tenders.js";

const MINUTE_MS = 60_000;

/**
 * Makes the money flow of one shop.
 *
 * @param options the service's client, where the flow is written down, the seals, and the limits
 * @throws {TypeError} when the client has no company id, without which no card can be charged
 */
export function createEngine(options: EngineOptions): Engine {
  const { client, journal, sealer, leaseMs = 2 * MINUTE_MS } = options;
  const environment = options.environment ?? client.environment ?? "live";
  const { companyId } = client;
  if (companyId === undefined) throw new TypeError("The gift card client needs a companyId.");
  const tenders = createTenders({
    client,
    journal,
    sealer,
    environment,
    maxCards: options.maxCards ?? 5,
    tenderLifeMs: options.tenderLifeMs ?? 120 * MINUTE_MS,
    quoteLifeMs: options.quoteLifeMs ?? 15 * MINUTE_MS,
    guessLimits: options.guessLimits ?? {},
    onTender: options.onTender ?? (() => {}),
  });
  const desk = {
    client,
    journal,
    sealer,
    environment,
    companyId,
    leaseMs,
    onChange: options.onChange ?? (() => {}),
  };
  const attempts = createAttempts(desk);
  return {
    environment,
    journal,
    ...tenders,
    ...createPeople(desk),
    checkCovers(plan, otherCents) {
      if (otherCents === plan.remainderCents) return;
      if (plan.hasSettling) throw new CheckoutError("payment_in_progress");
      throw new CheckoutError(plan.hasExpired ? "applied_card_expired" : "amount_changed");
    },
    begin: attempts.begin,
    devalue: attempts.devalue,
    commit: attempts.commit,
    capture: attempts.capture,
    reverse: attempts.reverse,
    settle: attempts.settle,
    recover: attempts.recover,
    renew: (owner) => journal.renew(owner, leaseMs),
  };
}
