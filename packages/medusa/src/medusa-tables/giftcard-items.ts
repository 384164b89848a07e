import type { Sql } from "@giftcard-pay/checkout/plugin";

/**
 * Whether the line `i` is a gift card: as Medusa noted when it was put into the cart, or as its product says now. Nobody
 * but the shop writes either of them.
 */
const IS_GIFTCARD = `(i.is_giftcard or (select count(*) from product p where p.id = i.product_id
  and (p.is_giftcard or p.metadata ->> 'giftcard' = 'true')) > 0)`;

/**
 * The lines of a cart that are gift cards, by their ids.
 *
 * Reads cart_line_item and product.
 */
export async function giftcardItemsOfCart(sql: Sql, cartId: string): Promise<string[]> {
  const rows = await sql(
    `select i.id from cart_line_item i where i.cart_id = $1 and i.deleted_at is null and ${IS_GIFTCARD}`,
    [cartId],
  );
  return rows.map(({ id }) => String(id));
}

/**
 * The lines of an order that are gift cards, by their ids.
 *
 * Reads order, order_item, order_line_item and product.
 */
export async function giftcardItemsOfOrder(sql: Sql, orderId: string): Promise<string[]> {
  const rows = await sql(
    `select i.id from "order" o
     join order_item sold on sold.order_id = o.id and sold.version = o.version and sold.deleted_at is null
     join order_line_item i on i.id = sold.item_id
     where o.id = $1 and ${IS_GIFTCARD}`,
    [orderId],
  );
  return rows.map(({ id }) => String(id));
}
