import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { captureSoon } from "../capture/captures.js";
import { noteIfPaid } from "../completion/paid-orders.js";
import { contextOf } from "../context/context.js";
import { cartOfOrder } from "../medusa-tables/carts.js";
import { noteLines } from "../medusa-tables/orders.js";
import { cancelIfUnpaid } from "../recovery/unpaid-orders.js";
import { readBooks } from "../refunds/order-books.js";

/**
 * Commits charges to their order if the cards were charged before the order existed (hook `validate`), and records
 * that the order is paid. Then it has the cards captured. Medusa announces an order once all of its payments are
 * authorized.
 */
export default async function commitGiftcards({ event, container }: SubscriberArgs<{ id: string }>): Promise<void> {
  const orderId = event.data.id;
  const { engine, leases, sql } = contextOf(container);
  const cartId = await cartOfOrder(sql, orderId);
  if (cartId === null) return;
  // The shopper's response goes first: this reads the order as often as the response does.
  await leases.ended(cartId);
  for (const { reference, state, leaseOwner } of await engine.journal.chargesOfCart(cartId)) {
    if (state === "devalued" && leaseOwner) {
      await engine.commit(reference, leaseOwner, orderId).catch(() => null);
    }
  }
  await noteIfPaid(sql, [orderId]);
  const books = await readBooks(container, orderId);
  if (!books.isNoted) await noteLines(sql, books, books.lines);
  captureSoon(container, { orderId, cartId });
  // A stalled completion may resume and place its order, although recovery has reversed its charges.
  const isLeft = (await engine.journal.tenders(cartId)).length > 0;
  if (isLeft) await cancelIfUnpaid(container, { orderId, cartId, reason: "unpaid" });
}

export const config: SubscriberConfig = { event: "order.placed" };
