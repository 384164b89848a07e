import type { Queryable } from "../database/database.js";
import { Batcher } from "./batcher.js";

/** The owner of an active API key. */
export interface KeyHolder {
  readonly companyId: number;
  readonly keyId: number;
  /** Whether the company is suspended. Its keys can then only cancel devalues. */
  readonly isSuspended: boolean;
}

const RUNS_AT_ONCE = 2;
const MAX_KEYS = 256;
const MAX_REMEMBERED = 10_000;

const nameOf = (hash: Buffer) => hash.toString("latin1");

/**
 * Finds the owner of a call's API key. Concurrent calls share a statement, which starts after they arrive: a revoked or
 * expired key is rejected from that moment on, in every process.
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
          text: `select key_hash as hash, company_id as "companyId", k.id as "keyId",
              o.suspended_at is not null as "isSuspended"
            from api_keys k join companies o on o.id = company_id where key_hash = any($1::bytea[]) and revoked_at is null and (expires_at is null or expires_at > now())`,
          values: [[...new Map(hashes.map((hash) => [nameOf(hash), hash])).values()]],
        });
        const found = new Map(rows.map(({ hash, ...holder }) => [nameOf(hash), holder]));
        return hashes.map((hash) => found.get(nameOf(hash)));
      },
    });
  }

  /** Finds the owner of a key; undefined if the key is not active now. */
  async find(hash: Buffer): Promise<KeyHolder | undefined> {
    const holder = await this.#batcher.add(hash);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    // A suspended company is looked up again at each call, so that its keys work as soon as it is resumed.
    if (holder && !holder.isSuspended) this.#remembered.set(nameOf(hash), holder);
    else this.forget(hash);
    return holder;
  }

  /** Returns the owner that `find` last returned. The owner never changes, but the key may be inactive by now. */
  recall(hash: Buffer): KeyHolder | undefined {
    return this.#remembered.get(nameOf(hash));
  }

  /** Forgets a key that is no longer active. */
  forget(hash: Buffer): void {
    this.#remembered.delete(nameOf(hash));
  }
}
