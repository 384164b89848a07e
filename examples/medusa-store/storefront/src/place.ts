import type { Shop } from "./shop.js";

/** Draws one page into the outlet. */
export type Page = (place: Place) => Promise<void>;

/** What a page has to work with. */
export interface Place {
  outlet: HTMLElement;
  shop: Shop;
  /** The rest of the address after the page's own name. */
  id: string;
  go(path: string): Promise<void>;
  /** Shows how many tickets are in the cart. */
  count(items: { quantity: number }[]): void;
}
