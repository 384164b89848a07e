/**
 * How a purchase ended. `paid`: the order is there and each card was charged its part once. `whole`: no order, or a
 * canceled one, and nobody's money is gone. `refunded`: the order is there, and what it refunds was given back.
 * `part`: the order is there, and one unit of it was given back the way it was paid. `person`: it can't be known, and stands on the list of what a person has to settle. `open`: anything else, which is bad.
 */
export type Outcome = "paid" | "whole" | "refunded" | "part" | "person" | "open";

export interface Verdict {
  readonly outcome: Outcome;
  /** What is wrong, in words; empty where the books are exact. */
  readonly wrong: readonly string[];
}

/** A charge, as each shop's journal has it. */
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

/** What a shop and its bank wrote down about a purchase. */
export interface ShopBooks {
  readonly charges: readonly ChargeRow[];
  readonly order: { readonly id: string; readonly isCanceled: boolean } | null;
  /** What the bank holds or has taken, each payment once, in cents. */
  readonly bankCents: readonly number[];
  /** Whatever else this shop writes down, by how the purchase ended. */
  check(outcome: Outcome, expect: Expect): void;
}
