import type { Cents } from "@giftcard-pay/client";
/** A line of an order, with its tax and discounts in its total. */
export interface OrderLine {
  /** Unique within the order. */
  readonly id: string;
  readonly quantity: number;
  readonly totalCents: Cents;
}

/** The part of a charge that pays for one unit of a line. Units count from 1. */
export interface Piece {
  readonly line: string;
  readonly unit: number;
  readonly cents: number;
}
