import { isIPv6 } from "node:net";
import type { Queryable } from "../database/database.js";
import type { Keyring } from "../secrets/keyring.js";
import type { FailureRule } from "./limits.js";

/**
 * Counts a login as failed before its password is checked, so that concurrent logins cannot exceed the limit. `succeeded`
 * removes the count. `accountId` is undefined if no account has this email.
 *
 * @returns the seconds to wait, if the password may not be checked now
 */
export async function beginLogin(
  db: Queryable,
  keys: Keyring,
  rule: FailureRule,
  { email, accountId, address }: { email: string; accountId: number | undefined; address: string },
): Promise<{ retryAfterSeconds: number } | { succeeded(): Promise<void> }> {
  const account =
    accountId === undefined
      ? keys.loginSubject("email", email.normalize("NFKC").toLowerCase())
      : keys.loginSubject("account", String(accountId));
  // All callers lock the subjects in the same order, so that they cannot deadlock.
  const subjects = [account, keys.loginSubject("address", groupOf(address))].sort(Buffer.compare);
  const { rows } = await db.query<{ retry_after_seconds: number | null; counted_at: string }>(
    "select * from begin_login($1, $2, $3)",
    [subjects, rule.failures, rule.windowSeconds],
  );
  const { retry_after_seconds: retryAfterSeconds, counted_at: countedAt } = rows[0] as (typeof rows)[number];
  if (retryAfterSeconds !== null) return { retryAfterSeconds };
  return { succeeded: async () => void (await db.query("select end_login($1, $2)", [subjects, countedAt])) };
}

/** Returns the address itself, or the /64 network of an IPv6 address: its owner can use all of it. */
function groupOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  // A URL normalizes the address.
  const [head = "", tail = ""] = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const before = head.split(":").filter(Boolean);
  const after = tail.split(":").filter(Boolean);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
