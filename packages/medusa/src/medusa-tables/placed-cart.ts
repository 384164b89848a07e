/** An order, and the cart that it was. */
export interface PlacedCart {
  readonly orderId: string;
  readonly cartId: string;
}

export const toPlacedCart = (row: Record<string, unknown>): PlacedCart => ({
  orderId: String(row.order_id),
  cartId: String(row.cart_id),
});
