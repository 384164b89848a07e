import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import { exitCodes, Failure } from "./failure.js";

/** Creating 500 events may take a busy service a while; an answer given up too early is one to ask for again. */
const TIMEOUT_MS = 30_000;

/** A client of the service that the environment names. */
export interface Connection {
  readonly client: GiftcardClient;
  /** Whether the last answer was the service's kept answer to an earlier call. */
  replayed(): boolean;
}

/**
 * Makes the client from GIFTCARD_BASE_URL, and GIFTCARD_API_KEY or GIFTCARD_EMAIL and GIFTCARD_PASSWORD.
 *
 * @param options.withKey false where an operation without a key is all that is called
 * @throws {Failure} naming the variable that is missing or wrong
 */
export function connect(env: NodeJS.ProcessEnv, { withKey = true } = {}): Connection {
  const {
    GIFTCARD_BASE_URL: baseUrl,
    GIFTCARD_API_KEY: apiKey,
    GIFTCARD_EMAIL: email,
    GIFTCARD_PASSWORD: password,
  } = env;
  if (!baseUrl) throw new Failure("Set GIFTCARD_BASE_URL to the service's address.", exitCodes.usage);
  if (withKey && !apiKey && !(email && password)) {
    throw new Failure(
      "Set GIFTCARD_API_KEY, or GIFTCARD_EMAIL and GIFTCARD_PASSWORD, to the company's.",
      exitCodes.usage,
    );
  }
  let replayed = false;
  try {
    const client = createClient({
      baseUrl,
      ...(apiKey ? { apiKey } : email && password ? { credentials: { email, password } } : {}),
      timeoutMs: TIMEOUT_MS,
      onRequest: (info) => {
        replayed = info.replayed;
      },
    });
    return { client, replayed: () => replayed };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = error.message
      .replace("baseUrl", "GIFTCARD_BASE_URL")
      .replace("credentials.email", "GIFTCARD_EMAIL");
    throw new Failure(message, exitCodes.usage);
  }
}
