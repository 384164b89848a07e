import { randomBytes, randomUUID } from "node:crypto";
import { type Cents, MAX_DEDUCTION_CENTS, type Secret } from "@giftcard-pay/client/contract";
import type { LockoutRule } from "../limits/limits.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";
import type { RunCall } from "./card-calls.js";
import { type CardOrder, type CardRefusal, refusalOf, withFreshSecrets } from "./cards.js";

interface DevalueOrder extends CardOrder {
  readonly amountCents: Cents;
  readonly idempotencyKey: string | undefined;
}

type DevalueOutcome =
  | { outcome: "done" | "replayed"; deductedCents: Cents; cancelToken: Secret }
  | CardRefusal
  | {
      outcome:
        | "unauthorized"
        | "card_blocked"
        | "card_expired"
        | "card_no_balance"
        | "key_closed"
        | "idempotency_key_reused"
        | "idempotency_key_spent";
    };

/** Deducts the smallest of amount, balance and limit, or returns the reason why not. */
export type Devalue = (order: DevalueOrder) => Promise<DevalueOutcome>;

interface DevalueRow {
  outcome: DevalueOutcome["outcome"] | "stale";
  deducted_cents: number;
  deduction_id: string;
  token_nonce: Buffer;
  token_hash: Buffer;
  retry_after_seconds: number;
}

/** Creates the service's devalue. `run` calls the database's function `devalue`. */
export const createDevalue =
  (run: RunCall<DevalueRow>, keys: Keyring, rule: LockoutRule): Devalue =>
  async (order) => {
    const row = await withFreshSecrets(keys, async () => {
      const { args, cancelToken } = devalueArguments(order, keys, rule);
      return { ...(await run(args)), freshToken: cancelToken };
    });
    const { outcome } = row;
    if (outcome === "invalid_card" || outcome === "card_locked") return refusalOf(outcome, row);
    if (outcome !== "done" && outcome !== "replayed") return { outcome };
    const cancelToken =
      outcome === "done" ? row.freshToken : keys.cancelToken(row.deduction_id, row.token_nonce, row.token_hash);
    return { outcome, deductedCents: row.deducted_cents as Cents, cancelToken };
  };

/** Hashes the secrets of an order, and creates a deduction with its token. */
function devalueArguments(order: DevalueOrder, keys: Keyring, rule: LockoutRule) {
  const { companyId, apiKeyHash, cardNumber, pin, amountCents, idempotencyKey } = order;
  const deductionId = randomUUID();
  const nonce = randomBytes(16);
  const cancelToken = keys.cancelToken(deductionId, nonce);
  const further = [
    ...[amountCents, MAX_DEDUCTION_CENTS, deductionId, nonce, hashOf(cancelToken)],
    ...(idempotencyKey === undefined
      ? [null, null]
      : [keys.idempotencyKey(idempotencyKey), keys.parameters(cardNumber.reveal(), pin.reveal(), amountCents)]),
  ];
  const hashes = { numberHashes: keys.cardNumbers(cardNumber), pinHashes: keys.pins(cardNumber, pin) };
  return { args: { companyId, apiKeyHash, rule, ...hashes, further }, cancelToken };
}
