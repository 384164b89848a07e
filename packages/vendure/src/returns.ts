import { formatCents } from "@giftcard-pay/client";
import { Inject, Injectable } from "@nestjs/common";
import {
  HistoryService,
  type ID,
  Logger,
  type Order,
  type OrderHistoryEntryData,
  Payment,
  PaymentService,
  type RequestContext,
} from "@vendure/core";
import { LOGGER, logFailure } from "./constants.js";
import { heldCents, leftCents, Money } from "./money.js";
import { Orders } from "./orders.js";

/** How often a refund that a provider refuses is tried before it is left to a person. */
const MOST_TRIES = 3;

/** Vendure's enum of history entries is not exported. */
const ORDER_NOTE = "ORDER_NOTE" as keyof OrderHistoryEntryData;
const PAYMENT_TRANSITION = "ORDER_PAYMENT_TRANSITION" as keyof OrderHistoryEntryData;

const failuresOf = ({ refunds }: Payment): number => refunds.filter(({ state }) => state === "Failed").length;

/** Whether the provider has refused to refund a payment so often that a person has to. */
export const isLeftToPerson = (payment: Payment): boolean => failuresOf(payment) >= MOST_TRIES;

const nameOf = (payment: Payment): string => `The payment of ${formatCents(heldCents(payment))} by ${payment.method}`;

class StillAuthorized extends Error {}

/** The decision about a payment: kept, returned by its own method, or settled elsewhere by a person. */
export type Verdict = "keep" | "return" | "settled";

/** Reads what decides about payments, with the order's lock if a payment is to be returned. */
export type ReadVerdict = () => Promise<(payment: Payment) => Verdict>;

/** Returns payments that an order doesn't need, by their own methods. */
@Injectable()
export class Returns {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
    @Inject(PaymentService) private readonly payments: PaymentService,
    @Inject(HistoryService) private readonly history: HistoryService,
  ) {}

  /**
   * Cancels or refunds payments, each in a transaction of its own, so that a later failure can't undo the record of a
   * provider's refund. Never call it with the order's lock.
   *
   * @returns whether all of them are returned; false if a provider refuses a refund
   */
  async close(code: string, readVerdict: ReadVerdict): Promise<boolean> {
    const verdict = await readVerdict();
    const over = (await this.money.committed(code)).filter(
      (payment) => heldCents(payment) > 0 && verdict(payment) !== "keep",
    );
    let isClosed = true;
    for (const { id } of over) if (!(await this.closeOne(code, id, readVerdict))) isClosed = false;
    return isClosed;
  }

  private async closeOne(code: string, id: ID, readVerdict: ReadVerdict): Promise<boolean> {
    try {
      return await this.orders.alone(code, async (ctx, order) => {
        const payment = await this.orders.lockPayment(ctx, order.id, id);
        const verdict = payment && heldCents(payment) > 0 ? (await readVerdict())(payment) : "keep";
        if (!payment || verdict === "keep") return true;
        if (verdict === "return") return this.return(ctx, order, payment);
        await this.setState(ctx, order, payment, "Cancelled");
        return true;
      });
    } catch (error) {
      logFailure(error, code);
      if (error instanceof StillAuthorized)
        await this.orders.alone(code, (ctx, order) => this.note(ctx, order, error.message));
      return false;
    }
  }

  private async return(ctx: RequestContext, order: Order, payment: Payment): Promise<boolean> {
    if (isLeftToPerson(payment)) return false;
    if (payment.state === "Authorized") return this.cancel(ctx, payment);
    const state = await this.refundPart(ctx, order, payment, heldCents(payment));
    if (state === undefined) {
      if (failuresOf(payment) + 1 < MOST_TRIES)
        Logger.error(`Order ${order.code}: ${nameOf(payment)} could not be refunded yet.`, LOGGER);
      else await this.note(ctx, order, `${nameOf(payment)} could not be refunded. Refund it at its provider.`);
      return false;
    }
    if (state === "Pending" && !this.money.isCard(payment))
      await this.note(
        ctx,
        order,
        `${nameOf(payment)} is being refunded. Settle the refund once its provider has confirmed it.`,
      );
    // Vendure counts a settled payment as paid while its refund is pending, and would ask for too little.
    if (order.state !== "Cancelled") await this.setState(ctx, order, payment, "Cancelled", true);
    return true;
  }

  /** Cancels an authorized payment. @throws {StillAuthorized} to roll back: Vendure would record an error, which holds nothing */
  private async cancel(ctx: RequestContext, payment: Payment): Promise<boolean> {
    const canceled = await this.payments.cancelPayment(ctx, payment.id);
    const isCanceled = "state" in canceled && canceled.state === "Cancelled";
    if (isCanceled || this.money.isCard(payment)) return isCanceled;
    throw new StillAuthorized(`${nameOf(payment)} could not be canceled yet. If it stays, cancel it at its provider.`);
  }

  /** Refunds a part of a payment, or cancels it if it is authorized. @returns the state, or undefined if that isn't possible */
  async refundPart(ctx: RequestContext, order: Order, payment: Payment, amount: number): Promise<string | undefined> {
    if (payment.state === "Authorized")
      return amount === heldCents(payment) && (await this.cancel(ctx, payment)) ? "Cancelled" : undefined;
    const input = { paymentId: payment.id, amount, lines: [], reason: "gift card", shipping: 0, adjustment: 0 };
    const made = await this.payments.createRefund(ctx, input, order, payment);
    return "state" in made && made.state !== "Failed" ? made.state : undefined;
  }

  /** Makes returned payments live again whose pending refund has failed: their provider still has the money. */
  async reopen(ctx: RequestContext, order: Order): Promise<void> {
    for (const payment of await this.money.payments(ctx, order.id))
      if (payment.state === "Cancelled" && payment.metadata?.giftcardReturned && leftCents(payment) > 0)
        await this.setState(ctx, order, payment, "Settled");
  }

  /** Sets a state that Vendure's own calls can't set without asking the provider. */
  private async setState(
    ctx: RequestContext,
    order: Order,
    payment: Payment,
    state: "Cancelled" | "Settled",
    giftcardReturned = false,
  ): Promise<void> {
    const metadata = { ...payment.metadata, giftcardReturned } as object;
    await this.orders.connection.getRepository(ctx, Payment).update(payment.id, { state, metadata });
    const data = { paymentId: payment.id, from: payment.state, to: state } as never;
    await this.history.createHistoryEntryForOrder({ ctx, orderId: order.id, type: PAYMENT_TRANSITION, data });
  }

  /** Writes a note for staff in the order's history and in the log, once. */
  async note(ctx: RequestContext, order: Order, note: string): Promise<void> {
    const { items } = await this.history.getHistoryForOrder(ctx, order.id, false);
    if (items.some(({ data }) => data?.note === note)) return;
    Logger.error(`Order ${order.code}: ${note}`, LOGGER);
    await this.history.createHistoryEntryForOrder({ ctx, orderId: order.id, type: ORDER_NOTE, data: { note } }, false);
  }
}
