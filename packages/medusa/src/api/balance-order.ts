import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { withOrder } from "../refunds/balanced-books.js";
import { readBooks } from "../refunds/order-books.js";
import { handleAnswer } from "./answer.js";

/**
 * Balances an order's books before Medusa confirms an edit, return, exchange or claim, so that the order's page never
 * shows a refunded amount as outstanding. If balancing fails, the order's next refund retries it. Orders without a
 * gift card, of which the plugin has refunded nothing, are left as Medusa shows them.
 */
export function balanceOrder(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  handleAnswer(res, next, {
    replaceBody: async (body) => {
      const orderId = (body as { order_preview?: { id?: string } } | null)?.order_preview?.id;
      try {
        if (orderId !== undefined) await balance(req.scope, orderId);
      } catch (error) {
        const logger = contextOf(req.scope).logger;
        logger.warn(`giftcard: the books of order ${orderId} aren't balanced yet: ${nameOf(error)}`);
      }
      return body;
    },
  });
  next();
}

async function balance(container: MedusaContainer, orderId: string): Promise<void> {
  const { charges, refunds } = await readBooks(container, orderId);
  if (charges.length === 0 && refunds.every(({ units }) => !units)) return;
  await withOrder(container, orderId, async () => {});
}
