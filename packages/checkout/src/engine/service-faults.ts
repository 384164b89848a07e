import { type GiftcardClient, GiftcardError, RefusedError } from "@giftcard-pay/client";

const QUIET_MS = 60_000;

/** Refusals that no shopper and no card is the cause of. */
const refusalsOfTheShop: readonly string[] = [
  "unauthorized",
  "invalid_credentials",
  "not_found",
  "method_not_allowed",
  "refused",
];

/** What only the shop can mend: its key, its company, the service's address, or a service that doesn't answer as one. */
function isFault(error: unknown): error is GiftcardError {
  if (error instanceof RefusedError) return refusalsOfTheShop.includes(error.code);
  // A service may do without ending by key: recovery has another way then.
  return error instanceof GiftcardError && error.code !== "extension_not_supported";
}

/**
 * The same client, whose faults are reported too, each code at most once a minute: the shopper hears only that the service
 * can't be used now.
 */
export function reportFaults(client: GiftcardClient, report: (failure: unknown) => void): GiftcardClient {
  const quietUntil = new Map<string, number>();

  async function heard<T>(call: Promise<T>): Promise<T> {
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

  const calls: Pick<GiftcardClient, "balance" | "devalue" | "cancelDevalue" | "resolveDevalue"> = {
    balance: (...args) => heard(client.balance(...args)),
    devalue: (...args) => heard(client.devalue(...args)),
    cancelDevalue: (...args) => heard(client.cancelDevalue(...args)),
    resolveDevalue: (...args) => heard(client.resolveDevalue(...args)),
  };
  return Object.create(client, Object.getOwnPropertyDescriptors(calls));
}
