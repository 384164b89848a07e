import { Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { type Handlers, refuse } from "../http/handler.js";
import type { Limits } from "../limits/limits.js";
import { beginLogin } from "../limits/login-limit.js";
import { Semaphore } from "../limits/semaphore.js";
import type { Keyring } from "../secrets/keyring.js";
import { authenticate, findAccount } from "../store/accounts.js";

/** Checking a password takes a quarter of a second of processor time and 32 MiB. */
const PASSWORDS_AT_ONCE = 2;
const PASSWORDS_WAITING = 100;
const BUSY_RETRY_SECONDS = 5;
/** By then a login's key may have been unused for a day, or the operator may have revoked keys. */
const FULL_RETRY_SECONDS = 60 * 60;

export function sessionHandlers(
  db: Queryable,
  keys: Keyring,
  { login, keysPerCompany }: Pick<Limits, "login" | "keysPerCompany">,
): Pick<Handlers, "authenticate"> {
  const passwords = new Semaphore(PASSWORDS_AT_ONCE, PASSWORDS_WAITING);
  return {
    async authenticate(_request, { authorization, address }) {
      const credentials = readBasic(authorization);
      if (!credentials) return refuse("invalid_credentials");
      const { email, password } = credentials;
      const checked = passwords.run(async () => {
        const account = await findAccount(db, email);
        const turn = await beginLogin(db, keys, login, { email, accountId: account?.id, address });
        if ("retryAfterSeconds" in turn) return refuse("rate_limited", { ...turn, limit: "logins" });
        const done = await authenticate(db, account, password, keysPerCompany);
        if (done.outcome === "refused") return refuse("invalid_credentials");
        await turn.succeeded();
        if (done.outcome === "full")
          return refuse("rate_limited", { retryAfterSeconds: FULL_RETRY_SECONDS, limit: "company_keys" });
        return { apiKey: done.apiKey };
      });
      return checked ?? refuse("overloaded", { retryAfterSeconds: BUSY_RETRY_SECONDS });
    },
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads `Basic` credentials: UTF-8, split at the first colon. */
function readBasic(authorization: string | undefined): { email: string; password: Secret } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    const [, email, password] = /^([^:]*):(.*)$/s.exec(utf8.decode(Buffer.from(encoded, "base64"))) ?? [];
    // PostgreSQL's text cannot contain NUL.
    if (!email || !password || email.includes("\0")) return undefined;
    return { email, password: new Secret(password) };
  } catch {
    return undefined;
  }
}
