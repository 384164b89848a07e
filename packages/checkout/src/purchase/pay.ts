import { randomUUID } from "node:crypto";
import type { Cents } from "@giftcard-pay/client";
import { layCharges } from "../engine/charge-layout.js";
import type { PaymentPlan } from "../engine/engine.js";
import { CheckoutError, noSuchOrder } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { paidStates, undecidedStates } from "../store/purchase-states.js";
import type { Purchase } from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import { checkCart, checkId, checkLines, type Order } from "./order.js";
import type { RemainderData } from "./remainder.js";
import type { PurchaseSteps } from "./steps.js";

/** The fields of every result of an order's payment. Amounts in cents. */
interface PayAmounts {
  /** Empty if the payment is declined. */
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: Cents }[];
  readonly remainderCents: Cents;
}

/** The result of an order's payment. */
export type PayResult =
  /** `paid`: cards and remainder are paid. `declined`: nothing was taken, or recovery returns it. */
  | (PayAmounts & { readonly status: "paid" | "declined" })
  /** The cards are charged, and the remainder is not paid yet; see `confirm`. `data` is what the method stored. */
  | (PayAmounts & { readonly status: "pending"; readonly data: RemainderData | null });

interface FlowOptions extends PurchaseContext {
  readonly steps: PurchaseSteps;
  readonly pendingRemainderMs: number;
  /** How a card's part is charged: as one charge, or by line. Default: by line if the order has lines. */
  readonly charges: "whole" | "by-line" | undefined;
  readonly maxChargesPerCard: number;
}

/** Pays orders, at once or when the shopper returns. */
export function createPurchaseFlow(options: FlowOptions) {
  const { steps, engine, journal, purchases, remainder, leaseMs, pendingRemainderMs, announce, report } = options;

  async function toResult(purchase: Purchase, status: PayResult["status"]): Promise<PayResult> {
    const { remainderCents, remainderData } = purchase;
    const charges = status === "declined" ? [] : (await steps.chargesOf(purchase)).reverse();
    const cards = groupByPayment(charges).map(({ lastFour, amountCents }) => ({ lastFour, amountCents }));
    if (status !== "pending") return { status, cards, remainderCents };
    return { status, cards, remainderCents, data: remainderData === null ? null : JSON.parse(remainderData) };
  }

  /** Returns the result of a purchase in its current state. */
  function resultOf(purchase: Purchase): Promise<PayResult> {
    const { state } = purchase;
    if (paidStates.includes(state)) return toResult(purchase, "paid");
    if (state === "pending") return toResult(purchase, state);
    if (state === "voiding" || state === "failed") return toResult(purchase, "declined");
    throw new CheckoutError(state === "charging" ? "payment_in_progress" : "cart_completed");
  }

  /** Whether a purchase has this order's cart, total and remainder. */
  const isOf = ({ cart, expectedRemainderCents }: Order, purchase: Purchase): boolean =>
    purchase.cartId === cart.id &&
    purchase.totalCents === cart.totalCents &&
    purchase.currency === cart.currency.toUpperCase() &&
    purchase.remainderCents === (expectedRemainderCents ?? purchase.remainderCents);

  /** Returns the result of a repeated payment. Refuses another cart, total or remainder. */
  function repeatedResult(order: Order, purchase: Purchase): Promise<PayResult> {
    if (!isOf(order, purchase)) throw new CheckoutError("amount_changed");
    if (purchase.state === "voiding") throw new CheckoutError("payment_in_progress");
    return resultOf(purchase);
  }

  /**
   * Gives up the pending payment of the cart's other order: the shopper has left the bank's page, and orders anew.
   *
   * @throws {CheckoutError} as `refuseOther`
   */
  async function giveUpOther({ id, cart }: Order): Promise<void> {
    const { orderId = id } = (await purchases.ofCart(cart.id)) ?? {};
    if (orderId === id) return;
    const other = await readSettled(orderId);
    if (other) refuseOther(other.state === "pending" ? await decidePending(other, true) : other);
  }

  /** Refuses the cart if this purchase of its other order is paid or can be paid still. */
  function refuseOther({ state }: Purchase): void {
    if (paidStates.includes(state)) throw new CheckoutError("cart_completed");
    if (undecidedStates.includes(state)) throw new CheckoutError("payment_in_progress");
  }

  /** Plans the payment. Refuses if it differs from what the shopper has seen, or can't be done. */
  async function planOf(order: Order): Promise<PaymentPlan> {
    await giveUpOther(order);
    await engine.recoverCart(order.cart.id, { orderOf: steps.orderOf });
    const plan = await engine.plan(order.cart);
    // If a card has expired or is being settled, the shopper may not have seen this remainder.
    const isUnseen = plan.hasSettling || plan.hasExpired;
    const { expectedRemainderCents = isUnseen ? Number.NaN : plan.remainderCents } = order;
    engine.checkCovers(plan, expectedRemainderCents);
    if (plan.remainderCents > 0 && !remainder.isConfigured)
      throw new TypeError("The cards don't cover the order: createCheckout needs remainder.");
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

  /**
   * Renews the lease before a slow step, and stores the method's data if given. If this process stalled and recovery took the
   * purchase over, it stops here.
   */
  async function renewLease({ orderId, attemptId }: Purchase, remainderData?: string): Promise<void> {
    const lease = { owner: attemptId, forMs: leaseMs };
    const own = { from: ["charging"], to: "charging", attemptId, owner: attemptId, lease } as const;
    const wanted = { ...own, ...(remainderData !== undefined && { remainderData }) };
    if (!(await purchases.change(orderId, wanted))) throw new CheckoutError("payment_in_progress");
  }

  async function waitForRemainder(purchase: Purchase, remainderData: string | undefined): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const wait = { from: ["charging"], to: "pending", attemptId, lease: null, retryInMs: pendingRemainderMs } as const;
    const pending = await steps.change(orderId, { ...wait, ...(remainderData !== undefined && { remainderData }) });
    if (!pending) throw new CheckoutError("payment_in_progress");
    // Until then, recovery can skip these charges; it would leave them to the purchase anyway.
    await journal.renew(attemptId, pendingRemainderMs).catch(report);
    return pending;
  }

  /** Reads the purchase of an order. Settles it first if the process of an earlier attempt has died. */
  async function readSettled(orderId: string): Promise<Purchase | null> {
    const earlier = await purchases.read(orderId);
    if (earlier?.state !== "charging" && earlier?.state !== "voiding") return earlier;
    const held = await steps.claim(orderId);
    return held ? steps.decide(held.purchase, held.owner) : earlier;
  }

  async function pay(order: Order, { input }: { input?: unknown } = {}): Promise<PayResult> {
    checkId("order.id", order.id);
    const cart = checkCart(order.cart);
    const lines = checkLines(order.lines, cart.totalCents) ?? null;
    if (options.charges === "by-line" && !lines) throw new TypeError('order.lines are needed if charges is "by-line".');
    let earlier = await readSettled(order.id);
    // The shopper has left the bank's page, and changed the cart.
    if (earlier?.state === "pending" && !isOf(order, earlier)) earlier = await decidePending(earlier, true);
    if (earlier && earlier.state !== "failed") return repeatedResult(order, earlier);
    const plan = await planOf(order);
    const attemptId = randomUUID();
    const ids = { orderId: order.id, cartId: cart.id, attemptId };
    const currency = order.cart.currency.toUpperCase();
    const wanted = { ...ids, totalCents: cart.totalCents, currency, remainderCents: plan.remainderCents, lines };
    const purchase = await purchases.begin(wanted, { owner: attemptId, forMs: leaseMs });
    if (purchase.attemptId === attemptId) {
      announce(purchase);
      return attempt(order, purchase, plan, input);
    }
    if (purchase.orderId !== order.id) refuseOther(purchase);
    return repeatedResult(order, purchase);
  }

  /** Makes the attempt that this call has begun. */
  async function attempt(order: Order, begun: Purchase, plan: PaymentPlan, input: unknown): Promise<PayResult> {
    const { attemptId } = begun;
    let purchase = begun;
    let isRemainderSent = false;
    try {
      await charge(order, purchase, plan);
      if (purchase.remainderCents > 0) {
        isRemainderSent = true;
        const keep = async (data: string) => {
          purchase = { ...purchase, remainderData: data };
          await renewLease(purchase, data);
        };
        const { status, data } = await remainder.authorize(purchase, input, keep);
        if (data !== undefined) purchase = { ...purchase, remainderData: data };
        if (status === "declined") {
          const now = await steps.voidPurchase(purchase, "remainder_declined");
          // This process may have stalled until the order was voided and paid in another attempt, perhaps with another cart.
          return await (now.attemptId === attemptId ? resultOf(now) : repeatedResult(order, now));
        }
        if (status === "pending") return await resultOf(await waitForRemainder(purchase, data));
        if (data !== undefined) await renewLease(purchase, data);
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

  /**
   * Asks the method for a remainder, and completes or voids its purchase.
   *
   * @param isGivenUp whether the shopper no longer pays it: then a pending one is voided too
   * @returns the current purchase
   */
  async function decidePending(waiting: Purchase, isGivenUp: boolean): Promise<Purchase> {
    const { status, purchase } = await steps.askRemainder(waiting);
    if (status === "pending" && !isGivenUp) return purchase;
    if (status !== "authorized") return steps.voidPurchase(purchase, "remainder_declined");
    let now: Purchase;
    try {
      now = await steps.complete(purchase);
    } catch (error) {
      // If the store fails, nothing is decided: the shop or recovery tries again.
      if (error instanceof CheckoutError) await steps.voidPurchase(purchase, "completion_failed").catch(report);
      throw error;
    }
    // The remainder was paid after the purchase had failed: cancel it.
    if (now.attemptId !== purchase.attemptId || !paidStates.includes(now.state))
      now = await steps.voidPurchase(purchase, "remainder_lapsed", { isLate: true });
    // A new attempt has replaced this one, so no other process will cancel this remainder.
    if (now.attemptId !== purchase.attemptId) await remainder.cancel(purchase);
    return now;
  }

  const readKnown = async (orderId: string): Promise<Purchase> => {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    return purchase;
  };

  async function confirmRead(purchase: Purchase): Promise<PayResult> {
    const hasFailed = purchase.state === "failed" && purchase.remainderCents > 0;
    const isOpen = purchase.state === "pending" || hasFailed;
    return resultOf(isOpen ? await decidePending(purchase, false) : purchase);
  }

  const confirm = async (orderId: string): Promise<PayResult> => confirmRead(await readKnown(orderId));

  async function abandon(orderId: string): Promise<PayResult> {
    const purchase = await readKnown(orderId);
    return resultOf(purchase.state === "pending" ? await decidePending(purchase, true) : purchase);
  }

  /** Handles a notification of the method. @returns the order that it concerns, or null */
  async function notice(request: Request): Promise<PayResult | null> {
    const noticed = await remainder.webhook(request);
    if (!noticed) return null;
    const { orderId, attemptId, data } = noticed;
    const purchase = await purchases.read(orderId);
    // Don't read it again: if the order has a new attempt by then, the remainder of this one would stay paid.
    if (purchase?.attemptId === attemptId) return confirmRead(purchase);
    // Shops that share an account at the provider may have orders with the same id. Leave their payments alone.
    if (!purchase?.earlierAttemptIds.includes(attemptId)) return null;
    await remainder.cancel({ ...purchase, attemptId, remainderData: JSON.stringify(data) });
    return null;
  }

  async function assertPaid(orderId: string, totalCents: Cents): Promise<Purchase> {
    const purchase = await purchases.read(orderId);
    const { state } = purchase ?? {};
    if (purchase && purchase.totalCents === totalCents) {
      if (undecidedStates.includes(purchase.state)) throw new CheckoutError("payment_in_progress");
      // A single charge may have been reversed since: the purchase is still paid, but not for the total.
      if (state === "paid" && (await steps.heldCents(purchase)) === totalCents) return purchase;
    }
    throw new CheckoutError("amount_changed");
  }

  return { pay, confirm, abandon, notice, assertPaid };
}
