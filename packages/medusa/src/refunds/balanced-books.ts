import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { fromCents } from "../amount.js";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { cartOfOrder, turnOfOrder } from "../medusa-tables/carts.js";
import { BALANCE_REFERENCE } from "../medusa-tables/order-refund.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import { endCreditLines } from "../recovery/credit-lines.js";
import { finishRefunds } from "../recovery/unrecorded-payments.js";
import { type OrderBooks, readBooks } from "./order-books.js";

/** Medusa itself takes a cent or less for nothing. */
const TOLERATED = fromCents(1);

/**
 * Writes the difference between Medusa's pending difference and the order's books into the order, as a credit line: its
 * page, its status and its own refund button then go by the cents that are owed. Medusa differs by fractions of a cent, by a
 * discount that an edit leaves on the units that stay, and by units that were refunded before they were taken off.
 *
 * Does nothing while the order takes no change, while a refund is begun that it doesn't know of, while a return is requested
 * (Medusa takes it for owed already), or if its lines aren't noted.
 *
 * @returns whether it wrote something
 */
async function balance(container: MedusaContainer, books: OrderBooks): Promise<boolean> {
  if (!books.isNoted || books.isCanceled || books.awaitsReturn || books.isRefunding) return false;
  const differs = MathBN.sub(books.pending, fromCents(books.pendingCents));
  if (MathBN.lte(differs.abs(), TOLERATED)) return false;
  if (await hasOpenChange(contextOf(container).sql, books.orderId)) return false;
  const orders = container.resolve(Modules.ORDER);
  const { orderId: order_id } = books;
  const change = await orders.createOrderChange({ order_id, change_type: "credit_line" } as never);
  const line = { action: "CREDIT_LINE_ADD", reference: BALANCE_REFERENCE, reference_id: change.id };
  await orders.addOrderAction({ order_change_id: change.id, ...line, amount: differs } as never);
  await orders.confirmOrderChange(change.id);
  return true;
}

/** Reads an order's books and balances them in Medusa; its turn is the caller's. @throws as `readBooks` */
export async function readBalanced(container: MedusaContainer, orderId: string): Promise<OrderBooks> {
  await endCreditLines(container, orderId);
  const books = await readBooks(container, orderId);
  return (await balance(container, books)) ? readBooks(container, orderId) : books;
}

/**
 * Refunds something of an order while nobody else does, in any process: refunds that were begun are finished, and its books
 * balanced, before and after.
 *
 * @throws {CheckoutError} payment_in_progress if another job keeps the order for long
 * @throws as `readBooks`, and what the job fails with
 */
export async function withOrder<T>(
  container: MedusaContainer,
  orderId: string,
  job: (books: OrderBooks) => Promise<T>,
): Promise<T> {
  const { leases, sql } = contextOf(container);
  const release = await leases.wait(await turnOfOrder(sql, orderId), PATIENCE_MS);
  try {
    const cartId = await cartOfOrder(sql, orderId);
    if (cartId !== null) await finishRefunds(container, cartId);
    const answer = await job(await readBalanced(container, orderId));
    await readBalanced(container, orderId);
    return answer;
  } finally {
    await release();
  }
}
