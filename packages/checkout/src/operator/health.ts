import { type GiftcardClient, GiftcardError, RefusedError } from "@giftcard-pay/client";
import type { Sealer } from "../sealing/seal.js";
import { readSeals } from "../sealing/upkeep.js";
import type { ChargeState } from "../store/charge.js";
import type { Journal } from "../store/journal.js";

const CALL_TIMEOUT_MS = 5_000;

/** How the shop's gift cards are, at this moment. No secret stands in it. */
export interface Health {
  readonly environment: "live" | "sandbox";
  readonly service: {
    /** Its address. */
    readonly baseUrl: string;
    readonly companyId: number | null;
    readonly isReachable: boolean;
    /** null where the service couldn't be asked. */
    readonly isKeyValid: boolean | null;
    /** Why it wasn't reached or refused: a code of the client. */
    readonly fault: string | null;
    readonly answeredInMs: number;
  };
  readonly clock: {
    readonly shop: string;
    /** How far the journal's clock is ahead of the shop's. */
    readonly databaseAheadMs: number;
    /** How far the service's clock is ahead of the shop's, to a second; null where it doesn't say. */
    readonly serviceAheadMs: number | null;
  };
  readonly seals: {
    readonly newestKeyId: string;
    /** Living sealed values by the id of the key that sealed them. */
    readonly counts: Readonly<Record<string, number>>;
    /** Sealed under a key that isn't configured: money that can't be reversed until it is. */
    readonly unopenable: number;
    readonly missingKeyIds: readonly string[];
  };
  /** How many charges are in each state; `needs_attention` waits for a person. */
  readonly charges: Readonly<Partial<Record<ChargeState, number>>>;
}

/** What is looked at: the shop's client, its seals, and its journal. */
export interface HealthSource {
  readonly environment: "live" | "sandbox";
  readonly client: GiftcardClient;
  readonly sealer: Sealer;
  readonly journal: Journal;
}

/**
 * Asks the service (`geteventconcepts`, which needs the key and changes nothing) and the journal. Takes at most some
 * seconds, and never throws for a service that is down.
 */
export async function readHealth({ environment, client, sealer, journal }: HealthSource): Promise<Health> {
  const [service, serviceAheadMs, databaseAheadMs, seals, charges] = await Promise.all([
    askService(client),
    readServiceClock(client.baseUrl),
    readJournalClock(journal),
    readSeals(journal, sealer),
    journal.countByState(),
  ]);
  return {
    environment,
    service: { baseUrl: client.baseUrl, companyId: client.companyId ?? null, ...service },
    clock: { shop: new Date().toISOString(), databaseAheadMs, serviceAheadMs },
    seals: { newestKeyId: sealer.newestKeyId, ...seals },
    charges,
  };
}

async function askService(client: GiftcardClient) {
  const startedAt = performance.now();
  const answered = () => ({ answeredInMs: Math.round(performance.now() - startedAt) });
  try {
    await client.listEventConcepts({ timeoutMs: CALL_TIMEOUT_MS });
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

/** Any answer's Date header tells; what else it says doesn't matter. */
async function readServiceClock(baseUrl: string): Promise<number | null> {
  const before = Date.now();
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const answer = await fetch(baseUrl, { method: "HEAD", redirect: "manual", signal }).catch(() => null);
  const date = Date.parse(answer?.headers.get("date") ?? "");
  if (Number.isNaN(date)) return null;
  const middle = (before + Date.now()) / 2;
  // The header counts whole seconds: on average half a second has gone since.
  return Math.round((date + 500 - middle) / 1000) * 1000 || 0;
}

async function readJournalClock(journal: Journal): Promise<number> {
  const before = Date.now();
  const now = await journal.now();
  return Math.round(now.getTime() - (before + Date.now()) / 2) || 0;
}
