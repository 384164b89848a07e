import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaError } from "@medusajs/framework/utils";
import { refusal } from "../../errors.js";
import { isOfOrder } from "../../medusa-tables/payments.js";

/**
 * Explains why a gift card takes no payment session. A card is applied to a cart, so it can't be charged for a placed
 * order, such as for the difference after an edit.
 * @param id the id of the payment collection, or of its session
 */
export async function explainNoSession(sql: Sql, id: string): Promise<MedusaError> {
  const message = (await isOfOrder(sql, id))
    ? "A placed order takes no gift card. Pay the difference by another method, or mark it as paid."
    : "Apply a gift card to the cart; it is charged when the order is placed, and takes no session.";
  return refusal(message);
}
