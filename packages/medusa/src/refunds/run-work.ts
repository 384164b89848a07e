import { randomUUID } from "node:crypto";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { noteLines } from "../medusa-tables/orders.js";
import { readRunBasis, readRunRefunds } from "../medusa-tables/run-refunds.js";
import { endCreditLines } from "../recovery/credit-lines.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { REFUND_RUN } from "../refund-metadata.js";
import { withOrder } from "./balanced-books.js";
import type { OrderBooks } from "./order-books.js";
import { type RefundPart, refundPart, UNDECIDED, UNSURE } from "./order-refund.js";
import { planOrder } from "./run-plan.js";
import {
  claimOrder,
  endOrder,
  holdOrder,
  openRuns,
  type RunOrder,
  type RunPlan,
  writeRun,
} from "./run-store.js";

const CHANGED = "The order has changed since the plan was made. Look at it, and refund it on its own page.";

/**
 * Writes a refund of many orders down, as it was planned. It is made by the shop from then on, whatever becomes of this
 * process: `workRuns` does it, here or in another one.
 *
 * @param actor who asks for it, as it is written down
 * @returns the run's id; null where another run has one of the orders by now
 */
export async function beginRun(
  container: MedusaContainer,
  plan: RunPlan,
  actor: string,
): Promise<string | null> {
  const id = `gcrun_${randomUUID()}`;
  return (await writeRun(contextOf(container).runSql, id, plan, actor)) ? id : null;
}

/**
 * Works on the runs that aren't over, order by order. Safe to stop at any point, and in several processes at once: an
 * order is one's for a lease's time, and each part of it is refunded once.
 *
 * @param options.only this run alone
 * @param options.until when to stop, though orders are left
 */
export async function workRuns(
  container: MedusaContainer,
  { only, until = () => false }: { only?: string; until?: () => boolean } = {},
): Promise<void> {
  const { runSql: run, settings } = contextOf(container);
  for (const runId of only === undefined ? await openRuns(run) : [only]) {
    while (!until()) {
      const order = await claimOrder(run, runId, { owner: randomUUID(), forMs: settings.leaseMs });
      if (!order) break;
      await workOrder(container, order);
    }
  }
}

async function workOrder(container: MedusaContainer, order: RunOrder): Promise<void> {
  const { runSql: run } = contextOf(container);
  try {
    const end = await withOrder(container, order.orderId, (books) => refundOnce(container, order, books));
    if (end !== "wait")
      await endOrder(run, order, end === "done" ? "done" : "person", end === "done" ? null : end);
  } catch (error) {
    tellFailure(container, order, error);
    // If somebody else keeps the order for long, it is tried again once its lease has run out.
    if (error instanceof CheckoutError) return;
    await endOrder(run, order, "person", faultOf(error));
  }
}

function tellFailure(container: MedusaContainer, { orderId, runId }: RunOrder, error: unknown): void {
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  logger.error(`giftcard: the refund of order ${orderId} (run ${runId}) failed: ${nameOf(error)}`);
}

/**
 * Refunds each part that isn't refunded yet.
 *
 * @returns done; wait, until somebody else has ended what was begun; or why a person has to look
 */
async function refundOnce(container: MedusaContainer, order: RunOrder, books: OrderBooks): Promise<string> {
  const { runSql: run, settings } = contextOf(container);
  if (!(await holdOrder(run, order, settings.leaseMs))) return "wait";
  if (!(await endCreditLines(container, order.orderId))) return "wait";
  const begun = await readRunRefunds(run, { ...order, key: REFUND_RUN });
  const basis = await readRunBasis(run, { ...order, key: REFUND_RUN });
  const isFirst = begun.length === 0;
  if (isFirst && !(await isAsPlanned(container, order))) return CHANGED;
  // Since its first part: what is made is made, and nothing more is.
  const isChanged = !isFirst && order.basis !== basis;
  if (!books.isNoted) await noteLines(run, books, books.lines);
  for (const part of order.parts) {
    const there = begun.find(({ paymentId }) => paymentId === part.paymentId);
    // A card's is the journal's: recovery makes it, and writes it into the order.
    if (there && !there.isRecorded) return part.lastFour === null ? UNDECIDED : "wait";
    if (there) continue;
    if (isChanged) return CHANGED;
    if (!(await holdOrder(run, order, settings.leaseMs, isFirst ? basis : null))) return "wait";
    const named = { units: new Map(Object.entries(order.units)), also: { [REFUND_RUN]: order.runId } };
    const failure = await refundPart(container, part, named).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) continue;
    tellFailure(container, order, failure);
    return part.lastFour === null ? `${faultOf(failure)}. ${UNSURE}` : faultOf(failure);
  }
  return "done";
}

/** Whether the same would be planned now, this run's own part left out. */
async function isAsPlanned(container: MedusaContainer, order: RunOrder): Promise<boolean> {
  const now = await planOrder(container, order.sold, order, order.runId);
  const key = (parts: readonly RefundPart[]) =>
    parts.map(({ paymentId, cents }) => `${paymentId} ${cents}`).join();
  return now !== null && !("why" in now) && key(now.parts) === key(order.parts);
}
