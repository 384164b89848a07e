import { type Purchase, reversedStates, reversingStates, soldStates } from "@giftcard-pay/checkout/store";
import { formatCents } from "@giftcard-pay/client";
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from "@nestjs/common";
import {
  EventBus,
  type Order,
  OrderStateTransitionEvent,
  type Payment,
  PaymentStateTransitionEvent,
  RefundStateTransitionEvent,
  type RequestContext,
} from "@vendure/core";
import { merge } from "rxjs";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure, SETTINGS } from "./constants.js";
import { isFor } from "./gates.js";
import { heldCents, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";
import { Placement } from "./placement.js";
import { CardRefunds } from "./refunds.js";
import { isLeftToPerson, Returns, type Verdict } from "./returns.js";

/** An order that is to be settled. */
interface Waiting {
  origin: RequestContext | undefined;
  readonly work: Promise<void>;
}

/** Makes orders and their purchases agree, whatever either of them has missed. */
@Injectable()
export class Settlement implements OnApplicationBootstrap, OnModuleDestroy {
  /** The orders whose settlement has not begun yet. */
  readonly #waiting = new Map<string, Waiting>();
  /** The last settlement of each order that has begun or waits. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
    @Inject(Returns) private readonly returns: Returns,
    @Inject(EventBus) private readonly events: EventBus,
    @Inject(Placement) private readonly placement: Placement,
    @Inject(CardRefunds) private readonly refunds: CardRefunds,
  ) {}

  onApplicationBootstrap(): void {
    // Vendure publishes events after their transaction is committed.
    const changes = [PaymentStateTransitionEvent, OrderStateTransitionEvent, RefundStateTransitionEvent] as const;
    merge(...changes.map((change) => this.events.ofType<InstanceType<(typeof changes)[number]>>(change))).subscribe(
      ({ order, ctx }) => this.soon(order.code, ctx),
    );
  }

  /** Waits for running work, so that the store isn't closed below it. */
  async onModuleDestroy(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }

  /** Settles an order soon, such as after the current transaction. @param origin as for `request` */
  soon(code: string, origin?: RequestContext): void {
    setImmediate(() => this.request(code, origin).catch((error: unknown) => logFailure(error, code)));
  }

  /**
   * Makes an order and its purchase agree. It is idempotent. Settlements of an order run one after another, and requests that
   * wait for the same one are joined. Never await it with the order's lock.
   *
   * @param origin the context of the call that has led here, for the e-mails of an order that is placed now
   */
  request(code: string, origin?: RequestContext): Promise<void> {
    const joined = this.#waiting.get(code);
    if (joined) {
      joined.origin ??= origin;
      return joined.work;
    }
    const before = this.#last.get(code) ?? Promise.resolve();
    const work = before
      .catch(() => {})
      .then(() => {
        const { origin } = this.#waiting.get(code) ?? {};
        this.#waiting.delete(code);
        return this.settle(code, origin);
      })
      .finally(() => {
        if (this.#last.get(code) === work) this.#last.delete(code);
      });
    this.#waiting.set(code, { origin, work });
    this.#last.set(code, work);
    return work;
  }

  private async settle(code: string, origin: RequestContext | undefined): Promise<void> {
    if (!(await this.checkout.calls.read(code))) return;
    const isAwaited = await this.orders.alone(code, (ctx, order) => this.decide(ctx, order), origin);
    // After the commit: it reads the payments by a connection of its own.
    if (isAwaited) await this.checkout.calls.confirm(code);
    // Other providers refund outside of the transaction that has decided it, each in its own.
    const { attemptId, state } = await this.checkout.read(code);
    if (reversingStates.includes(state)) await this.checkout.calls.cancel(code, attemptId);
    await this.returns.close(code, async () => {
      const now = await this.checkout.read(code);
      return (payment) => this.verdictOn(payment, now);
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

  /**
   * Decides about a payment. During a reversal, `remainder.cancel` returns what other methods hold, in one process at a time.
   * Payments that belong to no attempt are kept.
   */
  private verdictOn(payment: Payment, { attemptId, state, remainderSettledBy, earlierAttempts }: Purchase): Verdict {
    const own = this.money.attemptOf(payment);
    if (own === undefined) return "keep";
    const isCard = this.money.isCard(payment);
    const settled = [{ attemptId, remainderSettledBy }, ...earlierAttempts].filter((one) => one.remainderSettledBy);
    const isOver =
      own !== attemptId || (reversedStates.includes(state) && (isCard || !reversingStates.includes(state)));
    if (!isOver) return "keep";
    return !isCard && settled.some((one) => one.attemptId === own) ? "settled" : "return";
  }

  /** Marks payments as settled elsewhere whose return was left to a person. @returns whether there was one */
  async settleElsewhere(code: string, actor: string): Promise<boolean> {
    let isSettled = false;
    const isClosed = await this.returns.close(code, async () => {
      const now = await this.checkout.read(code);
      return (payment) => {
        const isStuck = isLeftToPerson(payment) && this.verdictOn(payment, now) === "return";
        isSettled ||= isStuck;
        return isStuck ? "settled" : "keep";
      };
    });
    if (!isSettled || !isClosed) return false;
    this.noteSoon(code, `${actor} has settled a payment elsewhere that its provider doesn't refund.`);
    return true;
  }

  private isSold = (order: Order): boolean => this.orders.wasPlaced(order) && order.state !== "Cancelled";

  /** Decides whether the cards of an order are kept or reversed. @returns whether they only wait for the remainder */
  private async decide(ctx: RequestContext, given: Order): Promise<boolean> {
    const { code } = given;
    const purchase = await this.checkout.read(code);
    const order = await this.placement.restore(ctx, given);
    await this.returns.reopen(ctx, order);
    if (order !== given && !isFor(purchase, order)) {
      const what = `The order was placed for ${formatCents(purchase.totalCents)}, and changed at the same moment.`;
      await this.returns.note(ctx, order, `${what} Check its lines.`);
    }
    const isOpen = purchase.state === "pending" || soldStates.includes(purchase.state);
    // An order that was placed without its cards was paid by another method at the same moment.
    const isByCard = async () =>
      (await this.money.live(ctx, order.id)).find(this.money.isCard)?.transactionId === purchase.attemptId;
    const isNeeded = this.isSold(order) ? await isByCard() : this.orders.canBePaid(order) && isFor(purchase, order);
    // The order was canceled, or changed after the cards were charged.
    if (isOpen && !isNeeded) await this.checkout.beginReversal(purchase);
    else if (purchase.state === "pending") return !(await this.noteOvercollection(ctx, order, purchase));
    return false;
  }

  /** Returns how much more than a pending remainder other methods have collected. @param payments default: as they are committed */
  async excessCents({ orderId, state, attemptId, remainderCents }: Purchase, payments?: Payment[]): Promise<number> {
    if (state !== "pending") return 0;
    const made = payments ?? (await this.money.committed(orderId));
    return Math.max(0, this.money.collectedCents(made, attemptId) - remainderCents);
  }

  /** Refunds the excess of an overcollected order by the methods that have collected it, and places the order. */
  async refundExcess(code: string): Promise<number> {
    const purchase = await this.checkout.read(code);
    const payments = await this.orders.alone(code, (ctx, order) => this.money.live(ctx, order.id));
    let refundedCents = 0;
    for (const { id } of payments)
      refundedCents += await this.orders.alone(code, async (ctx, order) => {
        const payment = await this.orders.lockPayment(ctx, order.id, id);
        if (!payment || this.money.isCard(payment) || this.money.attemptOf(payment) !== purchase.attemptId) return 0;
        const excessCents = await this.excessCents(purchase, await this.money.live(ctx, order.id));
        const cents = Math.min(excessCents, heldCents(payment));
        return cents > 0 && (await this.returns.refundPart(ctx, order, payment, cents)) ? cents : 0;
      });
    this.soon(code);
    return refundedCents;
  }

  /** Settles the gift card payment of a paid order, or adds it, or records a refund that Vendure has missed. */
  private async updateCardPayment(ctx: RequestContext, order: Order, purchase: Purchase): Promise<void> {
    const card = (await this.money.live(ctx, order.id)).find(this.money.isCard);
    if (card) await this.recordMissedRefund(ctx, order, card, purchase);
    if (purchase.state !== "paid") return;
    if (card?.state === "Authorized") await this.orders.service.settlePayment(ctx, card.id);
    // The process died after the purchase was paid and before Vendure stored the payment.
    const isOld = Date.now() - purchase.createdAt.getTime() > this.settings.leaseMs;
    if (card || this.isSold(order) || !isOld) return;
    const method = this.settings.paymentMethodCode;
    const added = await this.orders.service.addPaymentToOrder(ctx, order.id, { method, metadata: {} });
    if ("errorCode" in added)
      await this.returns.note(
        ctx,
        order,
        `The gift cards are charged, and their payment is refused: ${added.message}.`,
      );
  }

  /** Records a refund to the cards whose transaction in Vendure was lost. The money is returned already. */
  private async recordMissedRefund(ctx: RequestContext, order: Order, card: Payment, purchase: Purchase) {
    if (card.state !== "Settled" || purchase.state === "refunding") return;
    const missingCents = heldCents(card) - (await this.refunds.offCents(order.code, card));
    if (missingCents > 0) await this.returns.refundPart(ctx, order, card, missingCents);
  }

  /** Writes a note for staff if other methods have collected more than the remainder. @returns whether they have */
  private async noteOvercollection(ctx: RequestContext, order: Order, purchase: Purchase): Promise<boolean> {
    const excessCents = await this.excessCents(purchase, await this.money.live(ctx, order.id));
    if (excessCents === 0) return false;
    const note =
      `Overcollected: gift cards and other payments exceed the total by ${formatCents(excessCents)}. ` +
      "The order is not placed. Refund the excess, or cancel the order.";
    await this.returns.note(ctx, order, note);
    return true;
  }

  /** Writes a note for staff after the current transaction, even if that is rolled back. */
  noteSoon(code: string, note: string): void {
    setImmediate(() =>
      this.orders
        .alone(code, (ctx, order) => this.returns.note(ctx, order, note))
        .catch((error: unknown) => logFailure(error, code)),
    );
  }

  /** Writes a note for staff if a payment at a provider is not among the payments of an order with gift cards. */
  async noteUnrecorded(code: string, transactionId: string, note: string): Promise<void> {
    if (!(await this.checkout.calls.read(code))) return;
    await this.orders.alone(code, async (ctx, order) => {
      const payments = await this.orders.service.getOrderPayments(ctx, order.id);
      if (!payments.some((payment) => payment.transactionId === transactionId))
        await this.returns.note(ctx, order, note);
    });
  }
}
