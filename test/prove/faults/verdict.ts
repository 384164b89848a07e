import type { Books } from "../books/books.js";

/**
 * How a purchase ended.
 * - `paid`: the order exists, and each card was charged its part once.
 * - `whole`: the order doesn't exist or is canceled, and no money is missing.
 * - `refunded`: the order exists, and its refund was paid out.
 * - `part`: the order exists, and returned units were refunded the way they were paid.
 * - `person`: a charge's outcome is unknown, and the charge is listed for a person to decide.
 * - `open`: anything else. The cell fails.
 */
export type Outcome = "paid" | "whole" | "refunded" | "part" | "person" | "open";

export interface Verdict {
  readonly outcome: Outcome;
  /** Descriptions of what is wrong. Empty if the books are exact. */
  readonly wrong: readonly string[];
}

/** A charge in a shop's journal. */
export interface ChargeRow {
  readonly reference: string;
  readonly state: string;
  readonly order_id: string | null;
  readonly amount_cents: number;
  readonly deducted_cents: number | null;
  readonly reason: string | null;
  readonly balance_after_cents: string | number | null;
}

export type Expect = (isRight: boolean, what: string) => void;

/** The records that a shop and its bank keep of a purchase. */
export interface ShopBooks extends Books {
  readonly charges: readonly ChargeRow[];
  readonly order: { readonly id: string; readonly isCanceled: boolean } | null;
  /** The amounts that the bank holds or has taken, one per payment, in cents. */
  readonly bankCents: readonly number[];
  /** Checks the shop's other records against the purchase's outcome. */
  check(outcome: Outcome, expect: Expect): void;
}
