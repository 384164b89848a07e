import { RefundError } from "@giftcard-pay/checkout";
import type { ChargeView } from "@giftcard-pay/checkout/operator";
import { planRefund } from "@giftcard-pay/checkout/plugin";
import { chargedStates, heldStates, openStates } from "@giftcard-pay/checkout/store";
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
import { heldCents as heldOf, Orders } from "./orders.js";

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
  ) {}

  /**
   * Refunds a part of the gift card payment, or all of it.
   *
   * @throws {UserInputError} if the amount can't be refunded, with the nearest amounts. Nothing was refunded then
   */
  async refund(call: RefundCall): Promise<CreateRefundResult> {
    const { ctx, order, payment, amountCents } = call;
    const transactionId = payment.transactionId;
    const isMoving = async () => (await this.movingCharges(order.code)).length > 0;
    if (this.orders.isClosing()) {
      if (await isMoving()) return { state: "Pending", transactionId };
      // A person may have decided that the money stays off the card.
      const isBack = (await this.offCents(order.code, payment)) <= heldOf(payment) - amountCents;
      return { state: isBack ? "Settled" : "Failed", transactionId };
    }
    const heldCents = await this.orders.lockHeldCents(ctx, order.code, payment.id);
    try {
      await this.orders.within(ctx, order.code, () => this.reverse(order.code, payment, amountCents, heldCents));
    } catch (error) {
      if (!(error instanceof RefundError)) throw error;
      if (call.isFirst) throw new UserInputError(error.message);
      return { state: "Failed", transactionId, metadata: { message: error.message } };
    }
    return { state: (await isMoving()) ? "Pending" : "Settled", transactionId };
  }

  /** Reverses the charges that add up to an amount. @throws {RefundError} */
  private async reverse(
    code: string,
    payment: Payment,
    amountCents: number,
    heldCents: number,
    // It contains the amount held before, so that a repeated request after a crash is the same refund.
    id = `${payment.id}:${heldCents}:${amountCents}`,
  ): Promise<void> {
    const open = (await this.chargesOf(code, payment)).filter(({ state }) => chargedStates.includes(state));
    const openCents = open.reduce((sum, charge) => sum + charge.amountCents, 0);
    if (amountCents > heldCents || amountCents > openCents)
      throw new RefundError(
        "refund_not_possible",
        `${formatCents(amountCents)} can't be refunded: the cards have only ${formatCents(Math.min(heldCents, openCents))} left.`,
      );
    if (amountCents === openCents) {
      await this.checkout.calls.refundCards(code);
      return;
    }
    const charges = open.map((charge) => ({ ...charge, cents: charge.amountCents })).toReversed();
    const plan = planRefund({ amountCents, charges, remainderCents: 0, rule: "cards-first" });
    if (!plan.isPossible) {
      const near = plan.nearest.map((split) => formatCents(split.amountCents)).join(" or ");
      throw new RefundError(
        "refund_not_possible",
        `${formatCents(amountCents)} can't be refunded to the cards: a charge goes back to its card only as a whole. Possible: ${near}.`,
      );
    }
    await this.checkout.calls.refund(code, { id, amountCents: cents(amountCents), rule: "cards-first" });
  }

  /** Returns the charges of a gift card payment, the newest first. */
  private async chargesOf(code: string, payment: Payment): Promise<ChargeView[]> {
    const charges = await this.checkout.calls.charges(code);
    return charges.filter(({ attemptId }) => attemptId === payment.transactionId);
  }

  /** Returns the charges whose reversal is not confirmed yet. */
  private async movingCharges(code: string): Promise<ChargeView[]> {
    const isMoving = ({ state }: ChargeView) => openStates.includes(state) && !chargedStates.includes(state);
    return (await this.checkout.calls.charges(code)).filter(isMoving);
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
      const ofCards = pending.filter(({ payment }) => payment?.order && this.orders.isCard(payment));
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
      if ((await this.movingCharges(code)).length > 0) return;
      const payment = await this.orders.livePayment(ctx, order.id, paymentId);
      if (!payment) return;
      const [leftCents, offCents] = [heldOf(payment), await this.offCents(code, payment)];
      const fail = () => this.orders.service.transitionRefundToState(ctx, id, "Failed");
      if (offCents > leftCents) {
        try {
          // Vendure stores a pending refund, and asks nobody, if the payment method is disabled.
          await this.reverse(code, payment, totalCents, leftCents + totalCents, `pending:${id}`);
        } catch (error) {
          if (!(error instanceof RefundError)) throw error;
          // A person has decided that the money stays off the card.
          await fail();
          return;
        }
        if ((await this.movingCharges(code)).length > 0) return;
        if ((await this.offCents(code, payment)) > offCents - totalCents) {
          await fail();
          return;
        }
      }
      await this.orders.service.settleRefund(ctx, { id, transactionId: payment.transactionId });
    });
  }

  /** Returns the cents of a gift card payment that are off the cards. */
  private async offCents(code: string, payment: Payment): Promise<number> {
    const charges = (await this.chargesOf(code, payment)).filter(({ state }) => heldStates.includes(state));
    return charges.reduce((sum, { amountCents }) => sum + amountCents, 0);
  }
}
