import { CheckoutError } from "@giftcard-pay/checkout";
import { cartStates, type Purchase, reversedStates, reversingStates, soldStates } from "@giftcard-pay/checkout/store";
import { type Cents, formatCents } from "@giftcard-pay/client";
import { Inject, Injectable } from "@nestjs/common";
import { type Order, type Payment, PaymentMethodService, type RequestContext } from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { SETTINGS } from "./constants.js";
import { cartOf } from "./lines.js";
import { heldCentsOf, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";

/** The attempt of a payment that the order doesn't need. */
const NO_ATTEMPT = "none";

const RETURNING = "Money of this order is being returned. Try again in a moment.";
const CHANGED =
  "This order has changed since its gift cards were charged. They get their money back. Charge them again, or remove them.";

/** The amount that other methods still have to pay for an order. */
export interface Outstanding {
  /** Above 0, unless the order costs nothing. */
  readonly amountCents: number;
  /**
   * The attempt of the gift cards that were charged, or undefined if there are none. If the payment's name at the provider
   * contains it, the option `closePayment` can find a payment that Vendure never stored.
   */
  readonly attemptId: string | undefined;
}

/** Whether an order still has the total and currency that its cards were charged for. */
export const isFor = ({ totalCents, currency }: Purchase, { totalWithTax, currencyCode }: Order): boolean =>
  totalWithTax === totalCents && currencyCode === currency;

/** Decides what may be asked, recorded and placed. Every decision counts the money that is really held. */
@Injectable()
export class Gates {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
    @Inject(PaymentMethodService) private readonly methods: PaymentMethodService,
  ) {}

  /**
   * Returns the attempt that a new payment of another method goes with, or undefined if it goes with no cards. A payment that
   * the order doesn't need goes with an attempt that is over, so it is refunded: it pays the remainder of cards that were
   * reversed since, the remainder is paid already, or the shopper has gone back to the cart.
   *
   * @param named the attempt that the provider's payment names, if it is known
   */
  async attemptOfNew(order: Order, others: readonly Payment[], payment: Payment, named?: string) {
    const { code, totalWithTax } = order;
    const isPlaced = this.orders.wasPlaced(order);
    const purchase = await this.checkout.read(code);
    const { attemptId, earlierAttempts, remainderCents } = purchase;
    const ids = [attemptId, ...earlierAttempts.map((earlier) => earlier.attemptId)];
    const card = others.find(this.money.isCard);
    const known = ids.find((id) => id === named || payment.transactionId?.includes(id));
    if (known && known !== card?.transactionId) return known;
    if (!card) {
      const cents = payment.amount;
      const isSame = cents === remainderCents && cents !== totalWithTax;
      return isSame && reversedStates.includes(purchase.state) && !isPlaced ? attemptId : undefined;
    }
    const beside = others.filter((one) => !this.money.isCard(one) && this.money.attemptOf(one) === card.transactionId);
    const isCovered = !isPlaced && heldCentsOf(beside) >= remainderCents;
    const canBePaid = isPlaced ? /^Arranging/.test(order.state) : this.orders.canBePaid(order);
    const isNeeded = canBePaid && !isCovered;
    return isNeeded ? card.transactionId : NO_ATTEMPT;
  }

  /**
   * Returns why an order may not be placed or settled yet, or undefined. Vendure's own processes may have asked before, so this
   * compares the held money with the total by itself.
   */
  async refusalOf(ctx: RequestContext, order: Order): Promise<string | undefined> {
    const payments = await this.money.live(ctx, order.id);
    const card = payments.find(this.money.isCard);
    const isPlaced = this.orders.wasPlaced(order);
    if (!isPlaced && this.money.hasOld(payments, card?.transactionId)) return RETURNING;
    const heldSumCents = heldCentsOf(payments.filter((one) => !this.money.isOld(one, card?.transactionId)));
    if (heldSumCents < order.totalWithTax)
      return `Only ${formatCents(Math.max(0, heldSumCents))} of ${formatCents(order.totalWithTax)} are paid.`;
    if (!card) return undefined;
    const purchase = await this.checkout.read(order.code);
    // A placed order was modified. Its other payments make up for the change.
    if (isPlaced)
      return soldStates.includes(purchase.state) ? undefined : "The gift cards of this order were reversed.";
    if (!isFor(purchase, order)) return CHANGED;
    try {
      await this.checkout.calls.assertPaid(order.code, order.totalWithTax as Cents);
      return undefined;
    } catch (error) {
      if (error instanceof CheckoutError) return `The gift cards don't pay this order: ${error.code}.`;
      throw error;
    }
  }

  /**
   * Returns the amount that other methods still have to pay for an order, with the attempt of its cards, or why they may not be
   * asked now. Applied cards don't matter if the order doesn't accept them.
   */
  async outstanding(ctx: RequestContext, order: Order): Promise<Outstanding | string> {
    const payments = await this.money.live(ctx, order.id);
    const card = payments.find(this.money.isCard);
    const isPlaced = this.orders.wasPlaced(order);
    if (!isPlaced && this.money.hasOld(payments, card?.transactionId)) return RETURNING;
    const purchase = await this.checkout.calls.read(order.code);
    if (card && purchase && !isPlaced) {
      if (!isFor(purchase, order)) return CHANGED;
      if (reversedStates.includes(purchase.state)) return RETURNING;
    }
    if (!card && !isPlaced) {
      // The cards are charged before Vendure stores their payment.
      if (purchase && cartStates.includes(purchase.state))
        return "The gift cards of this order are being charged. Try again in a moment.";
      if (purchase && reversingStates.includes(purchase.state)) return RETURNING;
      if ((await this.refusalOfCards(ctx, order)) === undefined && (await this.coveredCents(order)) > 0)
        return purchase && !isFor(purchase, order)
          ? CHANGED
          : "Gift cards are applied to this order. Charge them first, or remove them.";
    }
    const amountCents =
      order.totalWithTax - heldCentsOf(payments.filter((one) => !this.money.isOld(one, card?.transactionId)));
    // Vendure places an order that costs nothing by a payment of nothing.
    if (amountCents < 0 || (amountCents === 0 && order.totalWithTax > 0))
      return "This order has no outstanding amount.";
    return { amountCents, attemptId: card?.transactionId };
  }

  /** Returns the sum that the applied cards would pay. */
  async coveredCents(order: Order): Promise<number> {
    if (order.currencyCode !== "EUR") return 0;
    return (await this.checkout.calls.list(cartOf(order))).coveredCents;
  }

  /**
   * Returns why gift cards are not accepted, or undefined.
   *
   * @param order asks the eligibility checker of the payment method about this order too
   */
  async refusalOfCards(ctx: RequestContext, order?: Order): Promise<string | undefined> {
    const method = this.settings.paymentMethodCode;
    const active = await this.methods.getActivePaymentMethods(ctx);
    if (!active.some(({ code }) => code === method))
      return `No enabled payment method of this channel has the code "${method}".`;
    if (!order) return undefined;
    const { paymentMethod, checker } = await this.methods.getMethodAndOperations(ctx, method);
    if (!paymentMethod.checker || !checker) return undefined;
    const answer = await checker.check(ctx, order, paymentMethod.checker.args, paymentMethod);
    return answer === true ? undefined : answer || "This order can't be paid by gift cards.";
  }
}
