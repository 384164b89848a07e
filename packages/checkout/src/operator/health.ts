import { GiftcardError, RefusedError } from "@giftcard-pay/client";
import type { CardIssuer } from "../engine/card-issuer.js";
import type { Sealer } from "../sealing/seal.js";
import { readSeals } from "../sealing/upkeep.js";
import type { ChargeState } from "../store/charge.js";
import type { Journal } from "../store/journal.js";

const CALL_TIMEOUT_MS = 5_000;

/** The current health of the shop's gift cards. It contains no secrets. */
export interface Health {
  readonly environment: "live" | "sandbox";
  readonly service: {
    /** Its address. */
    readonly baseUrl: string;
    readonly companyId: number | null;
    readonly isReachable: boolean;
    /** null if the service couldn't be called. */
    readonly isKeyValid: boolean | null;
    /** The error's code if the call failed. */
    readonly fault: string | null;
    readonly answeredInMs: number;
  };
  readonly clock: {
    readonly shop: string;
    /** How far the journal's clock is ahead of the shop's. */
    readonly databaseAheadMs: number;
    /** How far the service's clock is ahead of the shop's, to a second; null if unknown. */
    readonly serviceAheadMs: number | null;
  };
  readonly seals: {
    readonly newestKeyId: string;
    /** The number of sealed values that are still needed, by the id of their key. */
    readonly counts: Readonly<Record<string, number>>;
    /** The number of values whose key isn't configured: charges that can't be reversed until it is. */
    readonly unopenable: number;
    readonly missingKeyIds: readonly string[];
  };
  /** The number of charges by state. Those in `needs_attention` need a person's decision. */
  readonly charges: Readonly<Partial<Record<ChargeState, number>>>;
}

/** The parts of a shop that its health is read from. */
export interface HealthSource {
  readonly environment: "live" | "sandbox";
  readonly issuer: CardIssuer;
  readonly sealer: Sealer;
  readonly journal: Journal;
}

/**
 * Checks the issuer, by a call that needs the API key and changes nothing, and the journal. Takes at
 * most some seconds. Never throws if the service is down.
 */
export async function readHealth({ environment, issuer, sealer, journal }: HealthSource): Promise<Health> {
  const [service, serviceAheadMs, databaseAheadMs, seals, charges] = await Promise.all([
    checkService(issuer),
    readServiceClock(issuer.baseUrl),
    readJournalClock(journal),
    readSeals(journal, sealer),
    journal.countByState(),
  ]);
  return {
    environment,
    service: { baseUrl: issuer.baseUrl, companyId: issuer.companyId ?? null, ...service },
    clock: { shop: new Date().toISOString(), databaseAheadMs, serviceAheadMs },
    seals: { newestKeyId: sealer.newestKeyId, ...seals },
    charges,
  };
}

async function checkService(issuer: CardIssuer) {
  const startedAt = performance.now();
  const answered = () => ({ answeredInMs: Math.round(performance.now() - startedAt) });
  try {
    await issuer.checkAccess({ timeoutMs: CALL_TIMEOUT_MS });
    return { isReachable: true, isKeyValid: true, fault: null, ...answered() };
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    const isRefused = error instanceof RefusedError;
    const isKeyRefused = isRefused && (error.code === "unauthorized" || error.code === "invalid_credentials");
    return {
      isReachable: isRefused,
      isKeyValid: isKeyRefused ? false : null,
      fault: error.code,
      ...answered(),
    };
  }
}

/** Reads the service's clock from the Date header of any response. */
async function readServiceClock(baseUrl: string): Promise<number | null> {
  const before = Date.now();
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const answer = await fetch(baseUrl, { method: "HEAD", redirect: "manual", signal }).catch(() => null);
  const date = Date.parse(answer?.headers.get("date") ?? "");
  if (Number.isNaN(date)) return null;
  const middle = (before + Date.now()) / 2;
  // The header has whole seconds, so add half a second on average.
  return Math.round((date + 500 - middle) / 1000) * 1000 || 0;
}

async function readJournalClock(journal: Journal): Promise<number> {
  const before = Date.now();
  const now = await journal.now();
  return Math.round(now.getTime() - (before + Date.now()) / 2) || 0;
}
