import type { MedusaContainer } from "@medusajs/framework/types";
import { closeCart } from "../cart/cart-payment.js";
import { withCartLock } from "../cart/cart-turn.js";
import { noteIfPaid } from "../completion/paid-orders.js";
import { contextOf } from "../context/context.js";
import {
  findChargedCanceled,
  findClosed,
  findOrderless,
  findReopened,
  findUnnoted,
} from "../medusa-tables/charged-orders.js";
import { findBegunCreditLines } from "../medusa-tables/credit-lines.js";
import type { Scan } from "../medusa-tables/scan.js";
import { findCanceledPayments, findStrayPayments } from "../medusa-tables/stray-payments.js";
import {
  findCanceledRemainders,
  findCardsBesideOrders,
  findLapsedRemainders,
  type UnpaidOrder,
} from "../medusa-tables/unpaid-orders.js";
import { findUnknownRefunds, findUnrecorded } from "../medusa-tables/unrecorded-payments.js";
import type { CancelBudget } from "./cancel-limit.js";
import { releaseCanceled, reverseCanceled } from "./canceled-orders.js";
import { endCreditLine } from "./credit-lines.js";
import type { JobKey, JobKind } from "./failing-jobs.js";
import { voidOrderless } from "./orderless-charges.js";
import { findPendingCancellations } from "./pending-cancellations.js";
import { openCart } from "./reopened-carts.js";
import { releaseStray } from "./stray-payments.js";
import { bookRefund, forgetRefund } from "./unknown-refunds.js";
import { cancelIfUnpaid } from "./unpaid-orders.js";
import { recordPayment } from "./unrecorded-payments.js";

/** How a task is run. */
export interface RunOptions {
  /** How many orders this run of recovery may still cancel; left out where a person asks for this one task. */
  readonly budget?: CancelBudget;
  /** A person asks for it. */
  readonly isAsked?: boolean;
}

/** One thing to be done. */
export interface RecoveryTask extends JobKey {
  /** @returns true when it canceled its order */
  run(container: MedusaContainer, options: RunOptions): Promise<unknown>;
  /** What is done where a person leaves it, in place of not trying it any more. */
  leave?(container: MedusaContainer): Promise<void>;
}

/** A kind of job, and everything that finds such tasks. A finder only reads, so a dry run can ask it too. */
export interface RecoveryJob {
  readonly kind: Exclude<JobKind, "scan">;
  readonly finders: readonly ((scan: Scan) => Promise<RecoveryTask[]>)[];
}

/** Everything that finds orders which may have to be canceled. */
export const unpaidOrderFinders: readonly ((scan: Scan) => Promise<UnpaidOrder[]>)[] = [
  findPendingCancellations,
  findCardsBesideOrders,
  findLapsedRemainders,
  findCanceledRemainders,
];

const leaseOf = (container: MedusaContainer) => contextOf(container).settings.leaseMs;

const cancels = (find: (scan: Scan) => Promise<UnpaidOrder[]>) => async (scan: Scan) =>
  (await find(scan)).map(
    (order): RecoveryTask => ({
      kind: "cancel_order",
      id: order.orderId,
      orderId: order.orderId,
      run: (container, options) => cancelIfUnpaid(container, order, options),
    }),
  );

/** What recovery looks for and does, in this order. Where two finders find the same, the later one is believed. */
export const recoveryJobs: readonly RecoveryJob[] = [
  {
    kind: "note_paid",
    finders: [
      async (scan) =>
        (await findUnnoted(scan)).map((orderId) => ({
          kind: "note_paid",
          id: orderId,
          orderId,
          run: () => noteIfPaid(scan.sql, [orderId]),
        })),
    ],
  },
  {
    kind: "cancel_order",
    finders: unpaidOrderFinders.map(cancels),
  },
  {
    kind: "reverse",
    finders: [
      async (scan) =>
        (await findChargedCanceled(scan)).map((charge) => ({
          kind: "reverse",
          id: charge.reference,
          orderId: charge.orderId,
          run: (container) => reverseCanceled(container, charge, leaseOf(container)),
        })),
      async (scan) =>
        (await findOrderless(scan)).map((charge) => ({
          kind: "reverse",
          id: charge.reference,
          orderId: charge.orderId,
          run: (container) => voidOrderless(container, charge),
        })),
    ],
  },
  {
    kind: "release_payment",
    finders: [
      async (scan) =>
        (await findStrayPayments(scan)).map((payment) => ({
          kind: "release_payment",
          id: payment.paymentId,
          orderId: null,
          cartId: payment.cartId,
          run: (container, { isAsked = false }) => releaseStray(container, payment, isAsked),
        })),
      async (scan) =>
        (await findCanceledPayments(scan)).map((payment) => ({
          kind: "release_payment",
          id: payment.paymentId,
          orderId: payment.orderId,
          run: (container, { isAsked = false }) => releaseCanceled(container, payment, isAsked),
        })),
    ],
  },
  {
    kind: "credit_line",
    finders: [
      async (scan) =>
        (await findBegunCreditLines(scan)).map((begun) => ({
          kind: "credit_line",
          id: begun.changeId,
          orderId: begun.orderId,
          run: (container) => endCreditLine(container, begun),
        })),
    ],
  },
  {
    kind: "record_payment",
    finders: [
      async (scan) =>
        (await findUnrecorded(scan)).map((entry) => ({
          kind: "record_payment",
          id: entry.entryId,
          orderId: entry.orderId,
          run: (container) => recordPayment(container, entry),
        })),
    ],
  },
  {
    kind: "unknown_refund",
    finders: [
      async (scan) =>
        (await findUnknownRefunds(scan)).map((refund) => ({
          kind: "unknown_refund",
          id: refund.refundId,
          orderId: refund.orderId,
          run: (container, { isAsked = false }) => forgetRefund(container, refund, isAsked),
          leave: (container) => bookRefund(container, refund),
        })),
    ],
  },
  {
    kind: "close_cart",
    finders: [
      async (scan) =>
        (await findReopened(scan)).map(({ orderId, cartId }) => ({
          kind: "close_cart",
          id: cartId,
          orderId,
          run: (container) => withCartLock(container, cartId, () => closeCart(container, cartId)),
        })),
    ],
  },
  {
    kind: "open_cart",
    finders: [
      async (scan) =>
        (await findClosed(scan)).map((cartId) => ({
          kind: "open_cart",
          id: cartId,
          orderId: null,
          cartId,
          run: (container) => openCart(container, cartId),
        })),
    ],
  },
];
