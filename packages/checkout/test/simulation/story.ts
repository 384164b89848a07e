import { cents } from "@giftcard-pay/client";
import type { CartView, OrderLine } from "../../src/index.js";

const line = (id: string, quantity: number, totalCents: number): OrderLine => ({
  ...{ id, quantity, totalCents: cents(totalCents) },
});
export const goods: readonly (readonly OrderLine[])[] = [
  [line("a", 2, 7498)],
  [line("a", 1, 2000), line("b", 1, 495)],
  [line("a", 3, 1000), line("b", 1, 4000)],
  [line("a", 2, 9000), line("b", 1, 1998)],
  [line("a", 1.25, 2000), line("b", 2, 3020)],
];

const totalOf = (lines: readonly OrderLine[]) => cents(lines.reduce((sum, { totalCents }) => sum + totalCents, 0));

/** The amounts that a page has shown to the shopper. */
export interface Shown {
  readonly plan: string;
  readonly totalCents: number;
  readonly remainderCents: number;
}

/** A cart, as its shopper changes it. */
export class Cart {
  #goods: number;
  /** The amounts that were shown last. */
  shown: Shown | undefined;
  constructor(
    readonly id: string,
    firstGoods: number,
  ) {
    this.#goods = firstGoods;
  }
  get lines(): readonly OrderLine[] {
    return goods[this.#goods % goods.length] as readonly OrderLine[];
  }
  get view(): CartView {
    return { id: this.id, totalCents: totalOf(this.lines), currency: "EUR" };
  }
  change(): void {
    this.#goods += 1;
  }
  /** Returns a new cart with the same goods. */
  another(): Cart {
    return new Cart(`${this.id}'`, this.#goods);
  }
}

/** An order, with what its people were told. */
export interface Story {
  readonly id: string;
  cart: Cart;
  /** The totals and remainders that its shopper has agreed to. */
  readonly agreed: Set<string>;
  /** Whether a payment was made without saying what was shown. */
  isUnshown: boolean;
  /** The codes of the errors of its payments. */
  readonly refusals: string[];
  /** Whether its cancel has succeeded after it was paid. */
  isCanceled: boolean;
  /** Whether the cards of it were to be refunded alone. */
  isCardsRefundAsked: boolean;
  /** The amounts of the refunds that have succeeded, by id. */
  readonly refunded: Map<string, number>;
}

/** Names amounts that a shopper has agreed to. */
export const agreement = ({ totalCents, remainderCents }: Omit<Shown, "plan">): string =>
  `${totalCents}/${remainderCents}`;
