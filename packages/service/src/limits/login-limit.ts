import { isIPv6 } from "node:net";
import type { Queryable } from "../database/database.js";
import type { Keyring } from "../secrets/keyring.js";
import type { LoginRule } from "./limits.js";

/** Who tries to log in. */
export interface LoginAttempt {
  readonly email: string;
  /** Undefined where no account has this email. */
  readonly accountId: number | undefined;
  readonly address: string;
}

/** A login that may be judged, or after how many seconds to try again. */
export type LoginTurn = { retryAfterSeconds: number } | { succeeded(): Promise<void> };

/**
 * Counts a login as failed before its password is judged, so that of many at once no more are judged than may fail;
 * `succeeded` takes it back.
 */
export async function beginLogin(
  db: Queryable,
  keys: Keyring,
  rule: LoginRule,
  { email, accountId, address }: LoginAttempt,
): Promise<LoginTurn> {
  const account =
    accountId === undefined
      ? keys.loginSubject("email", email.normalize("NFKC").toLowerCase())
      : keys.loginSubject("account", String(accountId));
  // All callers lock them in the same order.
  const subjects = [account, keys.loginSubject("address", groupOf(address))].sort(Buffer.compare);
  const { rows } = await db.query<{ retry_after_seconds: number | null; counted_at: string }>(
    "select * from begin_login($1, $2, $3)",
    [subjects, rule.failures, rule.windowSeconds],
  );
  const { retry_after_seconds: retryAfterSeconds, counted_at: countedAt } = rows[0] as (typeof rows)[number];
  if (retryAfterSeconds !== null) return { retryAfterSeconds };
  return {
    succeeded: async () => void (await db.query("select end_login($1, $2)", [subjects, countedAt])),
  };
}

/** Whoever has one IPv6 address has a whole /64 of them. */
function groupOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  // A URL spells an address in one way only.
  const [head = "", tail = ""] = new URL(`http://[${address.split("%")[0]}]`).hostname
    .slice(1, -1)
    .split("::");
  const before = head.split(":").filter(Boolean);
  const after = tail.split(":").filter(Boolean);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
