import { CheckoutError } from "@giftcard-pay/checkout";
import { heldStates, type Purchase, reversedStates, reversingStates, soldStates } from "@giftcard-pay/checkout/store";
import { type Cents, formatCents } from "@giftcard-pay/client";
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from "@nestjs/common";
import {
  EventBus,
  HistoryService,
  Logger,
  type Order,
  type OrderHistoryEntryData,
  OrderStateTransitionEvent,
  type Payment,
  PaymentStateTransitionEvent,
  type RequestContext,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { LOGGER, logFailure, SETTINGS } from "./constants.js";
import type { Settings } from "./options.js";
import { heldCents, heldCentsOf, Orders } from "./orders.js";
import { Placement } from "./placement.js";

/** The type of a note in Vendure's history of an order. Vendure's enum for it is not exported. */
const ORDER_NOTE = "ORDER_NOTE" as keyof OrderHistoryEntryData;

/** The attempt of a payment that the order doesn't need. */
const NO_ATTEMPT = "none";

/** Whether an order still has the total and currency that its cards were charged for. */
const isFor = ({ totalCents, currency }: Purchase, { totalWithTax, currencyCode }: Order): boolean =>
  totalWithTax === totalCents && currencyCode === currency;

const isPlaced = ({ orderPlacedAt, state }: Order): boolean => orderPlacedAt != null && state !== "Cancelled";

/** Makes orders and their purchases agree, whatever either of them has missed. */
@Injectable()
export class Settlement implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #running = new Set<Promise<unknown>>();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(EventBus) private readonly events: EventBus,
    @Inject(HistoryService) private readonly history: HistoryService,
    @Inject(Placement) private readonly placement: Placement,
  ) {}

  onApplicationBootstrap(): void {
    this.checkout.onDecided = (code) => this.soon(code);
    // Vendure publishes these events after their transaction is committed.
    this.events.ofType(PaymentStateTransitionEvent).subscribe(({ order, ctx }) => this.soon(order.code, ctx));
    this.events.ofType(OrderStateTransitionEvent).subscribe(({ order, ctx }) => this.soon(order.code, ctx));
  }

  /** Waits for running work, so that the store isn't closed below it. */
  async onModuleDestroy(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Settles an order soon, outside of the current transaction. @param origin as for `settle` */
  soon(code: string, origin?: RequestContext): void {
    const work: Promise<unknown> = this.orders
      .outside(() => new Promise((resolve) => setImmediate(resolve)).then(() => this.settle(code, origin)))
      .catch(logFailure)
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /**
   * Makes an order and its purchase agree. It is idempotent, and locks the order.
   *
   * @param origin the context of the call that has led here, for the e-mails of an order that is placed now
   */
  async settle(code: string, origin?: RequestContext): Promise<void> {
    if (!(await this.checkout.calls.read(code))) return;
    await this.orders.alone(code, (ctx, order) => this.decide(ctx, order), origin);
    // Other providers refund outside of the transaction that has decided it, each in its own.
    const { attemptId, state } = await this.checkout.read(code);
    if (reversingStates.includes(state)) await this.checkout.calls.cancel(code, attemptId);
    // Read with the order's lock, because a new attempt may begin until then. During a reversal, `remainder.cancel` closes
    // what other methods hold, in one process at a time.
    await this.orders.closePayments(code, async () => {
      const now = await this.checkout.read(code);
      const isOver = (payment: Payment) =>
        reversedStates.includes(now.state) && (this.orders.isCard(payment) || !reversingStates.includes(now.state));
      return (other, payment) => other !== now.attemptId || isOver(payment);
    });
    await this.orders.alone(
      code,
      async (ctx, given) => {
        const order = await this.placement.restore(ctx, given);
        const purchase = await this.checkout.read(code);
        if (soldStates.includes(purchase.state)) await this.updateCardPayment(ctx, order, purchase);
        await this.placement.placeIfCovered(ctx, order);
      },
      origin,
    );
  }

  /** Decides whether the cards of an order are kept or reversed. */
  private async decide(ctx: RequestContext, given: Order): Promise<void> {
    const { code } = given;
    const purchase = await this.checkout.read(code);
    const order = await this.placement.restore(ctx, given);
    if (order !== given && !isFor(purchase, order))
      await this.note(
        ctx,
        order,
        `The order was placed for ${formatCents(purchase.totalCents)}, and changed at the same moment. Check its lines.`,
      );
    const isOpen = purchase.state === "pending" || soldStates.includes(purchase.state);
    // An order that was placed without its cards was paid by another method at the same moment.
    const isByCard = async () => (await this.orders.liveCard(ctx, order.id))?.transactionId === purchase.attemptId;
    const isNeeded = isPlaced(order) ? await isByCard() : order.state === "ArrangingPayment" && isFor(purchase, order);
    // The order was canceled, or changed after the cards were charged.
    if (isOpen && !isNeeded) await this.checkout.calls.cancel(code, purchase.attemptId);
    else if (purchase.state === "pending" && !(await this.noteOvercollection(ctx, order, purchase)))
      await this.checkout.calls.confirm(code);
  }

  /** Returns how much more than the remainder other methods have collected for a pending purchase, in cents. */
  async excessCents({ orderId, attemptId, remainderCents }: Purchase): Promise<number> {
    return Math.max(0, (await this.orders.collectedCents(orderId, attemptId)) - remainderCents);
  }

  /** Refunds the excess of an overcollected order by the methods that have collected it, and places the order. */
  async refundExcess(code: string): Promise<number> {
    const purchase = await this.checkout.read(code);
    const excess = () => (purchase.state === "pending" ? this.excessCents(purchase) : Promise.resolve(0));
    const payments = await this.orders.alone(code, (ctx, order) => this.orders.livePayments(ctx, order.id));
    let refundedCents = 0;
    for (const { id } of payments)
      refundedCents += await this.orders.alone(code, async (ctx, order) => {
        const payment = await this.orders.livePayment(ctx, order.id, id);
        if (!payment || this.orders.isCard(payment) || payment.state !== "Settled") return 0;
        if (this.orders.attemptOf(payment) !== purchase.attemptId) return 0;
        const cents = Math.min(await excess(), heldCents(payment));
        return cents > 0 && (await this.orders.refundPart(ctx, order, payment, cents, false)) ? cents : 0;
      });
    this.soon(code);
    return refundedCents;
  }

  /**
   * Returns the attempt that a new payment of another method goes with, or undefined if it goes with no cards. A payment that
   * the order doesn't need goes with an attempt that is over, so it is refunded: it pays the remainder of cards that were
   * reversed since, the remainder is paid already, or the shopper has gone back to the cart.
   *
   * @param named the attempt that the provider's payment names, if it is known
   */
  async attemptOfNew(order: Order, others: readonly Payment[], payment: Payment, named?: string) {
    const { code, state, totalWithTax, orderPlacedAt } = order;
    const purchase = await this.checkout.read(code);
    const { attemptId, earlierAttempts, remainderCents } = purchase;
    const ids = [attemptId, ...earlierAttempts.map((earlier) => earlier.attemptId)];
    const card = others.find(this.orders.isCard);
    const known = ids.find((id) => id === named || payment.transactionId?.includes(id));
    if (known && known !== card?.transactionId) return known;
    if (!card) {
      const cents = payment.amount;
      const isSame = cents === remainderCents && cents !== totalWithTax;
      return isSame && reversedStates.includes(purchase.state) && orderPlacedAt == null ? attemptId : undefined;
    }
    const beside = others.filter(
      (one) => !this.orders.isCard(one) && this.orders.attemptOf(one) === card.transactionId,
    );
    const isCovered = orderPlacedAt == null && heldCentsOf(beside) >= remainderCents;
    const isNeeded = /^Arranging/.test(state) && !isCovered;
    return isNeeded ? card.transactionId : NO_ATTEMPT;
  }

  /** Returns the cents that are off the cards for this purchase. */
  async cardHeldCents({ orderId, attemptId }: Purchase): Promise<number> {
    return (await this.checkout.calls.charges(orderId))
      .filter((charge) => heldStates.includes(charge.state) && charge.attemptId === attemptId)
      .reduce((sum, { deductedCents, amountCents }) => sum + (deductedCents ?? amountCents), 0);
  }

  /** Settles the gift card payment of a paid order, or adds it, or records a refund that Vendure has missed. */
  private async updateCardPayment(ctx: RequestContext, order: Order, purchase: Purchase): Promise<void> {
    const card = await this.orders.liveCard(ctx, order.id);
    if (card) await this.recordMissedRefund(ctx, order, card, purchase);
    if (purchase.state !== "paid") return;
    if (card?.state === "Authorized") await this.orders.service.settlePayment(ctx, card.id);
    // The process died after the purchase was paid and before Vendure stored the payment.
    const isOld = Date.now() - purchase.createdAt.getTime() > this.settings.leaseMs;
    if (card || isPlaced(order) || !isOld) return;
    const method = this.settings.paymentMethodCode;
    await this.orders.service.addPaymentToOrder(ctx, order.id, { method, metadata: {} });
  }

  /** Records a refund to the cards whose transaction in Vendure was lost. The money is returned already. */
  private async recordMissedRefund(ctx: RequestContext, order: Order, card: Payment, purchase: Purchase) {
    if (card.state !== "Settled" || purchase.state === "refunding") return;
    const missingCents = heldCents(card) - (await this.cardHeldCents(purchase));
    if (missingCents > 0) await this.orders.refundPart(ctx, order, card, missingCents, true);
  }

  /** Writes a note for staff if other methods have collected more than the remainder. @returns whether they have */
  private async noteOvercollection(ctx: RequestContext, order: Order, purchase: Purchase): Promise<boolean> {
    const excessCents = await this.excessCents(purchase);
    if (excessCents === 0) return false;
    const note =
      `Overcollected: gift cards and other payments exceed the total by ${formatCents(excessCents)}. ` +
      "The order is not placed. Refund the excess, or cancel the order.";
    await this.note(ctx, order, note);
    return true;
  }

  /** Writes a note for staff if a payment at a provider is not among the payments of an order with gift cards. */
  async noteUnrecorded(code: string, transactionId: string, note: string): Promise<void> {
    if (!(await this.checkout.calls.read(code))) return;
    await this.orders.alone(code, async (ctx, order) => {
      const payments = await this.orders.service.getOrderPayments(ctx, order.id);
      if (!payments.some((payment) => payment.transactionId === transactionId)) await this.note(ctx, order, note);
    });
  }

  /** Writes a note in the order's history and in the log, once. */
  private async note(ctx: RequestContext, order: Order, note: string): Promise<void> {
    const { items } = await this.history.getHistoryForOrder(ctx, order.id, false);
    if (items.some(({ data }) => data?.note === note)) return;
    Logger.error(`Order ${order.code}: ${note}`, LOGGER);
    await this.history.createHistoryEntryForOrder({ ctx, orderId: order.id, type: ORDER_NOTE, data: { note } }, false);
  }

  /** Returns why an order may not be completed yet, or undefined. */
  async refusalOf(ctx: RequestContext, order: Order): Promise<string | undefined> {
    const payments = await this.orders.livePayments(ctx, order.id);
    const card = payments.find(this.orders.isCard);
    if (this.orders.hasOld(payments, card?.transactionId)) return "Money of this order is being returned.";
    if (!card) return undefined;
    // A placed order was modified. Its other payments make up for the change.
    if (order.orderPlacedAt != null)
      return soldStates.includes((await this.checkout.read(order.code)).state)
        ? undefined
        : "The gift cards of this order were reversed.";
    if (!isFor(await this.checkout.read(order.code), order))
      return "This order has changed since its cards were charged.";
    try {
      await this.checkout.calls.assertPaid(order.code, order.totalWithTax as Cents);
      return undefined;
    } catch (error) {
      if (error instanceof CheckoutError) return `The gift cards don't pay this order: ${error.code}.`;
      throw error;
    }
  }
}
