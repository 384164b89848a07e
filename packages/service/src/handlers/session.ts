import { Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database.js";
import { type Handlers, refuse } from "../http/handler.js";
import { authenticate } from "../store/accounts.js";

/** Logging in. */
export function sessionHandlers(db: Queryable): Pick<Handlers, "authenticate"> {
  return {
    async authenticate(_request, call) {
      const credentials = readBasic(call.authorization);
      const apiKey = credentials && (await authenticate(db, credentials.email, credentials.password));
      return apiKey ? { apiKey } : refuse("invalid_credentials");
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
    // PostgreSQL's text holds no NUL, and neither does an email.
    if (!email || !password || email.includes("\0")) return undefined;
    return { email, password: new Secret(password) };
  } catch {
    return undefined;
  }
}
