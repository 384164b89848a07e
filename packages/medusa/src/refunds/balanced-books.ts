import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN } from "@medusajs/framework/utils";
import { fromCents, isCentAtMost } from "../amount.js";
import { type Keep, withOrderLease } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { BALANCE_REFERENCE } from "../medusa-tables/order-refund.js";
import { readOpenChange } from "../medusa-tables/orders.js";
import { addCreditLine, endCreditLines } from "../recovery/credit-lines.js";
import { finishBegunRefunds } from "../recovery/unrecorded-payments.js";
import { type OrderBooks, readBooks } from "./order-books.js";

/**
 * Writes the difference between Medusa's pending difference and the order's books into the order, as a credit line. Its
 * page, its status and Medusa's refund button then use the cents that are owed. Medusa differs by fractions of a cent, by a
 * discount that an edit leaves on the remaining units, and by units that were refunded before they were removed. The books
 * contain everything that somebody settled in Medusa, so the line never takes that back.
 *
 * Does nothing while the order takes no change, while it lacks a refund that was begun, while a return is requested (Medusa
 * already counts it as owed), or if its lines aren't recorded.
 */
async function balance(container: MedusaContainer, books: OrderBooks): Promise<boolean> {
  const { orderId } = books;
  if (!books.isNoted || books.isCanceled || books.awaitsReturn || books.isRefunding) return false;
  const amount = MathBN.sub(books.pending, fromCents(books.pendingCents));
  if (isCentAtMost(amount)) return false;
  if (await readOpenChange(contextOf(container).sql, orderId)) return false;
  await addCreditLine(container, orderId, { reference: BALANCE_REFERENCE, amount });
  return true;
}

/**
 * Reads an order's books and balances them in Medusa. First it finishes refunds and credit lines that were begun. The caller
 * has the order's lease.
 * @param cartId the order's cart; null if no card was ever on it
 * @throws as `readBooks`
 */
export async function readBalanced(
  container: MedusaContainer,
  orderId: string,
  cartId: string | null,
): Promise<OrderBooks> {
  let books = await readBooks(container, orderId);
  if (books.isRefunding || books.hasBegunLine) {
    if (cartId !== null) await finishBegunRefunds(container, cartId);
    await endCreditLines(container, orderId);
    books = await readBooks(container, orderId);
  }
  return (await balance(container, books)) ? readBooks(container, orderId) : books;
}

/**
 * Runs a refund of an order while nobody else refunds it, in any process. Before and after it, the books are balanced.
 * @throws {CheckoutError} payment_in_progress if another job has the order for too long
 * @throws as `readBooks`, and what the job fails with
 */
export const withOrder = <T>(
  container: MedusaContainer,
  orderId: string,
  job: (books: OrderBooks, keep: Keep) => Promise<T>,
): Promise<T> =>
  withOrderLease(container, orderId, async (keep, cartId) => {
    const answer = await job(await readBalanced(container, orderId, cartId), keep);
    await readBalanced(container, orderId, cartId);
    return answer;
  });
