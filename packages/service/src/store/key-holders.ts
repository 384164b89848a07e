import type { Queryable } from "../database/database.js";
import { Batcher } from "./batcher.js";

/** Who a living API key belongs to. */
export interface KeyHolder {
  readonly companyId: number;
  readonly keyId: number;
}

const RUNS_AT_ONCE = 2;
const MAX_KEYS = 256;
const MAX_REMEMBERED = 10_000;

const nameOf = (hash: Buffer) => hash.toString("latin1");

/**
 * Finds whose key a call shows. Calls that come in together are looked up together, each after it came in: a key that
 * has been revoked, or has expired, is refused from that moment on, in every process.
 */
export class KeyHolders {
  readonly #batcher: Batcher<Buffer, KeyHolder | undefined>;
  readonly #remembered = new Map<string, KeyHolder>();

  constructor(db: Queryable) {
    this.#batcher = new Batcher({
      runsAtOnce: RUNS_AT_ONCE,
      maxItems: MAX_KEYS,
      run: async (hashes) => {
        const { rows } = await db.query<KeyHolder & { hash: Buffer }>({
          name: "find-keys",
          text: `select key_hash as hash, company_id as "companyId", id as "keyId" from api_keys
            where key_hash = any($1::bytea[]) and revoked_at is null and (expires_at is null or expires_at > now())`,
          values: [[...new Map(hashes.map((hash) => [nameOf(hash), hash])).values()]],
        });
        const found = new Map(rows.map(({ hash, ...holder }) => [nameOf(hash), holder]));
        return hashes.map((hash) => found.get(nameOf(hash)));
      },
    });
  }

  /** Whose key it is, if it is living now. */
  async find(hash: Buffer): Promise<KeyHolder | undefined> {
    const holder = await this.#batcher.add(hash);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    if (holder) this.#remembered.set(nameOf(hash), holder);
    else this.forget(hash);
    return holder;
  }

  /** Whose key it was when it was found last, which never changes; whether it is living has to be asked with the call. */
  recall(hash: Buffer): KeyHolder | undefined {
    return this.#remembered.get(nameOf(hash));
  }

  /** It isn't living any more. */
  forget(hash: Buffer): void {
    this.#remembered.delete(nameOf(hash));
  }
}
