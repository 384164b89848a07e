import { createClient } from "@giftcard-pay/client";
import { exitCodes, Failure } from "./output.js";

/** A busy service needs a while for 500 events, and each timeout causes a retry. */
const TIMEOUT_MS = 30_000;

/**
 * Creates the client from GIFTCARD_BASE_URL, and GIFTCARD_API_KEY.
 *
 * @param options.withKey false if only operations without a key are called
 * @returns also whether the last response was a stored one: the service's response to an earlier, equal call
 * @throws {Failure} if a variable is missing or wrong
 */
export function connect({ withKey = true } = {}) {
  const { GIFTCARD_BASE_URL: baseUrl, GIFTCARD_API_KEY: apiKey } = process.env;
  if (!baseUrl) throw new Failure("Set GIFTCARD_BASE_URL to the service's address.", exitCodes.usage);
  if (withKey && !apiKey) throw new Failure("Set GIFTCARD_API_KEY to the company's key.", exitCodes.usage);
  let replayed = false;
  try {
    const client = createClient({
      baseUrl,
      ...(apiKey && { apiKey }),
      timeoutMs: TIMEOUT_MS,
      onRequest: (info) => {
        replayed = info.replayed;
      },
    });
    return { client, replayed: () => replayed };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure(error.message.replace("baseUrl", "GIFTCARD_BASE_URL"), exitCodes.usage);
  }
}
