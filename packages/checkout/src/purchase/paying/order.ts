import { isCents, unitCount } from "../../engine/charge-layout.js";
import type { CartView } from "../../engine/engine.js";
import type { OrderLine } from "../../store/order-line.js";

/** An order to pay. The shop creates its id before; the id is bound to the order's cart and total. */
export interface Order {
  readonly id: string;
  readonly cart: CartView;
  /**
   * The `plan` of the summary that the page has shown. If the total, a card's part or the remainder is another now, the order
   * is refused before any money moves. Required if cards pay.
   */
  readonly plan?: string | null | undefined;
  /**
   * The order's lines, with unique ids. They add up to the cart's total, and shipping comes last. With lines, units can be
   * refunded. At most 10,000 units.
   */
  readonly lines?: readonly OrderLine[];
}

/** Validates an id. PostgreSQL accepts no NUL, and a lone surrogate would be stored as another character. @throws {TypeError} */
export function checkId(name: string, id: unknown): void {
  if (typeof id !== "string" || id === "" || /\0|\p{Surrogate}/u.test(id))
    throw new TypeError(`${name} has to be a non-empty string of valid characters.`);
}

/** Validates a cart. @throws {TypeError} naming the invalid field */
export function checkCart<Cart extends CartView>(cart: Cart): Cart {
  const { id, totalCents, currency } = (cart ?? {}) as Partial<CartView>;
  checkId("cart.id", id);
  if (!Number.isSafeInteger(totalCents) || Number(totalCents) < 0)
    throw new TypeError("cart.totalCents has to be whole cents, 0 or more.");
  if (typeof currency !== "string") throw new TypeError('cart.currency has to be a string such as "EUR".');
  return cart;
}

const MOST_UNITS = 10_000;

/**
 * Validates the lines of an order.
 *
 * @returns a copy, so that the caller can't change them between the check and the write
 * @throws {TypeError} naming the invalid field
 */
export function checkLines(lines: unknown, totalCents: number): OrderLine[] | undefined {
  if (lines === undefined) return undefined;
  if (!Array.isArray(lines)) throw new TypeError("order.lines has to be a list.");
  const copy = lines.map((line: Partial<OrderLine> | null, index) => {
    const { id, quantity, totalCents: lineCents } = line ?? {};
    const refuse = (what: string) => {
      throw new TypeError(`order.lines[${index}].${what}.`);
    };
    if (typeof id !== "string" || id === "") refuse("id has to be a non-empty string");
    if (!(Number.isFinite(quantity) && Number(quantity) > 0)) refuse("quantity has to be a number above 0");
    if (!isCents(Number(lineCents)) || typeof lineCents !== "number")
      refuse("totalCents has to be whole cents, 0 or more");
    return { id, quantity, totalCents: lineCents } as OrderLine;
  });
  if (new Set(copy.map(({ id }) => id)).size < copy.length)
    throw new TypeError("order.lines has two lines with the same id.");
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  if (sum(copy.map(unitCount)) > MOST_UNITS) throw new TypeError(`order.lines has more than ${MOST_UNITS} units.`);
  if (sum(copy.map((line) => line.totalCents)) !== totalCents)
    throw new TypeError("order.lines has to add up to cart.totalCents.");
  return copy;
}
