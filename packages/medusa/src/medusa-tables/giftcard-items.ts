import type { Sql } from "@giftcard-pay/checkout/plugin";

/**
 * Whether the line `i` is a gift card: either it was one when it was added to the cart, or its product is one now. Only
 * the shop can write these.
 */
const IS_GIFTCARD = `(i.is_giftcard or (select count(*) from product p where p.id = i.product_id
  and (p.is_giftcard or p.metadata ->> 'giftcard' = 'true')) > 0)`;

/** Reads the ids of a cart's lines that are gift cards. Reads cart_line_item and product. */
export const giftcardItemsOfCart = (sql: Sql, cartId: string): Promise<string[]> =>
  readIds(
    sql,
    `select i.id from cart_line_item i where i.cart_id = $1 and i.deleted_at is null and ${IS_GIFTCARD}`,
    cartId,
  );

/**
 * Reads the ids of the lines of a cart's order that are gift cards. Reads order_cart, order, order_item, order_line_item
 * and product.
 */
export const giftcardItemsOfOrder = (sql: Sql, cartId: string): Promise<string[]> =>
  readIds(
    sql,
    `select i.id from order_cart l join "order" o on o.id = l.order_id
     join order_item sold on sold.order_id = o.id and sold.version = o.version and sold.deleted_at is null
     join order_line_item i on i.id = sold.item_id
     where l.cart_id = $1 and l.deleted_at is null and ${IS_GIFTCARD}`,
    cartId,
  );

const readIds = async (sql: Sql, statement: string, id: string): Promise<string[]> =>
  (await sql(statement, [id])).map((row) => String(row.id));
