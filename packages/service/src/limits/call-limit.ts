import type { Queryable } from "../database/database.js";

/** A lease is a fiftieth of the limit. A process that holds an unused lease makes others refuse that much earlier. */
const BLOCKS_PER_LIMIT = 50;
const MAX_REMEMBERED = 10_000;

/** Calls of a key or a company that the database granted to this process for the remainder of a two-second slot. */
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
 * Limits the calls per minute of each API key, or of each company with all of its keys, over all processes on the database.
 * Calls are leased in blocks, so that a busy key needs one small statement for many calls. The next lease returns unused
 * calls.
 *
 * The minute is counted in slots of two seconds and may lack one of them: at most 3.4 % more calls than allowed pass in 60
 * seconds.
 */
export class CallLimit {
  readonly #leases = new Map<number, Lease>();
  readonly #leasing = new Map<number, Promise<Lease>>();

  constructor(
    private readonly db: Queryable,
    private readonly kind: "key" | "company",
    /** 0 sets no limit. */
    private readonly callsPerMinute: number,
  ) {}

  /**
   * Counts one call of a key or a company.
   *
   * @returns undefined if the call is allowed; otherwise the seconds to wait
   */
  async take(id: number): Promise<number | undefined> {
    if (this.callsPerMinute === 0) return undefined;
    for (;;) {
      const lease = this.#leases.get(id);
      if (lease && performance.now() < lease.validUntilMs) {
        if (lease.left > 0) {
          lease.left -= 1;
          return undefined;
        }
        if (lease.retryAfterSeconds !== null) return lease.retryAfterSeconds;
      }
      // Concurrent calls share one lease.
      let leasing = this.#leasing.get(id);
      if (!leasing) {
        leasing = this.#lease(id, lease).finally(() => this.#leasing.delete(id));
        this.#leasing.set(id, leasing);
      }
      const fresh = await leasing;
      // Valid for the calls that waited for it, even if its slot has ended meanwhile.
      if (fresh.left === 0 && fresh.retryAfterSeconds !== null) return fresh.retryAfterSeconds;
      if (fresh.left > 0) {
        fresh.left -= 1;
        return undefined;
      }
    }
  }

  async #lease(id: number, previous: Lease | undefined): Promise<Lease> {
    const block = Math.max(1, Math.floor(this.callsPerMinute / BLOCKS_PER_LIMIT));
    const unused = previous?.left ?? 0;
    // If this statement's answer is lost, the next one must not return them again.
    if (previous) previous.left = 0;
    const startedAtMs = performance.now();
    const { rows } = await this.db.query<LeaseRow>({
      name: "lease-calls",
      text: "select * from lease_calls($1, $2, $3, $4, $5, $6)",
      values: [id, this.callsPerMinute, block, unused, previous?.slot ?? 0, this.kind],
    });
    const row = rows[0] as LeaseRow;
    const lease: Lease = {
      left: row.calls,
      slot: row.lease_slot,
      validUntilMs: startedAtMs + row.valid_ms,
      retryAfterSeconds: row.retry_after_seconds,
    };
    if (this.#leases.size >= MAX_REMEMBERED) this.#leases.clear();
    this.#leases.set(id, lease);
    return lease;
  }
}
