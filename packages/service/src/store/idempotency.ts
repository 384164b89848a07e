import type { Queryable } from "../database/database.js";

const DAY = "interval '24 hours'";

export type KeptAnswer =
  | { outcome: "new" }
  | { outcome: "replayed"; answer: string }
  | { outcome: "idempotency_key_reused" | "idempotency_key_spent" };

/** The company's use of a key for `newevent`; a devalue's keys are minded by its own statement. */
export interface KeyUse {
  readonly companyId: number;
  readonly keyHash: Buffer;
  /** Under each generation of the secrets, oldest first. */
  readonly parametersHashes: Buffer[];
}

/** Within a transaction: waits for another call with this key, then tells what the key was used for. */
export async function claimKey(db: Queryable, use: KeyUse): Promise<KeptAnswer> {
  await db.query("select lock_idempotency_key($1, 'newevent', $2)", [use.companyId, use.keyHash]);
  const { rows } = await db.query<{ same: boolean; spent: boolean; answer: string }>(
    `select parameters_hash = any($3) as same, created_at <= now() - ${DAY} as spent, answer from idempotency_keys
       where company_id = $1 and operation = 'newevent' and key_hash = $2`,
    [use.companyId, use.keyHash, use.parametersHashes],
  );
  const kept = rows[0];
  if (!kept) return { outcome: "new" };
  if (!kept.same) return { outcome: "idempotency_key_reused" };
  return kept.spent ? { outcome: "idempotency_key_spent" } : { outcome: "replayed", answer: kept.answer };
}

/** Keeps a successful answer, in the transaction that earned it. */
export async function keepAnswer(db: Queryable, use: KeyUse, answer: string): Promise<void> {
  await db.query(
    `insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, answer)
       values ($1, 'newevent', $2, $3, $4)`,
    [use.companyId, use.keyHash, use.parametersHashes.at(-1), answer],
  );
}
