import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import type { LockoutRule } from "../limits/limits.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";
import type { RunCall } from "./card-calls.js";

/** A refusal of a card number and PIN: wrong, or locked. */
export type CardRefusal = { outcome: "invalid_card" } | { outcome: "card_locked"; retryAfterSeconds: number };

/** A company's call on a card. */
export interface CardOrder {
  readonly companyId: number;
  /** Checked in the statement of the call, which refuses an inactive key. */
  readonly apiKeyHash: Buffer;
  readonly cardNumber: Secret;
  readonly pin: Secret;
}

interface ReadRow {
  outcome: "done" | CardRefusal["outcome"] | "unauthorized" | "stale";
  balance_cents: Cents;
  card_status: string;
  expiry_date: string;
  retry_after_seconds: number;
}

/**
 * Creates the function that reads a card by number and PIN. A wrong PIN and an unknown number have the same answer, and take
 * the same time. `run` calls the database's function `read_card`.
 */
export const createRead =
  (run: RunCall<ReadRow>, keys: Keyring, rule: LockoutRule) =>
  async ({ companyId, apiKeyHash, cardNumber, pin }: CardOrder) => {
    const row = await withFreshSecrets(keys, () => {
      const hashes = { numberHashes: keys.cardNumbers(cardNumber), pinHashes: keys.pins(cardNumber, pin) };
      return run({ companyId, apiKeyHash, rule, ...hashes });
    });
    const { outcome } = row;
    if (outcome === "unauthorized") return { outcome };
    if (outcome !== "done") return refusalOf(outcome, row);
    const { balance_cents: balanceCents, card_status: cardStatus, expiry_date: expiryDate } = row;
    return { outcome, balanceCents, cardStatus, expiryDate };
  };

export const refusalOf = (outcome: CardRefusal["outcome"], row: { retry_after_seconds: number }): CardRefusal =>
  outcome === "card_locked" ? { outcome, retryAfterSeconds: row.retry_after_seconds } : { outcome };

/** The number of times that a call may read the secrets again: once for each rotation during the call. */
const MAX_REFRESHES = 5;

/**
 * Runs a statement. If it reports that this process lacks the newest secrets, reloads them and runs it again. The
 * secrets can be rotated once more meanwhile.
 */
export async function withFreshSecrets<Row extends { outcome: string }>(
  keys: Keyring,
  run: () => Promise<Row>,
): Promise<Row & { outcome: Exclude<Row["outcome"], "stale"> }> {
  let row = await run();
  for (let refreshes = 0; row.outcome === "stale" && refreshes < MAX_REFRESHES; refreshes++) {
    await keys.refresh();
    row = await run();
  }
  if (row.outcome === "stale") throw new Error("The secrets were rotated and could not be read again.");
  return row as Row & { outcome: Exclude<Row["outcome"], "stale"> };
}

export type CancelOutcome =
  | { outcome: "done"; refundedCents: Cents; balanceCents: Cents }
  | { outcome: "rate_limited"; retryAfterSeconds: number }
  | { outcome: "token_invalid" | "token_used" | "devalue_not_done" };

interface CancelRow {
  outcome: CancelOutcome["outcome"];
  refunded_cents: number;
  balance_cents: number;
  retry_after_seconds?: number;
}

/** Reverses a deduction by its cancel token, once. */
export const cancelByToken = (db: Queryable, companyId: number, cancelToken: Secret) =>
  cancel(db, "select * from cancel_by_token($1, $2)", [companyId, hashOf(cancelToken)]);

/**
 * Resolves a devalue by its idempotency key: reverses it, or makes sure that it never happens.
 *
 * @param closedKeys the number of unused keys that a company may close in 24 hours; 0 sets no limit
 */
export const cancelByKey = (
  db: Queryable,
  keys: Keyring,
  { companyId, idempotencyKey, closedKeys }: { companyId: number; idempotencyKey: string; closedKeys: number },
) =>
  cancel(db, "select * from cancel_by_key($1, $2, $3)", [companyId, keys.idempotencyKey(idempotencyKey), closedKeys]);

async function cancel(db: Queryable, text: string, values: unknown[]): Promise<CancelOutcome> {
  const { rows } = await db.query<CancelRow>({ name: text, text, values });
  const row = rows[0] as CancelRow;
  const { outcome } = row;
  if (outcome === "rate_limited") return { outcome, retryAfterSeconds: row.retry_after_seconds as number };
  if (outcome !== "done") return { outcome };
  return { outcome, refundedCents: row.refunded_cents as Cents, balanceCents: row.balance_cents as Cents };
}
