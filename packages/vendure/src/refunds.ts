import { RefundError } from "@giftcard-pay/checkout";
import type { ChargeView } from "@giftcard-pay/checkout/operator";
import { planRefund } from "@giftcard-pay/checkout/plugin";
import { chargedStates, heldStates, openStates, soldStates } from "@giftcard-pay/checkout/store";
import { cents, formatCents } from "@giftcard-pay/client";
import { Inject, Injectable } from "@nestjs/common";
import {
  type CreateRefundResult,
  type Order,
  type Payment,
  type PaymentService,
  Refund,
  type RequestContext,
  UserInputError,
} from "@vendure/core";
import { IsNull, Not } from "typeorm";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure, SETTINGS } from "./constants.js";
import { linesOf } from "./lines.js";
import { heldCentsOf, leftCents, Money } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";

type RefundInput = Parameters<PaymentService["createRefund"]>[1];

const onlyLeft = (amountCents: number, leftCents: number): string =>
  `${formatCents(amountCents)} can't be refunded: the cards have only ${formatCents(leftCents)} left.`;

const sumOf = (charges: readonly ChargeView[]): number =>
  charges.reduce((sum, { amountCents }) => sum + amountCents, 0);

/** Refunds the gift card payment of an order to its cards, by whole charges. */
@Injectable()
export class CardRefunds {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
  ) {}

  /**
   * Refunds a part of the gift card payment, or all of it.
   *
   * @throws {UserInputError} if the amount can't be refunded, with the nearest amounts. Nothing was refunded then
   */
  async refund(
    ctx: RequestContext,
    { paymentId, lines }: RefundInput,
    amountCents: number,
    order: Order,
    payment: Payment,
  ): Promise<CreateRefundResult> {
    const { code } = order;
    const transactionId = payment.transactionId;
    const heldCents = await this.orders.lockHeldCents(ctx, code, payment.id);
    // Charges that are back without a refund in Vendure: its transaction was lost, or the order doesn't need the payment.
    const backCents = heldCents - (await this.offCents(code, payment));
    const openCents = amountCents - Math.max(0, backCents);
    if (openCents > 0) {
      const { state, attemptId } = await this.checkout.read(code);
      // A person may have decided that the money stays off the card.
      if (!soldStates.includes(state) || attemptId !== transactionId) return { state: "Failed", transactionId };
      const refusal =
        (amountCents > heldCents ? onlyLeft(amountCents, heldCents) : undefined) ??
        (await this.refusalOf(ctx, order, payment, openCents, lines)) ??
        (await this.reverse(code, payment, openCents, `${payment.id}:${heldCents}:${amountCents}`));
      // It is the first payment that the call refunds, so an error undoes nothing.
      if (refusal !== undefined && String(paymentId) === String(payment.id)) throw new UserInputError(refusal);
      if (refusal !== undefined) return { state: "Failed", transactionId, metadata: { message: refusal } };
    }
    return { state: (await this.isMoving(code, payment)) ? "Pending" : "Settled", transactionId };
  }

  /**
   * Returns why no charges of a payment add up to an amount, with the nearest possible amounts.
   *
   * @param given the returned lines, if they are known: the cards are to return their part of these
   */
  async refusalOf(
    ctx: RequestContext,
    { id, code }: Pick<Order, "id" | "code">,
    payment: Payment,
    amountCents: number,
    given: RefundInput["lines"] = [],
  ): Promise<string | undefined> {
    const all = (await this.chargesOf(code, payment)).toReversed();
    const open = all.filter(({ state }) => chargedStates.includes(state));
    const openCents = sumOf(open);
    if (amountCents > openCents) return onlyLeft(amountCents, openCents);
    const charges = open.map((charge) => ({ ...charge, cents: charge.amountCents }));
    const plan = planRefund({ amountCents, charges, remainderCents: 0, rule: "cards-first" });
    if (plan.isPossible) return undefined;
    const order = await this.orders.service.findOne(ctx, id);
    const returned = new Map((given ?? []).map((line) => [`line-${line.orderLineId}`, line.quantity]));
    const others = (await this.money.live(ctx, id)).filter((one) => !this.money.isCard(one));
    const isByLine = order !== undefined && returned.size > 0;
    const both = planRefund({
      ...{ amountCents, charges, remainderCents: Math.max(0, heldCentsOf(others)) },
      rule: isByLine ? "as-paid" : "cards-first",
      ...(isByLine && { lines: linesOf(order), returned, reversed: all.filter((one) => !open.includes(one)) }),
    });
    const near = plan.nearest.map((split) => formatCents(split.amountCents)).join(" or ");
    const rest = both.isPossible ? both.split.remainderCents : 0;
    const here = rest < amountCents ? `${formatCents(amountCents - rest)} here and ` : "";
    return (
      `${formatCents(amountCents)} can't be refunded to the cards: a charge goes back to its card only as a whole. ` +
      `Possible: ${near}${rest > 0 ? `; or ${here}${formatCents(rest)} by another payment` : ""}.`
    );
  }

  /**
   * Reverses the charges that add up to an amount.
   *
   * @param id contains the amount held before, so that a repeated request after a crash is the same refund
   * @returns why that is not possible; nothing was refunded then
   */
  private async reverse(code: string, payment: Payment, amountCents: number, id: string): Promise<string | undefined> {
    const openCents = sumOf((await this.chargesOf(code, payment)).filter(({ state }) => chargedStates.includes(state)));
    try {
      if (amountCents === openCents) await this.checkout.calls.refundCards(code);
      else await this.checkout.calls.refund(code, { id, amountCents: cents(amountCents), rule: "cards-first" });
      return undefined;
    } catch (error) {
      if (error instanceof RefundError) return error.message;
      throw error;
    }
  }

  /** Returns the charges of a gift card payment, the newest first. */
  private async chargesOf(code: string, payment: Payment): Promise<ChargeView[]> {
    const charges = await this.checkout.calls.charges(code);
    return charges.filter(({ attemptId }) => attemptId === payment.transactionId);
  }

  /** Whether a reversal of the payment's charges is not confirmed yet. */
  private async isMoving(code: string, payment: Payment): Promise<boolean> {
    const isMoving = ({ state }: ChargeView) => openStates.includes(state) && !chargedStates.includes(state);
    return (await this.chargesOf(code, payment)).some(isMoving);
  }

  /** Settles Vendure's pending refunds whose charges are reversed. */
  async finishPending(): Promise<void> {
    const refunds = this.orders.connection.rawConnection.getRepository(Refund);
    const pending = await refunds.find({
      where: { state: "Pending", payment: { method: this.settings.paymentMethodCode, order: { id: Not(IsNull()) } } },
      ...{ relations: ["payment", "payment.order"], take: 1000 },
    });
    for (const { id, total, payment } of pending)
      await this.finishRefund(id, total, payment).catch((error: unknown) => logFailure(error, payment.order.code));
  }

  /** Settles a pending refund whose money is back on the cards. If it isn't, and can't be, the refund has failed. */
  private async finishRefund(
    id: Refund["id"],
    totalCents: number,
    { id: paymentId, order: { code } }: Payment,
  ): Promise<void> {
    await this.orders.alone(code, async (ctx, order) => {
      const payment = (await this.money.payments(ctx, order.id)).find((one) => one.id === paymentId);
      if (!payment || (await this.isMoving(code, payment))) return;
      const [left, offCents] = [leftCents(payment), await this.offCents(code, payment)];
      const isOff = offCents > left;
      // Vendure stores a pending refund, and asks nobody, if the payment method is disabled.
      const refusal =
        isOff &&
        ((await this.refusalOf(ctx, order, payment, totalCents)) ??
          (await this.reverse(code, payment, totalCents, `pending:${id}`)));
      if (isOff && !refusal && (await this.isMoving(code, payment))) return;
      // A person may have decided that the money stays off the card.
      if (refusal || (isOff && (await this.offCents(code, payment)) > offCents - totalCents))
        await this.orders.service.transitionRefundToState(ctx, id, "Failed");
      else await this.orders.service.settleRefund(ctx, { id, transactionId: payment.transactionId });
    });
  }

  /** Returns the cents of a gift card payment that are off the cards. */
  async offCents(code: string, payment: Payment): Promise<number> {
    return sumOf((await this.chargesOf(code, payment)).filter(({ state }) => heldStates.includes(state)));
  }
}
