import type { Queryable } from "../database/database.js";
import type { FailureRule } from "./limits.js";

/**
 * Limits the wrong PINs of a company over all cards: a few guesses at each of many numbers lock no number. A right PIN costs
 * no statement. A wrong one is counted in the database, which returns the count of all processes. So each other process
 * checks one more PIN after the limit is reached.
 */
export class CompanyPins {
  /** The end of each company's refusal, by performance.now(). */
  readonly #refusedUntilMs = new Map<number, number>();

  constructor(
    private readonly db: Queryable,
    private readonly rule: FailureRule,
  ) {}

  /** Returns how many seconds a company must wait; undefined if it need not. */
  waitSeconds(companyId: number): number | undefined {
    const untilMs = this.#refusedUntilMs.get(companyId);
    if (untilMs === undefined) return undefined;
    const leftMs = untilMs - performance.now();
    if (leftMs > 0) return leftMs / 1000;
    this.#refusedUntilMs.delete(companyId);
    return undefined;
  }

  /** Counts a wrong PIN, or an unknown card number. */
  async count(companyId: number): Promise<void> {
    const { failures, windowSeconds } = this.rule;
    if (failures === 0) return;
    const { rows } = await this.db.query<{ seconds: number | null }>({
      name: "count-wrong-pin",
      text: "select count_wrong_pin($1, $2, $3) as seconds",
      values: [companyId, failures, windowSeconds],
    });
    const seconds = rows[0]?.seconds ?? null;
    if (seconds !== null) this.#refusedUntilMs.set(companyId, performance.now() + seconds * 1000);
  }
}
