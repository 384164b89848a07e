import { randomUUID } from "node:crypto";
import { layCharges } from "../engine/charge-layout.js";
import type { PaymentPlan } from "../engine/engine.js";
import { CheckoutError, noSuchOrder } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { type Purchase, paidStates, undecidedStates } from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import { checkCart, checkLines, type Order } from "./order.js";
import type { AuthorizeRemainder } from "./remainder.js";
import type { PurchaseSteps } from "./steps.js";

/** The result of an order's payment. Amounts in cents. */
export interface PayResult {
  /**
   * `paid`: cards and remainder are paid. `pending`: the cards are charged, and the remainder is not paid yet; see
   * `confirm`. `declined`: nothing was taken, or recovery returns it.
   */
  readonly status: "paid" | "pending" | "declined";
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: number }[];
  readonly remainderCents: number;
  /** The data that the remainder method returned with `pending`. */
  readonly remainderData?: unknown;
}

interface FlowOptions extends PurchaseContext {
  readonly steps: PurchaseSteps;
  readonly pendingLifeMs: number;
  /** How a card's part is charged: as one charge, or by line. Default: by line if the order has lines. */
  readonly charges: "whole" | "by-line" | undefined;
  readonly maxChargesPerCard: number;
}

/** Pays orders, at once or when the shopper returns. */
export function createPurchaseFlow(options: FlowOptions) {
  const { steps, engine, journal, purchases, remainder, leaseMs, pendingLifeMs, report } = options;

  async function toResult(purchase: Purchase, status: PayResult["status"]): Promise<PayResult> {
    const { remainderCents, remainderData } = purchase;
    const charges = status === "declined" ? [] : (await steps.chargesOf(purchase)).reverse();
    const cards = groupByPayment(charges).map(({ lastFour, amountCents }) => ({ lastFour, amountCents }));
    const result = { status, cards, remainderCents };
    return remainderData === null ? result : { ...result, remainderData: JSON.parse(remainderData) };
  }

  /** Returns the result of a purchase in its current state. */
  function resultOf(purchase: Purchase): Promise<PayResult> {
    const { state } = purchase;
    if (paidStates.includes(state)) return toResult(purchase, "paid");
    if (state === "pending") return toResult(purchase, state);
    if (state === "voiding" || state === "failed") return toResult(purchase, "declined");
    throw new CheckoutError(state === "charging" ? "payment_in_progress" : "cart_completed");
  }

  /** Returns the result of a repeated payment. Refuses another cart, total or remainder. */
  function repeatedResult(order: Order, purchase: Purchase): Promise<PayResult> {
    const { cart, expectedRemainderCents = purchase.remainderCents } = order;
    const isSame =
      purchase.cartId === cart.id &&
      purchase.totalCents === cart.totalCents &&
      purchase.remainderCents === expectedRemainderCents;
    if (!isSame) throw new CheckoutError("amount_changed");
    if (purchase.state === "voiding") throw new CheckoutError("payment_in_progress");
    return resultOf(purchase);
  }

  /** Plans the payment. Refuses if it differs from what the shopper has seen, or can't be done. */
  async function planOf(order: Order, authorize: AuthorizeRemainder | undefined): Promise<PaymentPlan> {
    await engine.settle(order.cart.id, { orderOf: steps.orderOf });
    const plan = await engine.plan(order.cart);
    // If a card has expired or is being settled, the shopper may not have seen this remainder.
    const isUnseen = plan.hasSettling || plan.hasExpired;
    const { expectedRemainderCents = isUnseen ? Number.NaN : plan.remainderCents } = order;
    engine.checkCovers(plan, expectedRemainderCents);
    // Without TypeScript it may be any value, such as `false`.
    if (plan.remainderCents > 0 && !(typeof authorize === "function" && remainder.isConfigured)) {
      throw new TypeError(
        "The cards don't cover the order: pay needs authorizeRemainder, and createCheckout needs remainder.",
      );
    }
    return plan;
  }

  /** Returns each card's part, split over the stored lines if cards are charged by line. */
  function partsOf({ parts }: PaymentPlan, { lines }: Purchase): PaymentPlan["parts"] {
    if (options.charges === "whole" || !lines) return parts;
    const partsCents = parts.map(({ amountCents }) => amountCents);
    const laid = layCharges(partsCents, lines, options.maxChargesPerCard);
    return parts.map((part, index) => ({ ...part, charges: laid[index] ?? [] }));
  }

  async function charge(order: Order, purchase: Purchase, plan: PaymentPlan): Promise<void> {
    const { attemptId } = purchase;
    const begun: Charge[] = [];
    for (const [index, part] of partsOf(plan, purchase).entries()) {
      begun.push(...(await engine.begin(order.cart, part, `${attemptId}:${index}`, attemptId, { orderId: order.id })));
    }
    for (const [index, { reference }] of begun.entries()) {
      if (index > 0) await renewLease(purchase);
      await engine.renew(attemptId);
      await engine.devalue(reference);
    }
    await renewLease(purchase);
  }

  /** Renews the lease before a slow step. If this process stalled and recovery took the purchase over, it stops here. */
  async function renewLease({ orderId, attemptId }: Purchase): Promise<void> {
    const lease = { owner: attemptId, forMs: leaseMs };
    const own = { from: ["charging"], to: "charging", attemptId, owner: attemptId, lease } as const;
    if (!(await purchases.change(orderId, own))) throw new CheckoutError("payment_in_progress");
  }

  async function waitForRemainder(purchase: Purchase, data: unknown): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    // Undefined for undefined data, unlike its type.
    const remainderData: string | undefined = JSON.stringify(data);
    const wait = {
      from: ["charging"],
      to: "pending",
      attemptId,
      lease: null,
      retryInMs: pendingLifeMs,
    } as const;
    const pending = await steps.change(orderId, { ...wait, ...(remainderData && { remainderData }) });
    if (!pending) throw new CheckoutError("payment_in_progress");
    // Until then, recovery can skip these charges; it would leave them to the purchase anyway.
    await journal.renew(attemptId, pendingLifeMs).catch(report);
    return pending;
  }

  /** Reads the purchase of an order. Settles it first if the process of an earlier attempt has died. */
  async function readSettled(orderId: string): Promise<Purchase | null> {
    const earlier = await purchases.read(orderId);
    if (earlier?.state !== "charging" && earlier?.state !== "voiding") return earlier;
    const held = await steps.claim(orderId);
    return held ? steps.decide(held.purchase, held.owner) : earlier;
  }

  async function pay(
    order: Order,
    { authorizeRemainder }: { authorizeRemainder?: AuthorizeRemainder } = {},
  ): Promise<PayResult> {
    if (typeof order.id !== "string" || order.id === "") throw new TypeError("order.id has to be a non-empty string.");
    const cart = checkCart(order.cart);
    const lines = checkLines(order.lines, cart.totalCents) ?? null;
    if (options.charges === "by-line" && !lines) throw new TypeError('order.lines are needed if charges is "by-line".');
    const earlier = await readSettled(order.id);
    if (earlier && earlier.state !== "failed") return repeatedResult(order, earlier);
    const plan = await planOf(order, authorizeRemainder);
    const attemptId = randomUUID();
    const ids = { orderId: order.id, cartId: cart.id, attemptId };
    const wanted = { ...ids, totalCents: cart.totalCents, remainderCents: plan.remainderCents, lines };
    const purchase = await steps.begin(wanted, { owner: attemptId, forMs: leaseMs });
    if (purchase.attemptId !== attemptId) return repeatedResult(order, purchase);
    let isRemainderSent = false;
    try {
      await charge(order, purchase, plan);
      if (purchase.remainderCents > 0) {
        isRemainderSent = true;
        const answer = await remainder.authorize(authorizeRemainder, purchase);
        if (answer.status === "declined") {
          const now = await steps.voidPurchase(purchase, "remainder_declined");
          // This process may have stalled until the order was voided and paid in another attempt, perhaps with another cart.
          return await (now.attemptId === attemptId ? resultOf(now) : repeatedResult(order, now));
        }
        if (answer.status === "pending") return await resultOf(await waitForRemainder(purchase, answer.data));
      }
      const paid = await steps.complete(purchase);
      if (!paidStates.includes(paid.state) || paid.attemptId !== attemptId)
        throw new CheckoutError("payment_in_progress");
      return await resultOf(paid);
    } catch (error) {
      const now = await giveUp(purchase, isRemainderSent);
      if (now && paidStates.includes(now.state) && now.attemptId === attemptId) return resultOf(now);
      throw error;
    }
  }

  /** Voids a failed attempt as far as possible now. Recovery continues it. */
  async function giveUp(purchase: Purchase, isRemainderSent: boolean): Promise<Purchase | null> {
    try {
      const now = await steps.voidPurchase(purchase, "completion_failed", { isLate: isRemainderSent });
      if (now.attemptId === purchase.attemptId && paidStates.includes(now.state)) return now;
      // Another process voided it, perhaps before the last card was charged here.
      const isHeld = (await steps.chargesOf(purchase)).some((charge) => charge.state === "devalued");
      if (isHeld) await steps.reverseCards(purchase, "completion_failed");
      // A new attempt has replaced this one, so no other process will cancel this remainder.
      if (isRemainderSent && now.attemptId !== purchase.attemptId) await remainder.cancel(purchase);
      return now;
    } catch (error) {
      report(error);
      return null;
    }
  }

  async function confirm(orderId: string): Promise<PayResult> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    const hasFailed = purchase.state === "failed" && purchase.remainderCents > 0;
    if (purchase.state !== "pending" && !hasFailed) return resultOf(purchase);
    const status = await remainder.status(purchase);
    if (status === "pending") return resultOf(purchase);
    if (status === "declined") return resultOf(await steps.voidPurchase(purchase, "remainder_declined"));
    let now: Purchase;
    try {
      now = await steps.complete(purchase);
    } catch (error) {
      // If the store fails, nothing is decided: the shop or recovery tries again.
      if (error instanceof CheckoutError) await steps.voidPurchase(purchase, "completion_failed").catch(report);
      throw error;
    }
    // The remainder was paid after the purchase had failed: cancel it.
    const isPaid = paidStates.includes(now.state);
    return resultOf(isPaid ? now : await steps.voidPurchase(purchase, "remainder_lapsed", { isLate: true }));
  }

  async function assertPaid(orderId: string, totalCents: number): Promise<Purchase> {
    const purchase = await purchases.read(orderId);
    const { state } = purchase ?? {};
    if (purchase && purchase.totalCents === totalCents) {
      if (undecidedStates.includes(purchase.state)) throw new CheckoutError("payment_in_progress");
      // A single charge may have been reversed since: the purchase is still paid, but not for the total.
      if (state === "paid" && (await steps.heldCents(purchase)) === totalCents) return purchase;
    }
    throw new CheckoutError("amount_changed");
  }

  return { pay, confirm, assertPaid };
}
