import { GiftcardError, RefusedError } from "@giftcard-pay/client";
import type { CardIssuer } from "./card-issuer.js";

const QUIET_MS = 60_000;

/** Refusals that neither a shopper nor a card causes. */
const refusalsOfTheShop: readonly string[] = [
  "unauthorized",
  "invalid_credentials",
  "not_found",
  "method_not_allowed",
  "refused",
];

/** Whether only the shop can fix an error: its API key or company, or the service's address or responses. */
function isFault(error: unknown): error is GiftcardError {
  if (error instanceof RefusedError) return refusalsOfTheShop.includes(error.code);
  // Resolving by key is an optional extension: without it, recovery reads the card's balance.
  return error instanceof GiftcardError && error.code !== "extension_not_supported";
}

/**
 * Wraps the issuer so that faults are reported, each code at most once a minute. The shopper's error only says that the
 * service is unavailable.
 */
export function reportFaults(issuer: CardIssuer, report: (failure: unknown) => void): CardIssuer {
  const quietUntil = new Map<string, number>();

  async function reporting<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      const now = performance.now();
      if (isFault(error) && now >= (quietUntil.get(error.code) ?? 0)) {
        quietUntil.set(error.code, now + QUIET_MS);
        report(error);
      }
      throw error;
    }
  }

  const calls: Pick<CardIssuer, "balance" | "devalue" | "cancelDevalue" | "resolveDevalue"> = {
    balance: (...args) => reporting(issuer.balance(...args)),
    devalue: (...args) => reporting(issuer.devalue(...args)),
    cancelDevalue: (...args) => reporting(issuer.cancelDevalue(...args)),
    resolveDevalue: (...args) => reporting(issuer.resolveDevalue(...args)),
  };
  return Object.create(issuer, Object.getOwnPropertyDescriptors(calls));
}
