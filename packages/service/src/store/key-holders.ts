import type { Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database.js";
import { hashOf } from "../keyring.js";
import { Batcher } from "./batcher.js";

/** Who a living API key belongs to. */
export interface KeyHolder {
  readonly companyId: number;
  readonly keyId: number;
}

const RUNS_AT_ONCE = 2;
const MAX_KEYS = 256;

/**
 * Finds whose key a call shows. Calls that come in together are looked up together, each after it came in: a key that
 * has been revoked, or has expired, is refused from that moment on, in every process.
 */
export function keyHolders(db: Queryable): (apiKey: Secret) => Promise<KeyHolder | undefined> {
  const batcher = new Batcher<Buffer, KeyHolder | undefined>({
    runsAtOnce: RUNS_AT_ONCE,
    maxItems: MAX_KEYS,
    async run(hashes) {
      const { rows } = await db.query<KeyHolder & { hash: Buffer }>({
        name: "find-keys",
        text: `select key_hash as hash, company_id as "companyId", id as "keyId" from api_keys
          where key_hash = any($1::bytea[]) and revoked_at is null and (expires_at is null or expires_at > now())`,
        values: [[...new Map(hashes.map((hash) => [hash.toString("latin1"), hash])).values()]],
      });
      const found = new Map(rows.map(({ hash, ...holder }) => [hash.toString("latin1"), holder]));
      return hashes.map((hash) => found.get(hash.toString("latin1")));
    },
  });
  return (apiKey) => batcher.add(hashOf(apiKey));
}
