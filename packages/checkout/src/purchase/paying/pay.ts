import { randomUUID } from "node:crypto";
import { layCharges } from "../../engine/charge-layout.js";
import type { PaymentPlan } from "../../engine/engine.js";
import { CheckoutError } from "../../engine/errors.js";
import { paidStates, undecidedStates } from "../../store/purchase-states.js";
import type { Purchase } from "../../store/purchase-store.js";
import type { OrderPayment } from "../order-payment.js";
import type { StepsContext } from "../steps.js";
import { checkCart, checkId, checkLines, type Order } from "./order.js";
import { createPending } from "./pending.js";

export { checkCart, type Order } from "./order.js";

interface FlowOptions extends StepsContext {
  readonly pendingRemainderMs: number;
  /** How a card's part is charged: as one charge, or by line. Default: by line if the order has lines. */
  readonly charges: "whole" | "by-line" | undefined;
  readonly maxChargesPerCard: number;
}

/** Pays orders, at once or when the shopper returns. */
export function createPurchaseFlow(options: FlowOptions) {
  const { steps, engine, journal, purchases, remainder, leaseMs, pendingRemainderMs, announce, report } = options;
  const { resultOf, decidePending, ...later } = createPending(options);

  /** Whether a purchase has this order's cart, total and plan. */
  const isOf = ({ cart, plan }: Order, purchase: Purchase): boolean =>
    purchase.cartId === cart.id &&
    purchase.totalCents === cart.totalCents &&
    purchase.currency === cart.currency.toUpperCase() &&
    (plan || purchase.plan) === purchase.plan;

  /** Plans the payment as the cart is now. @throws {CheckoutError} if the page has shown another plan */
  async function planShown(order: Order): Promise<PaymentPlan> {
    const plan = await engine.plan(order.cart);
    const hasCards = plan.parts.length > 0 || plan.hasSettling || plan.hasExpired;
    engine.checkShown(plan, order.plan || (hasCards ? null : plan.shown));
    return plan;
  }

  /** Gives up a pending payment. A page that is out of date can't end what another page has begun. */
  async function giveUpPending(order: Order, pending: Purchase): Promise<Purchase> {
    if (order.plan !== pending.plan) await planShown(order);
    return decidePending(pending, true);
  }

  /** Returns the result of a repeated payment. Refuses another cart, total or plan. */
  function repeatedResult(order: Order, purchase: Purchase): Promise<OrderPayment> {
    if (!isOf(order, purchase)) throw new CheckoutError("amount_changed");
    if (purchase.state === "voiding") throw new CheckoutError("payment_in_progress");
    return resultOf(purchase);
  }

  /**
   * Gives up the pending payment of the cart's other order: the shopper has left the bank's page, and orders anew.
   *
   * @throws {CheckoutError} as `refuseOther`
   */
  async function giveUpOther(order: Order): Promise<void> {
    const { id, cart } = order;
    const { orderId = id } = (await purchases.ofCart(cart.id)) ?? {};
    if (orderId === id) return;
    const other = await readSettled(orderId);
    if (other) refuseOther(other.state === "pending" ? await giveUpPending(order, other) : other);
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
    const plan = await planShown(order);
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

  /** Renews the lease before a slow step, and stores the method's data if given. If recovery took the purchase over, it stops here. */
  async function goOn(purchase: Purchase, remainderData?: string): Promise<void> {
    const more = remainderData === undefined ? {} : { remainderData };
    if (!(await steps.renewLease(purchase, purchase.attemptId, more))) throw new CheckoutError("payment_in_progress");
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

  async function pay(order: Order, { input }: { input?: unknown } = {}): Promise<OrderPayment> {
    checkId("order.id", order.id);
    const cart = checkCart(order.cart);
    const lines = checkLines(order.lines, cart.totalCents) ?? null;
    if (options.charges === "by-line" && !lines) throw new TypeError('order.lines are needed if charges is "by-line".');
    let earlier = await readSettled(order.id);
    // The shopper has left the bank's page, and changed the cart.
    if (earlier?.state === "pending" && !isOf(order, earlier)) earlier = await giveUpPending(order, earlier);
    if (earlier && earlier.state !== "failed") return repeatedResult(order, earlier);
    let plan: PaymentPlan;
    try {
      plan = await planOf(order);
    } catch (error) {
      // A concurrent call may have spent the cards since it was shown.
      const now = await purchases.ofCart(cart.id);
      if (now?.orderId === order.id) return repeatedResult(order, now);
      if (now) refuseOther(now);
      throw error;
    }
    const attemptId = randomUUID();
    const ids = { orderId: order.id, cartId: cart.id, attemptId };
    const currency = order.cart.currency.toUpperCase();
    const amounts = { totalCents: cart.totalCents, currency, remainderCents: plan.remainderCents, plan: plan.shown };
    const wanted = { ...ids, ...amounts, lines };
    const purchase = await purchases.begin(wanted, { owner: attemptId, forMs: leaseMs });
    if (purchase.attemptId === attemptId) {
      announce(purchase);
      return attempt(order, purchase, plan, input);
    }
    if (purchase.orderId !== order.id) refuseOther(purchase);
    return repeatedResult(order, purchase);
  }

  /** Makes the attempt that this call has begun. */
  async function attempt(order: Order, begun: Purchase, plan: PaymentPlan, input: unknown): Promise<OrderPayment> {
    const { attemptId } = begun;
    let purchase = begun;
    let isRemainderSent = false;
    try {
      await engine.chargeAll(order.cart, partsOf(plan, purchase), {
        ...{ owner: attemptId, attemptId, orderId: order.id },
        paymentOf: (index) => `${attemptId}:${index}`,
        onStep: () => goOn(begun),
      });
      if (purchase.remainderCents > 0) {
        isRemainderSent = true;
        const keep = async (data: string) => {
          purchase = { ...purchase, remainderData: data };
          await goOn(purchase, data);
        };
        const { status, data } = await remainder.authorize(purchase, input, keep);
        if (data !== undefined) purchase = { ...purchase, remainderData: data };
        if (status === "declined") {
          const now = await steps.voidPurchase(purchase, "remainder_declined");
          // This process may have stalled until the order was voided and paid in another attempt, perhaps with another cart.
          return await (now.attemptId === attemptId ? resultOf(now) : repeatedResult(order, now));
        }
        if (status === "pending") return await resultOf(await waitForRemainder(purchase, data));
        if (data !== undefined) await goOn(purchase, data);
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
      if (isRemainderSent) await steps.cancelReplaced(purchase, now);
      return now;
    } catch (error) {
      report(error);
      return null;
    }
  }

  return { pay, ...later };
}
