import type { Queryable } from "../database/database.js";

/** Records which keys were used, periodically, so that a call needs no write for it. */
export class KeyUses {
  #used = new Set<number>();

  constructor(private readonly db: Queryable) {}

  note(keyId: number): void {
    this.#used.add(keyId);
  }

  /** Writes the keys that were used since the last write. */
  async write(): Promise<void> {
    const used = [...this.#used];
    if (used.length === 0) return;
    this.#used = new Set();
    // All processes lock the rows in the same order, so that they cannot deadlock.
    await this.db.query(
      `update api_keys k set last_used_at = now() from (
         select id from api_keys where id = any($1)
           and (last_used_at is null or last_used_at < now() - interval '10 seconds') order by id for no key update) u
       where k.id = u.id`,
      [used],
    );
  }
}
