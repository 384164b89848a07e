import { randomUUID } from "node:crypto";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import type { Keep } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { nameOf, reasonsOf } from "../errors.js";
import { readBulkRefundBasis, readBulkRefundParts } from "../medusa-tables/bulk-refunds.js";
import { noteLines } from "../medusa-tables/orders.js";
import { BULK_REFUND } from "../names.js";
import { endCreditLines } from "../recovery/credit-lines.js";
import { sentenceOf } from "../recovery/failing-jobs.js";
import type { Reason } from "../sentences.js";
import { withOrder } from "./balanced-books.js";
import { onItsPage, planOrder } from "./bulk-plan.js";
import { type BulkRefundOrder, claimOrder, endOrder, holdOrder, openBulkRefunds } from "./bulk-store.js";
import type { OrderBooks } from "./order-books.js";
import { captureFirst } from "./order-books.js";
import { refundPart, UNDECIDED, UNSURE } from "./order-refund.js";

const changed = (books: OrderBooks): Reason[] => [{ code: "orderChanged" }, onItsPage(books)];

/**
 * Works on open bulk refunds, order by order. Safe to stop at any point, and in several processes at once: each
 * process leases the order that it works on, and each part is refunded once.
 * @param options.only works only on this bulk refund
 * @param options.until tells when to stop, even if orders are left
 */
export async function workBulkRefunds(
  container: MedusaContainer,
  { only, until = () => false }: { only?: string; until?: () => boolean } = {},
): Promise<void> {
  const { sql, settings } = contextOf(container);
  for (const bulkRefundId of only === undefined ? await openBulkRefunds(sql) : [only]) {
    while (!until()) {
      const order = await claimOrder(sql, bulkRefundId, { owner: randomUUID(), forMs: settings.leaseMs });
      if (!order) break;
      await workOrder(container, order);
    }
  }
}

async function workOrder(container: MedusaContainer, order: BulkRefundOrder): Promise<void> {
  const { sql } = contextOf(container);
  try {
    const end = await withOrder(container, order.orderId, (books, keep) =>
      refundOnce(container, order, { books, keep }),
    );
    if (end !== "wait") await endOrder(sql, order, end === "done" ? "done" : "person", end === "done" ? null : end);
  } catch (error) {
    reportFailure(container, order, error);
    // If another job has the order, it is retried once its lease has expired.
    if (error instanceof CheckoutError) return;
    await endOrder(sql, order, "person", reasonsOf(error) ?? [stopped(error)]);
  }
}

function reportFailure(container: MedusaContainer, { orderId, bulkRefundId }: BulkRefundOrder, error: unknown): void {
  const logger = contextOf(container).logger;
  logger.error(`giftcard: the refund of order ${orderId} (bulk refund ${bulkRefundId}) failed: ${nameOf(error)}`);
}

const stopped = (failure: unknown): Reason => ({ code: "stopped", values: { fault: sentenceOf(failure) } });

/**
 * Refunds each part that isn't refunded yet.
 * @returns "done"; "wait" until another job has finished what was begun; or why a person has to look
 */
async function refundOnce(
  container: MedusaContainer,
  order: BulkRefundOrder,
  { books, keep }: { books: OrderBooks; keep: Keep },
): Promise<"done" | "wait" | readonly Reason[]> {
  const { sql, settings } = contextOf(container);
  if (!(await holdOrder(sql, order, settings.leaseMs))) return "wait";
  if (!(await endCreditLines(container, order.orderId))) return "wait";
  const begun = await readBulkRefundParts(sql, order);
  const isFirst = begun.length === 0;
  if (isFirst && !(await isAsPlanned(container, order))) return changed(books);
  // After a crash in between, the plan is still the same, with fewer payments to capture. The order may change while a slow
  // payment method captures.
  const now = isFirst ? await captureFirst(container, books, { keep }) : books;
  if (now !== books && !(await isAsPlanned(container, order))) return changed(now);
  const basis = await readBulkRefundBasis(sql, order);
  // If the order has changed since the first part, nothing more is refunded.
  const isChanged = !isFirst && order.basis !== basis;
  if (!now.isNoted) await noteLines(sql, now, now.lines);
  for (const part of order.parts) {
    const made = begun.find(({ paymentId }) => paymentId === part.paymentId);
    // A card's refund is in the journal: recovery makes it, and writes it into the order.
    if (made && !made.isRecorded) return part.lastFour === null ? [UNDECIDED] : "wait";
    if (made) continue;
    if (isChanged) return changed(books);
    if (!(await holdOrder(sql, order, settings.leaseMs, isFirst ? basis : null))) return "wait";
    const named = { keep, units: new Map(Object.entries(order.units)), also: { [BULK_REFUND]: order.bulkRefundId } };
    const failure = await refundPart(container, part, named).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) continue;
    if (failure instanceof CheckoutError) throw failure;
    reportFailure(container, order, failure);
    return part.lastFour === null ? [stopped(failure), UNSURE] : [stopped(failure)];
  }
  return "done";
}

/** Tells whether the plan would be the same now, apart from this bulk refund's own part. */
async function isAsPlanned(container: MedusaContainer, order: BulkRefundOrder): Promise<boolean> {
  const { sold, bulkRefundId, captures } = order;
  const now = await planOrder(container, order, { sold, bulkRefundId, capture: captures.length > 0 });
  if (now === null || "why" in now) return false;
  const key = ({ paymentId, cents }: { readonly paymentId: string; readonly cents: number }) => `${paymentId} ${cents}`;
  const confirmed = new Set(captures.map(key));
  const isCaptureConfirmed = now.captures.every((capture) => confirmed.has(key(capture)));
  return isCaptureConfirmed && now.parts.map(key).join() === order.parts.map(key).join();
}
