import { randomUUID } from "node:crypto";
import { type Cents, cents } from "@giftcard-pay/client";
import { CheckoutError, invalidRefund, RefundError, refundNotPossible } from "../../engine/errors.js";
import type { RefundShares, RefundSplit } from "../../engine/refund-plan.js";
import type { Charge } from "../../store/charge.js";
import { chargedStates } from "../../store/charge-states.js";
import { undecidedStates } from "../../store/purchase-states.js";
import { type NewRefund, type Purchase, type Refund, refundRules } from "../../store/purchase-store.js";
import { amountOf, groupByPayment } from "../card-payments.js";
import { type OrderPayment, toOrderPayment } from "../order-payment.js";
import { newOwner } from "../records.js";
import type { StepsContext } from "../steps.js";
import { createCancel } from "./cancel.js";
import {
  checkRefundRequest,
  isSameRequest,
  type OrderRefundPlan,
  openCharges,
  type PaidBooks,
  type RefundRequest,
  recordOf,
  refundedRemainderCents,
  sharesOf,
  splitRefund,
  wasPaid,
} from "./refund-request.js";

export type { OrderRefundPlan, RefundRequest } from "./refund-request.js";

const UNDECIDED = "The order's payment is not decided yet. Try again in a moment.";

/** The payment of an order, with a refund of it. */
export type RefundedPayment = OrderPayment & { readonly refund: OrderRefund };

/** The current state of a refund. */
export type OrderRefund = RefundShares & {
  readonly id: string;
  /** False while a part is owed: it is recorded, and `recover` retries it. */
  readonly isDone: boolean;
};

/** A part of an order's payment. Amounts in cents. */
interface PaidPart {
  readonly amountCents: Cents;
  readonly refundedCents: Cents;
  /** The part of a refund that isn't back yet: it is recorded, and `recover` retries it. */
  readonly owedCents: Cents;
}

/** The payment of an order, with its refunds. */
export interface PaidBy {
  readonly orderId: string;
  readonly totalCents: Cents;
  /** In the order in which they were charged. */
  readonly cards: readonly (PaidPart & { readonly lastFour: string })[];
  /** The part that the remainder method collected. */
  readonly remainder: PaidPart;
}

/** Refunds parts of paid orders, and cancels whole orders. An order has one refund at a time, decided by a compare-and-set of its purchase. */
export function createPurchaseRefunds(context: StepsContext) {
  const { steps, purchases, remainder, leaseMs } = context;
  /** Reads refunds before charges: a charge that none of these refunds has taken stays open until the next refund begins. */
  async function booksOf(orderId: string): Promise<PaidBooks> {
    const purchase = await steps.known(orderId);
    const refunds = await purchases.refunds(orderId);
    return { purchase, refunds, charges: (await steps.chargesOf(purchase)).reverse() };
  }

  /**
   * @throws {RefundError} if nothing can be refunded, or the request is invalid
   * @throws {TypeError} if the remainder method's `refund` is required and missing
   */
  function split(books: PaidBooks, request: RefundRequest) {
    if (undecidedStates.includes(books.purchase.state)) throw new RefundError("payment_in_progress", UNDECIDED);
    const { amountCents, leftCents, ...plan } = splitRefund(books, request);
    const canBeMade = ({ remainderCents }: RefundSplit) => remainderCents === 0 || remainder.canRefund;
    if (plan.isPossible && !canBeMade(plan.split))
      throw new TypeError("This refunds a part of the remainder: createCheckout needs remainder.refund.");
    if (plan.isPossible) return { isPossible: true, written: recordOf(plan.split) } as const;
    const nearest = plan.nearest.filter(canBeMade).map((split) => sharesOf(recordOf(split), books.charges));
    return { isPossible: false, amountCents: cents(amountCents), leftCents, nearest } as const;
  }

  async function refundPlan(orderId: string, given: RefundRequest): Promise<OrderRefundPlan> {
    const request = checkRefundRequest(given);
    const books = await booksOf(orderId);
    const { leftCents: _, ...plan } = { leftCents: 0, ...split(books, request) };
    return plan.isPossible ? { isPossible: true, ...sharesOf(plan.written, books.charges) } : plan;
  }

  /** Continues the pending step of an order, if no other process holds it. @returns the current purchase */
  async function continuePending(orderId: string): Promise<Purchase | null> {
    const held = await steps.claim(orderId);
    return held ? steps.decide(held.purchase, held.owner) : purchases.read(orderId);
  }

  /**
   * Records a refund that was planned with these books, and makes it.
   *
   * @returns whether it was recorded; false if anything has changed since the books were read
   * @throws {RefundError} refund_in_progress during another refund
   */
  async function begin(books: PaidBooks, wanted: Omit<NewRefund, "number">): Promise<boolean> {
    const { orderId, attemptId, state } = books.purchase;
    if (state === "refunding") {
      if ((await continuePending(orderId))?.state === "refunding")
        throw new RefundError("refund_in_progress", "Another refund of the order is being made. Try again later.");
      return false;
    }
    const lease = { owner: newOwner(), forMs: leaseMs };
    const refund = { ...wanted, number: books.refunds.length + 1 };
    const begun = await steps.change(orderId, { from: ["paid"], to: "refunding", attemptId, lease, refund });
    if (begun) await steps.finishRefund(begun, lease.owner);
    return begun !== null;
  }

  async function refund(orderId: string, given: RefundRequest & { readonly id: string }): Promise<RefundedPayment> {
    const { id, lines = null, rule = refundRules[0] } = checkRefundRequest(given);
    if (typeof id !== "string" || id === "") throw invalidRefund("A refund's id has to be a non-empty string.");
    for (;;) {
      const recorded = await refundOf(orderId, id);
      if (recorded && !isSameRequest(recorded, given))
        throw invalidRefund(`The id "${id}" belongs to another refund of the order.`);
      if (recorded?.doneAt === null) await continuePending(orderId);
      if (recorded) return resultOf(orderId, id);
      const books = await booksOf(orderId);
      // A concurrent call with this id has recorded the refund since.
      if (books.refunds.some((refund) => refund.id === id)) continue;
      const plan = split(books, given);
      if (!plan.isPossible) throw refundNotPossible(plan.amountCents, plan.leftCents, plan);
      if (await begin(books, { id, rule, lines, ...plan.written })) return resultOf(orderId, id);
    }
  }

  async function refundOf(orderId: string, id: string): Promise<Refund | undefined> {
    return (await purchases.refunds(orderId)).find((refund) => refund.id === id);
  }

  async function resultOf(orderId: string, id: string): Promise<RefundedPayment> {
    const { purchase, refunds, charges } = await booksOf(orderId);
    const refund = refunds.find((each) => each.id === id);
    if (!refund) throw new Error("A refund vanished after it was recorded.");
    const chosen = charges.filter(({ reference }) => refund.references.includes(reference));
    const isDone = refund.doneAt !== null && chosen.every(({ state }) => state === "reversed");
    return { ...toOrderPayment(purchase, charges), refund: { id, ...sharesOf(refund, charges), isDone } };
  }

  /** Refunds the cards of a paid order, or a single charge. Charges of other refunds stay with those. */
  async function refundCards(orderId: string, reference?: string): Promise<Charge[]> {
    const isWanted = (charge: Charge) => reference === undefined || charge.reference === reference;
    for (;;) {
      const books = await booksOf(orderId);
      const charges = books.charges.filter(isWanted);
      if (reference !== undefined && charges.length === 0) throw new CheckoutError("applied_card_not_found");
      const open = openCharges(books).filter(isWanted);
      const amountCents = amountOf(open);
      const references = open.map((charge) => charge.reference);
      const wanted = { lines: null, amountCents, remainderCents: 0, references };
      const id = `cards_${randomUUID()}`;
      if (open.length === 0) await continuePending(orderId);
      else if (!(await begin(books, { id, rule: "cards-first", ...wanted }))) continue;
      return (await steps.chargesOf(books.purchase)).filter(isWanted);
    }
  }

  async function paidBy(orderId: string): Promise<PaidBy> {
    const { purchase, refunds, charges } = await booksOf(orderId);
    const { totalCents, state, remainderCents } = purchase;
    const isCanceled = state === "canceling" || state === "canceled";
    const zero = cents(0);
    if (!isCanceled && !wasPaid(purchase)) {
      const remainder = { amountCents: zero, refundedCents: zero, owedCents: zero };
      return { orderId, totalCents, cards: [], remainder };
    }
    const taken = new Set(refunds.flatMap(({ references }) => references));
    const isRefunded = ({ state, reference }: Charge) =>
      state !== "taken" && (isCanceled || !chargedStates.includes(state) || taken.has(reference));
    const isBack = ({ state }: Charge) => state === "reversed";
    const cards = groupByPayment(charges).map((card) => {
      const refunded = card.charges.filter(isRefunded);
      return {
        lastFour: card.lastFour,
        amountCents: card.amountCents,
        refundedCents: amountOf(refunded.filter(isBack)),
        owedCents: amountOf(refunded.filter((charge) => !isBack(charge))),
      };
    });
    const doneCents = refundedRemainderCents(refunds.filter(({ doneAt }) => doneAt !== null));
    const refundedCents = state === "canceled" ? remainderCents : cents(doneCents);
    const allCents = isCanceled ? remainderCents : refundedRemainderCents(refunds);
    const remainder = { amountCents: remainderCents, refundedCents, owedCents: cents(allCents - refundedCents) };
    return { orderId, totalCents, cards, remainder };
  }

  return { refundPlan, refund, paidBy, ...createCancel({ ...context, refundCards }) };
}
