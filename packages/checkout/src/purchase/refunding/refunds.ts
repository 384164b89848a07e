import { randomUUID } from "node:crypto";
import { type Cents, cents } from "@giftcard-pay/client";
import { CheckoutError, invalidRefund, noSuchOrder, RefundError, refundNotPossible } from "../../engine/errors.js";
import type { RefundShares, RefundSplit } from "../../engine/refund-plan.js";
import type { Charge } from "../../store/charge.js";
import { chargedStates } from "../../store/charge-states.js";
import { undecidedStates } from "../../store/purchase-states.js";
import { type NewRefund, type Purchase, type Refund, refundRules } from "../../store/purchase-store.js";
import { amountOf, groupByPayment } from "../card-payments.js";
import type { PurchaseContext } from "../context.js";
import { newOwner } from "../records.js";
import type { PurchaseSteps } from "../steps.js";
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

/** The current state of a refund. */
export type OrderRefund = RefundShares & {
  readonly id: string;
  /** False while a part is owed: it is recorded, and `recover` retries it. */
  readonly isDone: boolean;
};

/** The payment of an order, with the amounts that were or will be refunded. Amounts in cents. */
export interface PaidBy {
  readonly orderId: string;
  readonly totalCents: Cents;
  /** In the order in which they were charged. */
  readonly cards: readonly {
    readonly lastFour: string;
    readonly amountCents: Cents;
    readonly refundedCents: Cents;
  }[];
  /** The part that the remainder method collected. */
  readonly remainder: { readonly amountCents: Cents; readonly refundedCents: Cents };
}

interface RefundsContext extends PurchaseContext {
  readonly steps: PurchaseSteps;
}

/** Refunds parts of paid orders, and cancels whole orders. An order has one refund at a time, decided by a compare-and-set of its purchase. */
export function createPurchaseRefunds(context: RefundsContext) {
  const { steps, purchases, remainder, leaseMs } = context;
  /** Reads refunds before charges: a charge that none of these refunds has taken stays open until the next refund begins. */
  async function booksOf(orderId: string): Promise<PaidBooks> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    const refunds = await purchases.refunds(orderId);
    return { purchase, refunds, charges: (await steps.chargesOf(purchase)).reverse() };
  }

  /** @throws {RefundError} order_not_paid */
  async function knownBooks(orderId: string): Promise<PaidBooks> {
    if (await purchases.read(orderId)) return booksOf(orderId);
    throw new RefundError("order_not_paid", `No payment of the order "${orderId}" is known. Pay it first.`);
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
    const books = await knownBooks(orderId);
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

  async function refund(orderId: string, given: RefundRequest & { readonly id: string }): Promise<OrderRefund> {
    const { id, lines = null, rule = refundRules[0] } = checkRefundRequest(given);
    if (typeof id !== "string" || id === "") throw invalidRefund("A refund's id has to be a non-empty string.");
    for (;;) {
      const recorded = await refundOf(orderId, id);
      if (recorded && !isSameRequest(recorded, given))
        throw invalidRefund(`The id "${id}" belongs to another refund of the order.`);
      if (recorded?.doneAt === null) await continuePending(orderId);
      if (recorded) return resultOf(orderId, id);
      const books = await knownBooks(orderId);
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

  async function resultOf(orderId: string, id: string): Promise<OrderRefund> {
    const { refunds, charges } = await booksOf(orderId);
    const refund = refunds.find((each) => each.id === id);
    if (!refund) throw new Error("A refund vanished after it was recorded.");
    const chosen = charges.filter(({ reference }) => refund.references.includes(reference));
    const isDone = refund.doneAt !== null && chosen.every(({ state }) => state === "reversed");
    return { id, ...sharesOf(refund, charges), isDone };
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

  async function paidBy(orderId: string): Promise<PaidBy | null> {
    if (!(await purchases.read(orderId))) return null;
    const { purchase, refunds, charges } = await booksOf(orderId);
    const { totalCents, state } = purchase;
    const isCanceled = state === "canceling" || state === "canceled";
    if (!isCanceled && !wasPaid(purchase))
      return { orderId, totalCents, cards: [], remainder: { amountCents: cents(0), refundedCents: cents(0) } };
    const taken = new Set(refunds.flatMap(({ references }) => references));
    const isRefunded = ({ state, reference }: Charge) =>
      state !== "taken" && (isCanceled || !chargedStates.includes(state) || taken.has(reference));
    const cards = groupByPayment(charges).map((card) => ({
      lastFour: card.lastFour,
      amountCents: card.amountCents,
      refundedCents: amountOf(card.charges.filter(isRefunded)),
    }));
    const refundedCents = isCanceled ? purchase.remainderCents : cents(refundedRemainderCents(refunds));
    const remainderPart = { amountCents: purchase.remainderCents, refundedCents };
    return { orderId, totalCents, cards, remainder: remainderPart };
  }

  return { refundPlan, refund, paidBy, ...createCancel({ ...context, refundCards }) };
}
