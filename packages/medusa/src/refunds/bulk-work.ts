import { randomUUID } from "node:crypto";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { readBulkRefundBasis, readBulkRefundParts } from "../medusa-tables/bulk-refunds.js";
import { noteLines } from "../medusa-tables/orders.js";
import { endCreditLines } from "../recovery/credit-lines.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { BULK_REFUND } from "../refund-metadata.js";
import { withOrder } from "./balanced-books.js";
import { planOrder } from "./bulk-plan.js";
import {
  type BulkRefundOrder,
  type BulkRefundPlan,
  claimOrder,
  endOrder,
  holdOrder,
  openBulkRefunds,
  writeBulkRefund,
} from "./bulk-store.js";
import type { OrderBooks } from "./order-books.js";
import { type RefundPart, refundPart, UNDECIDED, UNSURE } from "./order-refund.js";

const CHANGED = "The order has changed since the plan was made. Look at it, and refund it on its own page.";

/**
 * Writes a refund of many orders down, as it was planned. It is made by the shop from then on, whatever becomes of this
 * process: `workRuns` does it, here or in another one.
 *
 * @param actor who asks for it, as it is written down
 * @returns the bulk refund's id; null where another bulk refund has one of the orders by now
 */
export async function beginBulkRefund(
  container: MedusaContainer,
  plan: BulkRefundPlan,
  actor: string,
): Promise<string | null> {
  const id = `gcrun_${randomUUID()}`;
  return (await writeBulkRefund(contextOf(container).sql, id, plan, actor)) ? id : null;
}

/**
 * Works on the bulk refunds that aren't over, order by order. Safe to stop at any point, and in several processes at once: an
 * order is one's for a lease's time, and each part of it is refunded once.
 *
 * @param options.only this bulk refund alone
 * @param options.until when to stop, though orders are left
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
    const end = await withOrder(container, order.orderId, (books) => refundOnce(container, order, books));
    if (end !== "wait")
      await endOrder(sql, order, end === "done" ? "done" : "person", end === "done" ? null : end);
  } catch (error) {
    reportFailure(container, order, error);
    // If somebody else keeps the order for long, it is tried again once its lease has run out.
    if (error instanceof CheckoutError) return;
    await endOrder(sql, order, "person", faultOf(error));
  }
}

function reportFailure(
  container: MedusaContainer,
  { orderId, bulkRefundId }: BulkRefundOrder,
  error: unknown,
): void {
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  logger.error(
    `giftcard: the refund of order ${orderId} (bulk refund ${bulkRefundId}) failed: ${nameOf(error)}`,
  );
}

/**
 * Refunds each part that isn't refunded yet.
 *
 * @returns done; wait, until somebody else has ended what was begun; or why a person has to look
 */
async function refundOnce(
  container: MedusaContainer,
  order: BulkRefundOrder,
  books: OrderBooks,
): Promise<string> {
  const { sql, settings } = contextOf(container);
  if (!(await holdOrder(sql, order, settings.leaseMs))) return "wait";
  if (!(await endCreditLines(container, order.orderId))) return "wait";
  const begun = await readBulkRefundParts(sql, { ...order, key: BULK_REFUND });
  const basis = await readBulkRefundBasis(sql, { ...order, key: BULK_REFUND });
  const isFirst = begun.length === 0;
  if (isFirst && !(await isAsPlanned(container, order))) return CHANGED;
  // Since its first part: what is made is made, and nothing more is.
  const isChanged = !isFirst && order.basis !== basis;
  if (!books.isNoted) await noteLines(sql, books, books.lines);
  for (const part of order.parts) {
    const there = begun.find(({ paymentId }) => paymentId === part.paymentId);
    // A card's is the journal's: recovery makes it, and writes it into the order.
    if (there && !there.isRecorded) return part.lastFour === null ? UNDECIDED : "wait";
    if (there) continue;
    if (isChanged) return CHANGED;
    if (!(await holdOrder(sql, order, settings.leaseMs, isFirst ? basis : null))) return "wait";
    const named = {
      units: new Map(Object.entries(order.units)),
      also: { [BULK_REFUND]: order.bulkRefundId },
    };
    const failure = await refundPart(container, part, named).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) continue;
    reportFailure(container, order, failure);
    return part.lastFour === null ? `${faultOf(failure)}. ${UNSURE}` : faultOf(failure);
  }
  return "done";
}

/** Whether the same would be planned now, this bulk refund's own part left out. */
async function isAsPlanned(container: MedusaContainer, order: BulkRefundOrder): Promise<boolean> {
  const now = await planOrder(container, order.sold, order, order.bulkRefundId);
  const key = (parts: readonly RefundPart[]) =>
    parts.map(({ paymentId, cents }) => `${paymentId} ${cents}`).join();
  return now !== null && !("why" in now) && key(now.parts) === key(order.parts);
}
