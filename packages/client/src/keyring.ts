import type { EndpointName, Secret } from "./contract/index.js";
import { type Deadline, startDeadline } from "./deadline.js";
import { RefusedError, UnreachableError } from "./errors.js";
import type { Settings } from "./options.js";

/** Holds the API key, or fetches one with email and password. */
export interface Keyring {
  /** Returns the key, and fetches it first if there is none. Concurrent callers share one fetch. */
  get(endpoint: EndpointName, deadline: Deadline): Promise<Secret>;
  /** Drops a key that the service refused. Returns whether there are credentials to fetch another. */
  drop(key: Secret): boolean;
  /** Fetches a new key and keeps it. */
  renew(deadline: Deadline): Promise<Secret>;
}

/**
 * Creates a keyring.
 *
 * @param fetchKey calls `authenticate` with this Authorization header
 */
export function createKeyring(
  settings: Pick<Settings, "apiKey" | "credentials" | "timeoutMs">,
  fetchKey: (authorization: string, deadline: Deadline) => Promise<Secret>,
): Keyring {
  const { credentials } = settings;
  let current = settings.apiKey;
  let fetching: Promise<Secret> | undefined;

  async function fetchOnce(): Promise<Secret> {
    if (!credentials) throw missing("authenticate", "credentials", "the client has no email and password");
    // Use the client's timeout: a caller that gives up must not abort the fetch for the others.
    const deadline = startDeadline(settings.timeoutMs);
    try {
      current = await fetchKey(basic(credentials.email, credentials.password), deadline);
      return current;
    } finally {
      deadline.end();
      fetching = undefined;
    }
  }

  async function renew(deadline: Deadline): Promise<Secret> {
    fetching ??= fetchOnce();
    try {
      return await deadline.race(fetching);
    } catch (error) {
      if (deadline.reason === undefined || error instanceof RefusedError) throw error;
      throw new UnreachableError(deadline.reason, { endpoint: "authenticate", retryable: true });
    }
  }

  return {
    renew,
    async get(endpoint, deadline) {
      if (current) return current;
      if (!credentials) throw missing(endpoint, "apikey", "the client has neither an API key nor credentials");
      return renew(deadline);
    },
    drop(key) {
      if (!credentials) return false;
      if (current === key) current = undefined;
      return true;
    },
  };
}

function missing(endpoint: EndpointName, path: string, message: string): RefusedError {
  return new RefusedError("invalid_request", { endpoint, faults: [{ path, message }] });
}

function basic(email: string, password: Secret): string {
  const bytes = new TextEncoder().encode(`${email}:${password.reveal()}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
