import type { MedusaContainer } from "@medusajs/framework/types";
import { captureMissed } from "../capture/captures.js";
import { closeCart, openCart } from "../cart/cart-payment.js";
import { withCartLock, withOrderLease } from "../cart/cart-turn.js";
import { noteIfPaid } from "../completion/paid-orders.js";
import {
  findChargedCanceled,
  findClosed,
  findOrderless,
  findReopened,
  findUncaptured,
  findUnnoted,
} from "../medusa-tables/charged-orders.js";
import type { Scan } from "../medusa-tables/scan.js";
import { findCanceledPayments, findStrayPayments } from "../medusa-tables/stray-payments.js";
import { findCardsBesideOrders, findEndedRemainders } from "../medusa-tables/unpaid-orders.js";
import { findBegunCreditLines, findUnknownRefunds, findUnrecorded } from "../medusa-tables/unrecorded-payments.js";
import { releaseCanceled, reverseCanceled, voidOrderless } from "./canceled-orders.js";
import { endCreditLines } from "./credit-lines.js";
import type { JobKey, JobKind } from "./failing-jobs.js";
import { findPendingCancellations } from "./pending-cancellations.js";
import { releaseStray } from "./release-payment.js";
import { type CancelOptions, cancelIfUnpaid } from "./unpaid-orders.js";
import { bookRefund, forgetRefund, recordPayment } from "./unrecorded-payments.js";

export interface RunOptions extends CancelOptions {
  /** Until when this run of recovery may begin captures, as a time in milliseconds. Omitted if a person asks for this one task. */
  readonly captureUntil?: number;
}

export interface RecoveryTask extends JobKey {
  /** @returns true if it canceled its order; "postponed" if a later run does the task */
  run(container: MedusaContainer, options: RunOptions): Promise<unknown>;
  /** Runs if a person exempts the task. Without it, the task is just not tried any more. */
  exempt?(container: MedusaContainer): Promise<void>;
}

type Find<T> = (scan: Scan) => Promise<T[]>;

type Kind = Exclude<JobKind, "scan">;
type Task = Omit<RecoveryTask, "kind">;

const tasks =
  <T>(find: Find<T>, taskOf: (found: T, scan: Scan) => Task) =>
  async (scan: Scan): Promise<Task[]> =>
    (await find(scan)).map((found) => taskOf(found, scan));

const finders: Record<Kind, readonly Find<Task>[]> = {
  note_paid: [
    // With the lease: a cancel that has just judged the order must not be overtaken.
    tasks(findUnnoted, (orderId, { sql }) => ({
      id: orderId,
      orderId,
      run: (container) => withOrderLease(container, orderId, () => noteIfPaid(sql, [orderId])),
    })),
  ],
  cancel_order: [findPendingCancellations, findCardsBesideOrders, findEndedRemainders].map((find) =>
    tasks(find, (order) => ({
      id: order.orderId,
      orderId: order.orderId,
      run: (container, options) => cancelIfUnpaid(container, order, options),
    })),
  ),
  reverse: [
    tasks(findChargedCanceled, (charge) => ({
      id: charge.reference,
      orderId: charge.orderId,
      run: (container) => reverseCanceled(container, charge),
    })),
    tasks(findOrderless, (charge) => ({
      id: charge.reference,
      orderId: charge.orderId,
      run: (container) => voidOrderless(container, charge),
    })),
  ],
  release_payment: [
    tasks(findStrayPayments, (payment) => ({
      id: payment.paymentId,
      orderId: null,
      cartId: payment.cartId,
      run: (container, { isAsked = false }) => releaseStray(container, payment, isAsked),
    })),
    tasks(findCanceledPayments, (payment) => ({
      id: payment.paymentId,
      orderId: payment.orderId,
      run: (container, { isAsked = false }) => releaseCanceled(container, payment, isAsked),
    })),
  ],
  credit_line: [
    tasks(findBegunCreditLines, ({ changeId, orderId }) => ({
      id: changeId,
      orderId,
      run: async (container) =>
        void (await withOrderLease(container, orderId, () => endCreditLines(container, orderId))),
    })),
  ],
  record_payment: [
    tasks(findUnrecorded, (entry) => ({
      id: entry.entryId,
      orderId: entry.orderId,
      run: (container) => recordPayment(container, entry),
    })),
  ],
  capture: [
    tasks(findUncaptured, (order) => ({
      id: order.orderId,
      orderId: order.orderId,
      run: (container, options) => captureMissed(container, order, options),
    })),
  ],
  unknown_refund: [
    tasks(findUnknownRefunds, (refund) => ({
      id: refund.refundId,
      orderId: refund.orderId,
      run: (container, { isAsked = false }) => forgetRefund(container, refund, isAsked),
      exempt: (container) => bookRefund(container, refund),
    })),
  ],
  close_cart: [
    tasks(findReopened, ({ orderId, cartId }) => ({
      id: cartId,
      orderId,
      run: (container) => withCartLock(container, cartId, () => closeCart(container, cartId)),
    })),
  ],
  open_cart: [
    tasks(findClosed, (cartId) => ({
      id: cartId,
      orderId: null,
      cartId,
      run: (container) => withCartLock(container, cartId, () => openCart(container, cartId)),
    })),
  ],
};

/**
 * Everything that recovery finds and does, by kind and in this order. If two finders return the same task, the later one
 * wins. A finder only reads.
 */
export const recoveryJobs = (Object.keys(finders) as Kind[]).map((kind) => ({ kind, finders: finders[kind] }));
