import type { Queryable } from "../database/database.js";
import type { CompanyPinRule } from "./limits.js";

/**
 * Limits the wrong PINs that a company sends over all cards: who has many card numbers and tries a few PINs at each meets
 * no lock of a number. A right PIN costs nothing for it. Only who was wrong asks the database, and learns there of all
 * processes; so a company may be judged once more by each other process after its limit.
 */
export class CompanyPins {
  readonly #db: Queryable;
  readonly #rule: CompanyPinRule;
  /** Until when companies are refused, by performance.now(). */
  readonly #refusedUntilMs = new Map<number, number>();

  constructor(db: Queryable, rule: CompanyPinRule) {
    this.#db = db;
    this.#rule = rule;
  }

  /** After how many seconds a company may try again; undefined when it may now. */
  waitSeconds(companyId: number): number | undefined {
    const untilMs = this.#refusedUntilMs.get(companyId);
    if (untilMs === undefined) return undefined;
    const leftMs = untilMs - performance.now();
    if (leftMs > 0) return leftMs / 1000;
    this.#refusedUntilMs.delete(companyId);
    return undefined;
  }

  /** Counts a wrong PIN, or a number that no card has. */
  async count(companyId: number): Promise<void> {
    const { failures, windowSeconds } = this.#rule;
    if (failures === 0) return;
    const { rows } = await this.#db.query<{ seconds: number | null }>({
      name: "count-wrong-pin",
      text: "select count_wrong_pin($1, $2, $3) as seconds",
      values: [companyId, failures, windowSeconds],
    });
    const seconds = rows[0]?.seconds ?? null;
    if (seconds !== null) this.#refusedUntilMs.set(companyId, performance.now() + seconds * 1000);
  }
}
