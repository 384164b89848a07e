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
  Refund,
  type RequestContext,
  UserInputError,
} from "@vendure/core";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure } from "./constants.js";
import { leftCents, Money } from "./money.js";
import { Orders } from "./orders.js";

/** The refund that Vendure requests. */
export interface RefundCall {
  readonly ctx: RequestContext;
  readonly order: Order;
  readonly payment: Payment;
  readonly amountCents: number;
  /** Whether this is the first payment that the call refunds, so that an error undoes nothing. */
  readonly isFirst: boolean;
}

const PAGE_SIZE = 100;

/** Refunds the gift card payment of an order to its cards, by whole charges. */
@Injectable()
export class CardRefunds {
  constructor(
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
  ) {}

  /**
   * Refunds a part of the gift card payment, or all of it.
   *
   * @throws {UserInputError} if the amount can't be refunded, with the nearest amounts. Nothing was refunded then
   */
  async refund(call: RefundCall): Promise<CreateRefundResult> {
    const { ctx, order, payment, amountCents } = call;
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
      const refusal = await this.reverse(
        code,
        payment,
        openCents,
        heldCents,
        `${payment.id}:${heldCents}:${amountCents}`,
      );
      if (refusal !== undefined && call.isFirst) throw new UserInputError(refusal);
      if (refusal !== undefined) return { state: "Failed", transactionId, metadata: { message: refusal } };
    }
    return { state: (await this.isMoving(code, payment)) ? "Pending" : "Settled", transactionId };
  }

  /**
   * Reverses the charges that add up to an amount.
   *
   * @param heldCents what Vendure's payment holds
   * @param id contains the amount held before, so that a repeated request after a crash is the same refund
   * @returns why that is not possible; nothing was refunded then
   */
  private async reverse(
    code: string,
    payment: Payment,
    amountCents: number,
    heldCents: number,
    id: string,
  ): Promise<string | undefined> {
    const open = (await this.chargesOf(code, payment)).filter(({ state }) => chargedStates.includes(state));
    const openCents = open.reduce((sum, charge) => sum + charge.amountCents, 0);
    if (amountCents > heldCents || amountCents > openCents)
      return `${formatCents(amountCents)} can't be refunded: the cards have only ${formatCents(Math.min(heldCents, openCents))} left.`;
    const charges = open.map((charge) => ({ ...charge, cents: charge.amountCents })).toReversed();
    const plan = planRefund({ amountCents, charges, remainderCents: 0, rule: "cards-first" });
    if (!plan.isPossible) {
      const near = plan.nearest.map((split) => formatCents(split.amountCents)).join(" or ");
      return `${formatCents(amountCents)} can't be refunded to the cards: a charge goes back to its card only as a whole. Possible: ${near}.`;
    }
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
    for (let skip = 0; ; skip += PAGE_SIZE) {
      const pending = await refunds.find({
        where: { state: "Pending" },
        relations: ["payment", "payment.order"],
        order: { id: "ASC" },
        take: PAGE_SIZE,
        skip,
      });
      const ofCards = pending.filter(({ payment }) => payment?.order && this.money.isCard(payment));
      for (const { id, total, payment } of ofCards)
        await this.finishRefund(id, total, payment).catch((error: unknown) => logFailure(error, payment.order.code));
      if (pending.length < PAGE_SIZE) return;
    }
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
      const refusal = isOff && (await this.reverse(code, payment, totalCents, left + totalCents, `pending:${id}`));
      if (isOff && !refusal && (await this.isMoving(code, payment))) return;
      // A person may have decided that the money stays off the card.
      if (refusal || (isOff && (await this.offCents(code, payment)) > offCents - totalCents))
        await this.orders.service.transitionRefundToState(ctx, id, "Failed");
      else await this.orders.service.settleRefund(ctx, { id, transactionId: payment.transactionId });
    });
  }

  /** Returns the cents of a gift card payment that are off the cards. */
  private async offCents(code: string, payment: Payment): Promise<number> {
    const charges = (await this.chargesOf(code, payment)).filter(({ state }) => heldStates.includes(state));
    return charges.reduce((sum, { amountCents }) => sum + amountCents, 0);
  }
}
