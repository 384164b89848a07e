import { CheckoutError } from "@giftcard-pay/checkout";
import { type Purchase, reversingStates } from "@giftcard-pay/checkout/store";
import { formatCents } from "@giftcard-pay/client";
import { Inject, Injectable } from "@nestjs/common";
import { type CreatePaymentResult, type Order, Payment, type RequestContext } from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { isFor } from "./gates.js";
import { cartOf, linesOf } from "./lines.js";
import { heldCents, heldCentsOf, Money } from "./money.js";
import { Orders } from "./orders.js";
import { Settlement } from "./settlement.js";

/** Whether the cards of a purchase are charged, and not being reversed. */
const isCharged = (purchase: Purchase | null) => purchase?.state === "pending" || purchase?.state === "paid";

/** Charges an order's cards, from inside Vendure's `addPaymentToOrder`. */
@Injectable()
export class CardPayments {
  constructor(
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
    @Inject(Settlement) private readonly settlement: Settlement,
  ) {}

  /**
   * Charges the cards that are applied to an order.
   *
   * @param shown the plan that the page has shown
   * @returns the payment for Vendure to store: settled if the cards pay everything, else authorized until the remainder is paid
   * @throws {CheckoutError} then no money was taken, or it is being returned
   */
  async pay(ctx: RequestContext, given: Order, shown: string | undefined): Promise<CreatePaymentResult> {
    const order = await this.orders.service.findOne(ctx, given.id);
    if (!order) throw new CheckoutError("cart_not_found");
    const [cart, { code }] = [cartOf(order), order];
    const { others: besides, isRetry } = await this.checkOthers(ctx, order);
    // A page that was loaded since shows spent cards. It must not end the payment that it repeats.
    const plan = isRetry ? null : shown;
    const { status, cards } = await this.checkout.calls.pay({ id: code, cart, lines: linesOf(order), plan });
    // Keep the lock until Vendure has stored the payment.
    const now = await this.orders.lock(ctx, code);
    const purchase = await this.checkout.read(code);
    const { attemptId, totalCents, remainderCents } = purchase;
    const amount = cards.reduce((sum, { amountCents }) => sum + amountCents, 0);
    // While this call waited for the lock, the cards may have been reversed, and charged again in another attempt.
    const isHeld = isCharged(purchase) && amount === totalCents - remainderCents;
    const isSame = isHeld && now.totalWithTax === order.totalWithTax && now.currencyCode === order.currencyCode;
    if (!this.orders.canBePaid(now) || !isSame) {
      this.settlement.soon(code);
      if (this.orders.wasPlaced(now)) throw new CheckoutError("cart_completed");
      const message = "The order has changed while its gift cards were charged. They get their money back.";
      throw new CheckoutError("amount_changed", { message });
    }
    // Another method has paid while the cards were charged.
    if (heldCentsOf(await this.othersOf(ctx, order)) !== heldCentsOf(besides)) {
      await this.checkout.beginReversal(purchase);
      this.settlement.soon(code);
      throw new CheckoutError("amount_changed");
    }
    if ((await this.money.live(ctx, order.id)).find(this.money.isCard))
      throw new CheckoutError("cart_completed", { message: "The gift cards of this order are charged already." });
    await this.adopt(ctx, besides, attemptId);
    return {
      amount,
      state: status === "paid" ? "Settled" : "Authorized",
      transactionId: attemptId,
      metadata: { public: { cards } },
    };
  }

  /**
   * Checks, before any money moves, that cards and earlier payments don't exceed the total.
   *
   * @returns the payments that other methods made before the cards, and whether the cards are charged already
   * @throws {CheckoutError} nothing_to_pay; payment_in_progress; amount_changed
   */
  private async checkOthers(ctx: RequestContext, order: Order): Promise<{ others: Payment[]; isRetry: boolean }> {
    const others = await this.othersOf(ctx, order);
    const known = await this.checkout.calls.read(order.code);
    // If this is a retry after a lost response, the cards are spent already, and the purchase has the amounts.
    if (known && isCharged(known) && isFor(known, order)) return { others, isRetry: true };
    // The cards of the old total get their money back first.
    if (known && (isCharged(known) || reversingStates.includes(known.state))) {
      this.settlement.soon(order.code);
      throw new CheckoutError("payment_in_progress");
    }
    const { coveredCents, totalCents, cards } = await this.checkout.calls.list(cartOf(order));
    if (cards.length === 0)
      throw new CheckoutError("nothing_to_pay", { message: "No gift card is applied to this order." });
    if (coveredCents === 0) throw new CheckoutError("nothing_to_pay");
    if (this.money.hasOld(await this.money.live(ctx, order.id), undefined))
      throw new CheckoutError("payment_in_progress");
    const otherCents = heldCentsOf(others);
    if (coveredCents + otherCents <= totalCents) return { others, isRetry: false };
    const message = `Other payments of ${formatCents(otherCents)} exist already. The cards may pay at most ${formatCents(totalCents - otherCents)}.`;
    throw new CheckoutError("amount_changed", { message });
  }

  /** Returns the payments of other methods that hold money. */
  private async othersOf(ctx: RequestContext, { id }: Order): Promise<Payment[]> {
    const payments = await this.money.live(ctx, id);
    return payments.filter((payment) => !this.money.isCard(payment) && heldCents(payment) > 0);
  }

  /** Counts earlier payments as part of the cards' remainder. */
  private async adopt(ctx: RequestContext, payments: readonly Payment[], attemptId: string): Promise<void> {
    for (const payment of payments) {
      const metadata = { ...payment.metadata, giftcardAttemptId: attemptId } as object;
      await this.orders.connection.getRepository(ctx, Payment).update(payment.id, { metadata });
    }
  }
}
