import { randomBytes, randomUUID } from "node:crypto";
import { type Cents, MAX_DEDUCTION_CENTS, type Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { type LockoutRule, ruleText } from "../limits/limits.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";
import { type CardRefusal, refusalOf, withFreshSecrets } from "./cards.js";

/** A request to devalue a card. */
export interface DevalueOrder {
  readonly companyId: number;
  /** Checked in the same statement: the devalue is done only if this is an active key of the company. */
  readonly apiKeyHash: Buffer;
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly amountCents: Cents;
  readonly idempotencyKey: string | undefined;
}

export type DevalueOutcome =
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

/** The arguments of the database's function `devalue`, with secrets as hashes, and a new deduction with its token. */
export interface DevalueArguments {
  readonly companyId: number;
  readonly numberHashes: readonly Buffer[];
  readonly pinHashes: readonly Buffer[];
  readonly amountCents: Cents;
  readonly deductionId: string;
  readonly nonce: Buffer;
  readonly cancelToken: Secret;
  readonly keyHash: Buffer | null;
  readonly parametersHashes: readonly Buffer[] | null;
  readonly rule: LockoutRule;
  readonly apiKeyHash: Buffer;
}

/** The result of the function. */
export interface DevalueRow {
  outcome: DevalueOutcome["outcome"] | "stale";
  deducted_cents: number;
  deduction_id: string;
  token_nonce: Buffer;
  token_hash: Buffer;
  retry_after_seconds: number;
}

/** Sends a devalue to the database, alone or in a batch. */
export type RunDevalue = (args: DevalueArguments) => Promise<DevalueRow>;

/** Creates the service's devalue. `run` sends its statements to the database. */
export const createDevalue =
  (run: RunDevalue, keys: Keyring, rule: LockoutRule): Devalue =>
  async (order) => {
    const row = await withFreshSecrets(keys, async () => {
      const args = devalueArguments(order, keys, rule);
      return { ...(await run(args)), freshToken: args.cancelToken };
    });
    const { outcome } = row;
    if (outcome === "invalid_card" || outcome === "card_locked") return refusalOf(outcome, row);
    if (outcome !== "done" && outcome !== "replayed") return { outcome };
    const cancelToken =
      outcome === "done" ? row.freshToken : keys.cancelToken(row.deduction_id, row.token_nonce, row.token_hash);
    return { outcome, deductedCents: row.deducted_cents as Cents, cancelToken };
  };

/** Hashes the secrets of an order. */
export function devalueArguments(order: DevalueOrder, keys: Keyring, rule: LockoutRule): DevalueArguments {
  const { companyId, apiKeyHash, cardNumber, pin, amountCents, idempotencyKey } = order;
  const deductionId = randomUUID();
  const nonce = randomBytes(16);
  const keyed = idempotencyKey !== undefined;
  return {
    companyId,
    numberHashes: keys.cardNumbers(cardNumber),
    pinHashes: keys.pins(cardNumber, pin),
    amountCents,
    deductionId,
    nonce,
    cancelToken: keys.cancelToken(deductionId, nonce),
    keyHash: keyed ? keys.idempotencyKey(idempotencyKey) : null,
    parametersHashes: keyed ? keys.parameters(cardNumber.reveal(), pin.reveal(), amountCents) : null,
    rule,
    apiKeyHash,
  };
}

/** Runs each devalue as its own statement, which waits for locks. */
export const devalueAlone =
  (db: Queryable): RunDevalue =>
  async (args) => {
    const { rows } = await db.query<DevalueRow>({ name: "devalue", ...devalueStatement("devalue", [args]) });
    return rows[0] as DevalueRow;
  };

/** Creates a statement with one select per devalue. They run in this order, and each sees the effects of those before. */
export function devalueStatement(
  name: "devalue" | "devalue_unless_busy",
  all: readonly DevalueArguments[],
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const selects = all.map((args) => {
    const places = valuesOf(args).map((value) => `$${values.push(value)}`);
    return `select * from ${name}(${places.join(", ")})`;
  });
  return { text: selects.join(" union all "), values };
}

/** Lists the arguments in the order of the function's parameters. */
const valuesOf = (args: DevalueArguments): unknown[] => [
  args.companyId,
  args.numberHashes,
  args.pinHashes,
  args.amountCents,
  MAX_DEDUCTION_CENTS,
  args.deductionId,
  args.nonce,
  hashOf(args.cancelToken),
  args.keyHash,
  args.parametersHashes,
  ruleText(args.rule),
  args.apiKeyHash,
];
