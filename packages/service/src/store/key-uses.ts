import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../database/database.js";

const EVERY_MS = 20_000;

/** Writes down, now and then, which keys were used: a call itself costs no write for it. */
export class KeyUses {
  readonly #db: Queryable;
  #used = new Set<number>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** A call came with this key. */
  note(keyId: number): void {
    this.#used.add(keyId);
  }

  /** Writes down what was used since the last time. */
  async write(): Promise<void> {
    const used = [...this.#used];
    if (used.length === 0) return;
    this.#used = new Set();
    // In one order, so that no two processes wait for each other.
    await this.#db.query(
      `update api_keys k set last_used_at = now() from (
         select id from api_keys where id = any($1)
           and (last_used_at is null or last_used_at < now() - interval '10 seconds') order by id for no key update) u
       where k.id = u.id`,
      [used],
    );
  }

  /**
   * Writes regularly until it is stopped.
   *
   * @param onFailure hears of a time that failed; the next one comes all the same
   * @returns stops it, and writes a last time
   */
  writeRegularly(onFailure: (error: unknown) => void): () => Promise<void> {
    const ending = new AbortController();
    const { signal } = ending;
    const run = async () => {
      while (!signal.aborted) {
        await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
        await this.write().catch(onFailure);
      }
    };
    const running = run();
    return async () => {
      ending.abort();
      await running;
    };
  }
}
