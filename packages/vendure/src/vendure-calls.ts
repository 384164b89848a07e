import { formatCents } from "@giftcard-pay/client";
import { Inject, Injectable, type OnModuleInit } from "@nestjs/common";
import {
  NothingToRefundError,
  type Order,
  type OrderService,
  type Payment,
  PaymentService,
  RefundAmountError,
  type RequestContext,
  UserInputError,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure, SETTINGS } from "./constants.js";
import { Gates } from "./gates.js";
import { heldCents, heldCentsOf, leftCents, liveStates, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";
import { CardRefunds } from "./refunds.js";

const REFUNDING = "The gift cards of this order are being refunded. Try again in a moment.";

/** Vendure's error of a declined payment, which it doesn't export. */
const declined = (paymentErrorMessage: string) => ({
  ...{ __typename: "PaymentDeclinedError", errorCode: "PAYMENT_DECLINED_ERROR", message: "PAYMENT_DECLINED_ERROR" },
  paymentErrorMessage,
});

/**
 * Asks the gates before Vendure calls a payment provider, whatever its method, and keeps the cards when it merges orders. Vendure
 * has no extension point at these four calls, so this replaces them in its services.
 */
@Injectable()
export class VendureCalls implements OnModuleInit {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Gates) private readonly gates: Gates,
    @Inject(Money) private readonly money: Money,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(CardRefunds) private readonly refunds: CardRefunds,
    @Inject(PaymentService) private readonly payments: PaymentService,
  ) {}

  onModuleInit(): void {
    const { payments } = this;
    const createPayment = payments.createPayment.bind(payments);
    payments.createPayment = async (ctx, order, amount, method, metadata) => {
      const asked = await this.amountOf(ctx, order, amount, method);
      if (typeof asked === "number") return createPayment(ctx, order, asked, method, metadata);
      return declined(asked) as never;
    };
    const createRefund = payments.createRefund.bind(payments);
    payments.createRefund = async (ctx, input, order, payment) =>
      (await this.refundRefusal(ctx, input, order, payment)) ?? createRefund(ctx, input, order, payment);
    const { service } = this.orders;
    const modifyOrder = service.modifyOrder.bind(service);
    service.modifyOrder = async (ctx, input) => {
      if (!input.dryRun) await this.checkModification(ctx, input);
      return modifyOrder(ctx, input);
    };
    const mergeOrders = service.mergeOrders.bind(service);
    service.mergeOrders = async (ctx, user, guestOrder, existingOrder) => {
      // The order of a customer isn't merged into that of another one, and neither are its cards.
      const isApart = guestOrder?.customer != null;
      const merged = await mergeOrders(ctx, user, guestOrder, existingOrder);
      for (const one of isApart ? [] : [guestOrder, existingOrder])
        if (merged && one && one.code !== merged.code) await this.carryCards(ctx, one.code, merged);
      return merged;
    };
  }

  /** Keeps the cards of a shopper who logs in. If that fails, the order's public history says so. */
  private async carryCards(ctx: RequestContext, fromCode: string, { id, code }: Order): Promise<void> {
    try {
      const order = await this.orders.service.findOne(ctx, id);
      if (order) await this.checkout.carryCards(fromCode, order);
    } catch (error) {
      logFailure(error, code);
      const note = "Gift cards that were applied before the log-in have to be applied again.";
      await this.orders.service.addNoteToOrder(ctx, { id, note, isPublic: true }).catch(logFailure);
    }
  }

  /**
   * Returns the amount to ask of another method, or why it may not be asked. Other callers than a shopper, such as webhooks,
   * record what a provider has taken already, so they are never refused.
   */
  private async amountOf(ctx: RequestContext, order: Order, amount: number, method: string): Promise<number | string> {
    if (ctx.apiType !== "shop" || method === this.settings.paymentMethodCode) return amount;
    // Until the payment is stored, nothing else may change the order or pay for it.
    const now = await this.orders.lock(ctx, order.code);
    const hasCards = (await this.checkout.calls.read(order.code)) || (await this.gates.coveredCents(order)) > 0;
    if (!hasCards) return amount;
    if (now.totalWithTax !== order.totalWithTax || now.state !== order.state)
      return "The order has changed meanwhile. Load it again.";
    const outstanding = await this.gates.outstanding(ctx, now);
    return typeof outstanding === "string" ? outstanding : outstanding.amountCents;
  }

  /** Returns why a refund can't be made. Otherwise Vendure would notice it after the first providers have refunded. */
  private async refundRefusal(
    ctx: RequestContext,
    input: Parameters<PaymentService["createRefund"]>[1],
    order: Order,
    { id }: Payment,
  ): Promise<RefundAmountError | undefined> {
    if (!(await this.checkout.calls.read(order.code))) return undefined;
    // Otherwise two refunds at the same time would ask the provider for the same money.
    await this.orders.lock(ctx, order.code);
    // biome-ignore lint/complexity/useLiteralKeys: it is private
    const { total } = await this.payments["getRefundAmount"](ctx, input);
    // Both are results of Vendure's `refundOrder`.
    if (!(total > 0)) return new NothingToRefundError() as unknown as RefundAmountError;
    const payments = await this.money.payments(ctx, order.id);
    // Vendure continues with the next payment, even if that was canceled or declined.
    const isContinued = !input.amount && payments.every((one) => liveStates.includes(one.state) || leftCents(one) <= 0);
    const maximumRefundable = heldCentsOf(isContinued ? payments : payments.filter((one) => one.id === id));
    return total > maximumRefundable ? new RefundAmountError({ maximumRefundable }) : undefined;
  }

  /** Refuses a modification with a refund that can't be made. Vendure would notice it after other providers have refunded. */
  private async checkModification(
    ctx: RequestContext,
    { orderId, refund, refunds }: Parameters<OrderService["modifyOrder"]>[1],
  ): Promise<void> {
    const order = await this.orders.service.findOne(ctx, orderId);
    if (!order || !(await this.checkout.calls.read(order.code))) return;
    await this.orders.lock(ctx, order.code);
    const purchase = await this.checkout.read(order.code);
    if (purchase.state === "refunding" && (refunds ?? refund)) throw new UserInputError(REFUNDING);
    const payments = await this.money.payments(ctx, order.id);
    const sums = new Map<Payment, number>();
    for (const { paymentId, amount } of refunds ?? (refund ? [refund] : [])) {
      const payment = payments.find(({ id }) => String(id) === String(paymentId));
      if (!payment || !amount) continue;
      const sumCents = (sums.get(payment) ?? 0) + amount;
      sums.set(payment, sumCents);
      const refusal =
        sumCents > heldCents(payment)
          ? `The payment by ${payment.method} has only ${formatCents(heldCents(payment))} left.`
          : this.money.isCard(payment) && (await this.refunds.refusalOf(ctx, order, payment, sumCents));
      if (refusal) throw new UserInputError(refusal);
    }
  }
}
