import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { ordersOfCart } from "../medusa-tables/carts.js";

/** Opens the cart, unless it has become an order meanwhile. */
export async function openCart(container: MedusaContainer, cartId: string): Promise<void> {
  await withCartLock(container, cartId, async () => {
    if ((await ordersOfCart(contextOf(container).sql, cartId)).length > 0) return;
    await container.resolve(Modules.CART).updateCarts(cartId, { completed_at: null } as never);
  });
}
