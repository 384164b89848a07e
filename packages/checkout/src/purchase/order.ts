import { isCents, unitCount } from "../engine/charge-layout.js";
import type { CartView } from "../engine/engine.js";
import type { OrderLine } from "../store/order-line.js";

/** An order to be paid. Its id is the shop's, made before, and is bound to its cart and total. */
export interface Order {
  readonly id: string;
  readonly cart: CartView;
  /** The remainder that the shopper was shown; another one is refused before anything moves. */
  readonly expectedRemainderCents?: number;
  /**
   * What the order consists of, with tax and discounts: it adds up to the cart's total, and no two lines have one id. What
   * comes back last, such as shipping, stands last. With them, cards are charged by line (see `charges`), and units can be
   * refunded. At most 10,000 units. They are written down with the purchase; a second commit of the order doesn't change them.
   */
  readonly lines?: readonly OrderLine[];
}

/** Refuses a cart that the shop read wrongly. @throws {TypeError} naming the field */
export function checkCart<Cart extends CartView>(cart: Cart): Cart {
  const { id, totalCents, currency } = (cart ?? {}) as Partial<CartView>;
  if (typeof id !== "string" || id === "") throw new TypeError("cart.id has to be a text that isn't empty.");
  if (!Number.isSafeInteger(totalCents) || Number(totalCents) < 0)
    throw new TypeError("cart.totalCents has to be whole cents, 0 or more.");
  if (typeof currency !== "string") throw new TypeError('cart.currency has to be a text such as "EUR".');
  return cart;
}

const MOST_UNITS = 10_000;

/**
 * Refuses lines of an order that don't make up its total, or that can't be told apart.
 *
 * @returns a copy, so that nothing changes between the looking and the writing
 * @throws {TypeError} naming the field
 */
export function checkLines(lines: unknown, totalCents: number): OrderLine[] | undefined {
  if (lines === undefined) return undefined;
  if (!Array.isArray(lines)) throw new TypeError("order.lines has to be a list.");
  const copy = lines.map((line: Partial<OrderLine> | null, index) => {
    const { id, quantity, totalCents: lineCents } = line ?? {};
    const refuse = (what: string) => {
      throw new TypeError(`order.lines[${index}].${what}.`);
    };
    if (typeof id !== "string" || id === "") refuse("id has to be a text that isn't empty");
    if (!(Number.isFinite(quantity) && Number(quantity) > 0)) refuse("quantity has to be a number above 0");
    if (!isCents(Number(lineCents)) || typeof lineCents !== "number")
      refuse("totalCents has to be whole cents, 0 or more");
    return { id, quantity, totalCents: lineCents } as OrderLine;
  });
  if (new Set(copy.map(({ id }) => id)).size < copy.length)
    throw new TypeError("order.lines has two lines of one id.");
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  if (sum(copy.map(unitCount)) > MOST_UNITS)
    throw new TypeError(`order.lines has more than ${MOST_UNITS} units.`);
  if (sum(copy.map((line) => line.totalCents)) !== totalCents)
    throw new TypeError("order.lines has to add up to cart.totalCents.");
  return copy;
}
