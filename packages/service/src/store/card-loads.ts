import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { type LockoutRule, ruleText } from "../limits/limits.js";
import type { Keyring } from "../secrets/keyring.js";
import { type CardRefusal, refusalOf, withFreshSecrets } from "./cards.js";

/** A till's request to activate a card or to top it up. */
export interface LoadOrder {
  readonly companyId: number;
  /** Checked in the same statement: it must be an active till key of the company. */
  readonly apiKeyHash: Buffer;
  readonly isActivation: boolean;
  readonly cardNumber: Secret;
  /** Required for a top-up, and for a card that was issued without an amount. */
  readonly amountCents: Cents | undefined;
  readonly idempotencyKey: string;
}

export type LoadOutcome =
  | { outcome: "done" | "replayed"; loadedCents: Cents }
  | CardRefusal
  /** The key has reached its amount of the day. */
  | { outcome: "day_limit"; retryAfterSeconds: number }
  /** The card's balance would exceed the key's limit. */
  | { outcome: "card_full"; cardLimitCents: Cents }
  | { outcome: "wrong_amount" | "unauthorized" | "idempotency_key_reused" | "idempotency_key_spent" };

/** Puts money on a card for a till, once for each Idempotency-Key, with an entry in the audit log. */
export type Load = (order: LoadOrder) => Promise<LoadOutcome>;

interface LoadRow {
  outcome: LoadOutcome["outcome"] | "stale";
  loaded_cents: Cents;
  card_limit_cents: Cents;
  retry_after_seconds: number;
}

/**
 * Creates the service's loading of cards.
 *
 * @param db retries statements after conflicts
 */
export const createLoad =
  (db: Queryable, keys: Keyring, rule: LockoutRule): Load =>
  async ({ companyId, apiKeyHash, isActivation, cardNumber, amountCents = null, idempotencyKey }) => {
    const row = await withFreshSecrets(keys, async () => {
      const { rows } = await db.query<LoadRow>({
        name: "load-card",
        text: "select * from load_card($1, $2, $3, $4, $5, $6, $7, $8)",
        values: [
          companyId,
          apiKeyHash,
          keys.cardNumbers(cardNumber),
          ruleText(rule),
          isActivation,
          amountCents,
          keys.idempotencyKey(idempotencyKey),
          keys.parameters(isActivation ? "activate" : "top up", cardNumber.reveal(), amountCents ?? ""),
        ],
      });
      return rows[0] as LoadRow;
    });
    const { outcome } = row;
    if (outcome === "done" || outcome === "replayed") return { outcome, loadedCents: row.loaded_cents };
    if (outcome === "invalid_card" || outcome === "card_locked") return refusalOf(outcome, row);
    if (outcome === "day_limit") return { outcome, retryAfterSeconds: row.retry_after_seconds };
    if (outcome === "card_full") return { outcome, cardLimitCents: row.card_limit_cents };
    return { outcome };
  };
