import { randomUUID } from "node:crypto";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { createOrderCreditLinesWorkflow } from "@medusajs/medusa/core-flows";
import { fromCents } from "../amount.js";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { cartOfOrder } from "../medusa-tables/carts.js";
import { readPending, readRunRefunds } from "../medusa-tables/run-refunds.js";
import { findSold } from "../medusa-tables/sold-items.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { finishRefunds } from "../recovery/unrecorded-payments.js";
import { type RefundPart, refundPart } from "./order-refund.js";
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

/** Under this name a refund in Medusa says which run made it. */
export const REFUND_RUN = "giftcard_run";

const UNKNOWN =
  "A refund by the other payment method was begun, and nobody knows whether it was made. Look at the payment method: " +
  "where the money went back, leave this as it is; where it didn't, refund it there.";
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
  const { leases, runSql: run } = contextOf(container);
  try {
    const cartId = await cartOfOrder(run, order.orderId);
    const release = await leases.wait(cartId ?? order.orderId, PATIENCE_MS);
    try {
      if (cartId !== null) await finishRefunds(container, cartId);
      const end = await refundOnce(container, order);
      if (end !== "wait")
        await endOrder(run, order, end === "done" ? "done" : "person", end === "done" ? null : end);
    } finally {
      await release();
    }
  } catch (error) {
    tellFailure(container, order, error);
    // Where somebody else has the order for long, it is tried again once its lease has run out.
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
async function refundOnce(container: MedusaContainer, order: RunOrder): Promise<string> {
  const { runSql: run, settings } = contextOf(container);
  if (!(await holdOrder(run, order, settings.leaseMs))) return "wait";
  const begun = await readRunRefunds(run, { ...order, key: REFUND_RUN });
  if (begun.length === 0 && !(await isAsPlanned(container, order))) return CHANGED;
  for (const part of order.parts) {
    const { paymentId } = part;
    const there = begun.find((refund) => refund.paymentId === paymentId);
    if (there) {
      // A card's is the journal's: recovery makes it, and writes it into the order.
      if (!there.isRecorded) return part.lastFour === null ? UNKNOWN : "wait";
      if (order.attempt?.paymentId === paymentId) await waiveRest(container, order, order.attempt, part);
      continue;
    }
    const pendingCents = await readPending(run, order.orderId);
    if (!(await holdOrder(run, order, settings.leaseMs, { paymentId, pendingCents }))) return "wait";
    const failure = await refundPart(container, part, { also: { [REFUND_RUN]: order.runId } }).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) continue;
    // Whether the other method has done it isn't known.
    tellFailure(container, order, failure);
    return faultOf(failure);
  }
  return "done";
}

/** Whether the same would be planned now, this run's own part left out. */
async function isAsPlanned(container: MedusaContainer, order: RunOrder): Promise<boolean> {
  const { runSql: run } = contextOf(container);
  const [found] = await findSold(run, order.sold, order.orderId);
  const now = found && (await planOrder(container, order.sold, found, order.runId));
  const key = (parts: readonly RefundPart[]) =>
    parts.map(({ paymentId, cents }) => `${paymentId} ${cents}`).join();
  return now !== undefined && now !== null && !("why" in now) && key(now.parts) === key(order.parts);
}

/**
 * Medusa waives what is refunded beyond what an order owes, in its last step. Where a process died before that, the order
 * says that its customer has to pay it again.
 */
async function waiveRest(
  container: MedusaContainer,
  { runId, orderId }: RunOrder,
  { pendingCents }: NonNullable<RunOrder["attempt"]>,
  { cents }: RefundPart,
): Promise<void> {
  const now = await readPending(contextOf(container).runSql, orderId);
  const missingCents = Math.min(now - pendingCents, cents);
  if (missingCents <= 0) return;
  const waived = { reference: "refund_run", reference_id: runId, amount: fromCents(missingCents) };
  await createOrderCreditLinesWorkflow(container).run({
    input: { id: orderId, credit_lines: [waived as never] },
  });
}
