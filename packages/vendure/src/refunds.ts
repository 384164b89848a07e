import { RefundError } from "@giftcard-pay/checkout";
import type { ChargeView } from "@giftcard-pay/checkout/operator";
import { planRefund } from "@giftcard-pay/checkout/plugin";
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
import { Orders } from "./orders.js";

/** What Vendure asks for. */
export interface RefundCall {
  readonly ctx: RequestContext;
  readonly order: Order;
  readonly payment: Payment;
  readonly amountCents: number;
  /** Whether this is the first payment that the call refunds, so that an error undoes nothing. */
  readonly isFirst: boolean;
}

const openStates = ["devalued", "committed", "captured"];
const reversedStates = ["reversed", "refused"];
const PAGE_SIZE = 100;
const MOST_CHARGES = 10_000;

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
    if (this.orders.isClosing()) return { state: "Settled", transactionId };
    const heldCents = await this.orders.lockHeldCents(ctx, order.code, payment.id);
    try {
      await this.orders.within(ctx, order.code, () => this.reverse(order.code, payment, amountCents, heldCents));
    } catch (error) {
      if (!(error instanceof RefundError)) throw error;
      if (call.isFirst) throw new UserInputError(error.message);
      return { state: "Failed", transactionId, metadata: { message: error.message } };
    }
    const isDone = (await this.movingCharges(order.code)).length === 0;
    return { state: isDone ? "Settled" : "Pending", transactionId };
  }

  /** Reverses the charges that add up to an amount. @throws {RefundError} */
  private async reverse(code: string, payment: Payment, amountCents: number, heldCents: number): Promise<void> {
    const open = (await this.chargesOf(code, payment)).filter(({ state }) => openStates.includes(state));
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
    const plan = planRefund({ amountCents, charges, otherCents: 0, rule: "cards-first" });
    if (!plan.isPossible) {
      const near = plan.nearest.map((split) => formatCents(split.amountCents)).join(" or ");
      throw new RefundError(
        "refund_not_possible",
        `${formatCents(amountCents)} can't be refunded to the cards: a charge goes back to its card only as a whole. Possible: ${near}.`,
      );
    }
    // The id contains the amount held before, so that a repeated request after a crash is the same refund.
    const id = `${payment.id}:${heldCents}:${amountCents}`;
    await this.checkout.calls.refund(code, { id, amountCents: cents(amountCents), rule: "cards-first" });
  }

  /** Returns the charges of a gift card payment, the newest first. */
  private async chargesOf(code: string, payment: Payment): Promise<ChargeView[]> {
    const { charges } = await this.checkout.calls.operator.charges({
      ...{ orderIds: [code], sort: "newest", limit: MOST_CHARGES },
    });
    return charges.filter(({ externalId }) => externalId.startsWith(`${payment.transactionId}:`));
  }

  /** Returns the charges whose reversal is not confirmed yet. */
  private async movingCharges(code: string): Promise<ChargeView[]> {
    const { charges } = await this.checkout.calls.operator.charges({ orderIds: [code], limit: MOST_CHARGES });
    return charges.filter(({ state }) => ![...openStates, ...reversedStates, "taken"].includes(state));
  }

  /** Settles Vendure's pending refunds whose charges are reversed. */
  async settlePending(): Promise<void> {
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
      for (const { id, payment } of ofCards) await this.settle(id, payment);
      if (pending.length < PAGE_SIZE) return;
    }
  }

  private async settle(id: Refund["id"], payment: Payment): Promise<void> {
    const { code } = payment.order;
    await this.orders.alone(code, async (ctx) => {
      if ((await this.movingCharges(code)).length > 0) return;
      await this.orders.service.settleRefund(ctx, { id, transactionId: payment.transactionId });
    });
  }
}
