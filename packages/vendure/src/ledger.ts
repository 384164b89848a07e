import type { PaymentQuery, Reconciliation, ShopPayment } from "@giftcard-pay/checkout/operator";
import { Inject, Injectable } from "@nestjs/common";
import { Payment, TransactionalConnection } from "@vendure/core";
import { And, In, LessThan, MoreThanOrEqual } from "typeorm";
import { GiftcardCheckout } from "./checkout.js";
import { SETTINGS } from "./constants.js";
import { heldCents, liveStates } from "./money.js";
import type { Settings } from "./options.js";

const PAGE_SIZE = 500;

/** Compares the charges with Vendure's own gift card payments. */
@Injectable()
export class Ledger {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(TransactionalConnection) private readonly connection: TransactionalConnection,
  ) {}

  /** @param days yyyy-mm-dd @throws {RangeError} if the days are invalid */
  reconcile(days: { from: string; to: string }): Promise<Reconciliation> {
    return this.checkout.calls.operator.reconcile({ ...days, payments: (query) => this.payments(query) });
  }

  /** Lists the gift card payments that were made in a period, or those of orders. An order has at most one that holds money. */
  private async *payments({ from, to, orderIds }: PaymentQuery): AsyncGenerator<ShopPayment> {
    const method = this.settings.paymentMethodCode;
    const state = In(liveStates);
    const where =
      orderIds.length > 0
        ? { method, state, order: { code: In([...orderIds]) } }
        : { method, state, createdAt: And(MoreThanOrEqual(from), LessThan(to)) };
    const payments = this.connection.rawConnection.getRepository(Payment);
    for (let skip = 0; ; skip += PAGE_SIZE) {
      const paged = { relations: ["order", "refunds"], order: { id: "ASC" as const }, take: PAGE_SIZE, skip };
      const page = await payments.find({ where, ...paged });
      for (const payment of page) {
        const { order, amount } = payment;
        yield { orderId: order.code, amountCents: amount, refundedCents: amount - heldCents(payment) };
      }
      if (page.length < PAGE_SIZE) return;
    }
  }
}
