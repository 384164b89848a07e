import { Inject, Injectable, type OnModuleInit } from "@nestjs/common";
import {
  NothingToRefundError,
  type Order,
  type Payment,
  PaymentService,
  RefundAmountError,
  type RequestContext,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure, SETTINGS } from "./constants.js";
import { Gates } from "./gates.js";
import { heldCents, heldCentsOf, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";

/** Vendure's error of a declined payment, which it doesn't export. */
const declined = (paymentErrorMessage: string) => ({
  ...{ __typename: "PaymentDeclinedError", errorCode: "PAYMENT_DECLINED_ERROR", message: "PAYMENT_DECLINED_ERROR" },
  paymentErrorMessage,
});

/**
 * Asks the gates before Vendure calls a payment provider, whatever its method, and keeps the cards when it merges orders. Vendure
 * has no extension point at these three calls, so this replaces them in its services.
 */
@Injectable()
export class VendureCalls implements OnModuleInit {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Gates) private readonly gates: Gates,
    @Inject(Money) private readonly money: Money,
    @Inject(Orders) private readonly orders: Orders,
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
    const mergeOrders = service.mergeOrders.bind(service);
    service.mergeOrders = async (ctx, user, guestOrder, existingOrder) => {
      const merged = await mergeOrders(ctx, user, guestOrder, existingOrder);
      for (const one of [guestOrder, existingOrder])
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
    const hasCards = (await this.checkout.calls.read(order.code)) || (await this.gates.coveredCents(order)) > 0;
    if (!hasCards) return amount;
    // Until the payment is stored, nothing else may change the order or pay for it.
    const now = await this.orders.lock(ctx, order.code);
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
    // biome-ignore lint/complexity/useLiteralKeys: it is private
    const { total } = await this.payments["getRefundAmount"](ctx, input);
    // Both are results of Vendure's `refundOrder`.
    if (!(total > 0)) return new NothingToRefundError() as unknown as RefundAmountError;
    const live = await this.money.live(ctx, order.id);
    const chosen = live.find((payment) => payment.id === id);
    const maximumRefundable = input.amount ? (chosen ? heldCents(chosen) : 0) : heldCentsOf(live);
    return total > maximumRefundable ? new RefundAmountError({ maximumRefundable }) : undefined;
  }
}
