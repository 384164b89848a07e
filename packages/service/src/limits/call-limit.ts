import type { Queryable } from "../database/database.js";

/** A lease is a fiftieth of the limit: what a process may hold unused, so that others are refused a little early. */
const BLOCKS_PER_LIMIT = 50;
const MAX_REMEMBERED = 10_000;

/** Calls of one key, or of one company, that the database granted to this process for the rest of a two-second slot. */
interface Lease {
  left: number;
  readonly slot: number;
  readonly validUntilMs: number;
  readonly retryAfterSeconds: number | null;
}

interface LeaseRow {
  calls: number;
  lease_slot: number;
  valid_ms: number;
  retry_after_seconds: number | null;
}

/**
 * Limits the calls of each API key, or of each company with all of its keys, in any minute, over all processes on the
 * database. Calls are leased in blocks, so that a busy key costs one small statement for many calls; what is not used goes
 * back with the next lease.
 *
 * The minute is counted in slots of two seconds, and may be short by one of them: at most 3.4 % more calls than allowed
 * pass in any 60 seconds.
 */
export class CallLimit {
  readonly #leases = new Map<number, Lease>();
  readonly #asking = new Map<number, Promise<Lease>>();
  readonly #db: Queryable;
  readonly #kind: "key" | "company";
  readonly #callsPerMinute: number;

  /** @param callsPerMinute 0 sets no limit */
  constructor(db: Queryable, kind: "key" | "company", callsPerMinute: number) {
    this.#db = db;
    this.#kind = kind;
    this.#callsPerMinute = callsPerMinute;
  }

  /**
   * Takes one call of a key or a company.
   *
   * @returns undefined when it may be made; else after how many seconds to try again
   */
  async take(id: number): Promise<number | undefined> {
    if (this.#callsPerMinute === 0) return undefined;
    for (;;) {
      const lease = this.#leases.get(id);
      if (lease && performance.now() < lease.validUntilMs) {
        if (lease.left > 0) {
          lease.left -= 1;
          return undefined;
        }
        if (lease.retryAfterSeconds !== null) return lease.retryAfterSeconds;
      }
      // Many calls at once ask once.
      let asking = this.#asking.get(id);
      if (!asking) {
        asking = this.#ask(id, lease).finally(() => this.#asking.delete(id));
        this.#asking.set(id, asking);
      }
      const asked = await asking;
      // One that ran out on its way here still counts for those who waited for it.
      if (asked.left === 0 && asked.retryAfterSeconds !== null) return asked.retryAfterSeconds;
      if (asked.left > 0) {
        asked.left -= 1;
        return undefined;
      }
    }
  }

  async #ask(id: number, spent: Lease | undefined): Promise<Lease> {
    const block = Math.max(1, Math.floor(this.#callsPerMinute / BLOCKS_PER_LIMIT));
    const unused = spent?.left ?? 0;
    if (spent) spent.left = 0;
    const askedAtMs = performance.now();
    const { rows } = await this.#db.query<LeaseRow>({
      name: "lease-calls",
      text: "select * from lease_calls($1, $2, $3, $4, $5, $6)",
      values: [id, this.#callsPerMinute, block, unused, spent?.slot ?? 0, this.#kind],
    });
    const row = rows[0] as LeaseRow;
    const lease: Lease = {
      left: row.calls,
      slot: row.lease_slot,
      validUntilMs: askedAtMs + row.valid_ms,
      retryAfterSeconds: row.retry_after_seconds,
    };
    if (this.#leases.size >= MAX_REMEMBERED) this.#leases.clear();
    this.#leases.set(id, lease);
    return lease;
  }
}
