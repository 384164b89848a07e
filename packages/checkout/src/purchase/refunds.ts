import { randomUUID } from "node:crypto";
import {
  CheckoutError,
  invalidRefund,
  noSuchOrder,
  RefundError,
  refundNotPossible,
} from "../engine/errors.js";
import type { RefundShares, RefundSplit } from "../engine/refund-plan.js";
import type { Charge } from "../store/charge.js";
import { chargedStates } from "../store/charge-states.js";
import {
  type NewRefund,
  type Purchase,
  type Refund,
  refundRules,
  undecidedStates,
} from "../store/purchase-store.js";
import { amountOf, groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import {
  checkRefundRequest,
  isPaidStill,
  isSameWish,
  type OrderRefundPlan,
  openCharges,
  type PaidBooks,
  type RefundRequest,
  remainderBackCents,
  sharesOf,
  splitRefund,
  writtenOf,
} from "./refund-request.js";
import { newOwner, type PurchaseSteps } from "./steps.js";

const UNDECIDED = "It isn't decided yet whether the order is paid: ask again in a moment.";

/** A refund as it stands. */
export interface OrderRefund extends RefundShares {
  readonly id: string;
  /** False while a part of it is owed: it is written down, and `recover` goes on with it. */
  readonly isDone: boolean;
}

/** How an order was paid, and what of it went back or is written down to go back. Amounts in cents. */
export interface PaidBy {
  readonly orderId: string;
  readonly totalCents: number;
  /** In the order in which they were charged. */
  readonly cards: readonly {
    readonly lastFour: string;
    readonly amountCents: number;
    readonly refundedCents: number;
  }[];
  /** What the remainder's method has. */
  readonly remainder: { readonly amountCents: number; readonly refundedCents: number };
}

interface RefundsContext extends PurchaseContext {
  readonly steps: PurchaseSteps;
}

/** Giving parts of a paid order back: one refund at a time, decided by one compare-and-set of the purchase. */
export function createPurchaseRefunds({ steps, purchases, remainder, leaseMs }: RefundsContext) {
  /** The refunds are read before the charges: a charge that none of them has taken stays open until the next one begins. */
  async function booksOf(orderId: string): Promise<PaidBooks> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    const refunds = await purchases.refunds(orderId);
    return { purchase, refunds, charges: (await steps.chargesOf(purchase)).reverse() };
  }

  /** @throws {RefundError} order_not_paid */
  async function knownBooks(orderId: string): Promise<PaidBooks> {
    if (await purchases.read(orderId)) return booksOf(orderId);
    throw new RefundError(
      "order_not_paid",
      `No payment of the order "${orderId}" is known: commit it first.`,
    );
  }

  /**
   * @throws {RefundError} where no amount could go back, or the request makes no sense
   * @throws {TypeError} where the remainder's method has no `refund`, and is needed
   */
  function split(books: PaidBooks, request: RefundRequest) {
    if (undecidedStates.includes(books.purchase.state))
      throw new RefundError("payment_in_progress", UNDECIDED);
    const { amountCents, leftCents, ...plan } = splitRefund(books, request);
    const isMakeable = ({ otherCents }: RefundSplit) => otherCents === 0 || remainder.canRefund;
    if (plan.isPossible && !isMakeable(plan.split))
      throw new TypeError("A part of the remainder would go back: createCheckout needs remainder.refund.");
    if (plan.isPossible) return { isPossible: true, written: writtenOf(plan.split) } as const;
    const nearest = plan.nearest.filter(isMakeable).map((one) => sharesOf(writtenOf(one), books.charges));
    return { isPossible: false, amountCents, leftCents, nearest } as const;
  }

  async function refundPlan(orderId: string, given: RefundRequest): Promise<OrderRefundPlan> {
    const request = checkRefundRequest(given);
    const books = await knownBooks(orderId);
    const { leftCents: _, ...plan } = { leftCents: 0, ...split(books, request) };
    return plan.isPossible ? { isPossible: true, ...sharesOf(plan.written, books.charges) } : plan;
  }

  /** Goes on with what is in work of an order, where nobody is at it. @returns the purchase as it stands */
  async function goOn(orderId: string): Promise<Purchase | null> {
    const held = await steps.claim(orderId);
    return held ? steps.decide(held.purchase, held.owner) : purchases.read(orderId);
  }

  /**
   * Decides on a refund that was planned by these books, and does it.
   *
   * @returns whether it was decided: not where anything has changed since the books were read
   * @throws {RefundError} refund_in_progress while another refund is in work
   */
  async function begin(books: PaidBooks, wanted: Omit<NewRefund, "number">): Promise<boolean> {
    const { orderId, attemptId, state } = books.purchase;
    if (state === "refunding") {
      if ((await goOn(orderId))?.state === "refunding")
        throw new RefundError(
          "refund_in_progress",
          "Another refund of the order is in work: ask again later.",
        );
      return false;
    }
    const lease = { owner: newOwner(), forMs: leaseMs };
    const refund = { ...wanted, number: books.refunds.length + 1 };
    const begun = await steps.change(orderId, { from: ["paid"], to: "refunding", attemptId, lease, refund });
    if (begun) await steps.finishRefund(begun, lease.owner);
    return begun !== null;
  }

  async function refund(
    orderId: string,
    given: RefundRequest & { readonly id: string },
  ): Promise<OrderRefund> {
    const { id, lines = null, rule = refundRules[0] } = checkRefundRequest(given);
    if (typeof id !== "string" || id === "")
      throw invalidRefund("A refund's id has to be a text that isn't empty.");
    for (;;) {
      const there = await refundOf(orderId, id);
      if (there && !isSameWish(there, given))
        throw invalidRefund(`The id "${id}" is that of another refund of the order.`);
      if (there?.doneAt === null) await goOn(orderId);
      if (there) return resultOf(orderId, id);
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
    const refund = refunds.find((one) => one.id === id);
    if (!refund) throw new Error("A refund vanished after it was written down.");
    const chosen = charges.filter(({ reference }) => refund.references.includes(reference));
    const isDone = refund.doneAt !== null && chosen.every(({ state }) => state === "reversed");
    return { id, ...sharesOf(refund, charges), isDone };
  }

  /** All cards' part of a paid order, or one charge of it. What another refund has taken already stays with that one. */
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
      if (open.length === 0) await goOn(orderId);
      else if (!(await begin(books, { id, rule: "cards-first", ...wanted }))) continue;
      return (await steps.chargesOf(books.purchase)).filter(isWanted);
    }
  }

  async function paidBy(orderId: string): Promise<PaidBy | null> {
    if (!(await purchases.read(orderId))) return null;
    const { purchase, refunds, charges } = await booksOf(orderId);
    const { totalCents, state } = purchase;
    const isWhole = state === "canceling" || state === "canceled";
    if (!isWhole && !isPaidStill(purchase))
      return { orderId, totalCents, cards: [], remainder: { amountCents: 0, refundedCents: 0 } };
    const taken = new Set(refunds.flatMap(({ references }) => references));
    const isBack = ({ state, reference }: Charge) =>
      state !== "taken" && (isWhole || !chargedStates.includes(state) || taken.has(reference));
    const cards = groupByPayment(charges).map((card) => ({
      lastFour: card.lastFour,
      amountCents: card.amountCents,
      refundedCents: amountOf(card.charges.filter(isBack)),
    }));
    const refundedCents = isWhole ? purchase.remainderCents : remainderBackCents(refunds);
    const rest = { amountCents: purchase.remainderCents, refundedCents };
    return { orderId, totalCents, cards, remainder: rest };
  }

  return { refundPlan, refund, refundCards, paidBy };
}
