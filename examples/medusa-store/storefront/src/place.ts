import type { Shop } from "./shop.js";

/** Renders a page into the outlet. */
export type Page = (place: Place) => Promise<void>;

/** The context of a page. */
export interface Place {
  outlet: HTMLElement;
  shop: Shop;
  /** The part of the URL after the page's name. */
  id: string;
  go(path: string): Promise<void>;
  /** Shows the number of tickets in the cart. */
  count(items: { quantity: number }[]): void;
}
