import type { Queryable } from "../database/database.js";

const DAY = "interval '24 hours'";

export type ClaimedKey =
  | { outcome: "new" }
  | { outcome: "replayed"; answer: string }
  | { outcome: "idempotency_key_reused" | "idempotency_key_spent" };

/** A company's use of a key for `newevent`. The keys of devalues are handled in the devalue's statement. */
export interface KeyUse {
  readonly companyId: number;
  readonly keyHash: Buffer;
  /** The hashes under each generation of the secrets, oldest first. */
  readonly parametersHashes: Buffer[];
}

/** Waits for a concurrent call with this key, then returns its earlier use. Must run in a transaction. */
export async function claimKey(db: Queryable, use: KeyUse): Promise<ClaimedKey> {
  await db.query("select lock_idempotency_key($1, 'newevent', $2)", [use.companyId, use.keyHash]);
  const { rows } = await db.query<{ same: boolean; spent: boolean; answer: string }>(
    `select parameters_hash = any($3) as same, created_at <= now() - ${DAY} as spent, answer from idempotency_keys
       where company_id = $1 and operation = 'newevent' and key_hash = $2`,
    [use.companyId, use.keyHash, use.parametersHashes],
  );
  const earlier = rows[0];
  if (!earlier) return { outcome: "new" };
  if (!earlier.same) return { outcome: "idempotency_key_reused" };
  return earlier.spent ? { outcome: "idempotency_key_spent" } : { outcome: "replayed", answer: earlier.answer };
}

/** Stores a successful answer, in the same transaction. */
export async function storeAnswer(db: Queryable, use: KeyUse, answer: string): Promise<void> {
  await db.query(
    `insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, answer)
       values ($1, 'newevent', $2, $3, $4)`,
    [use.companyId, use.keyHash, use.parametersHashes.at(-1), answer],
  );
}
