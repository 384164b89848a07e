import { Inject, Injectable } from "@nestjs/common";
import { type ID, Payment, type Refund, type RequestContext, TransactionalConnection } from "@vendure/core";
import { SETTINGS } from "./constants.js";
import type { Settings } from "./options.js";

/** The states of payments that hold money. */
export const liveStates: readonly Payment["state"][] = ["Authorized", "Settled"];

/** The part of a payment to which its refunds are added up. */
type Refunded = Pick<Payment, "amount"> & { refunds: readonly Refund[] };

/** Returns the part of a payment that no refund has returned or promised. A failed refund has returned nothing. */
export const leftCents = ({ amount, refunds }: Refunded): number =>
  amount - refunds.reduce((sum, { state, total }) => sum + (state === "Failed" ? 0 : total), 0);

/**
 * Returns the money that a payment really holds. Vendure itself counts the amount of a pending refund as still paid. A payment
 * that is canceled, declined or in any other state holds nothing.
 */
export const heldCents = (payment: Refunded & Pick<Payment, "state">): number =>
  liveStates.includes(payment.state) ? leftCents(payment) : 0;

/** Returns the sum of what payments hold. Every decision about an order's money uses it. */
export const heldCentsOf = (payments: readonly Payment[]): number =>
  payments.reduce((sum, payment) => sum + heldCents(payment), 0);

/** Reads the payments of orders, and to which attempt of the cards each belongs. */
@Injectable()
export class Money {
  /** @internal */
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(TransactionalConnection) private readonly connection: TransactionalConnection,
  ) {}

  /** Whether a payment is the order's gift card payment. */
  isCard = ({ method }: Pick<Payment, "method">): boolean => method === this.settings.paymentMethodCode;

  /** Returns the attempt of a gift card payment, or of the cards that another payment goes with. */
  attemptOf = (payment: Payment): string | undefined =>
    this.isCard(payment) ? payment.transactionId : payment.metadata?.giftcardAttemptId;

  /** Returns all payments of an order with their refunds. */
  payments(ctx: RequestContext, orderId: ID): Promise<Payment[]> {
    return this.connection.getRepository(ctx, Payment).find({
      where: { order: { id: orderId } },
      relations: ["refunds"],
      order: { id: "ASC" },
    });
  }

  /** Returns the payments that hold money, or whose refunds have returned it, with their refunds. */
  async live(ctx: RequestContext, orderId: ID): Promise<Payment[]> {
    return (await this.payments(ctx, orderId)).filter(({ state }) => liveStates.includes(state));
  }

  /** Returns the live payments as they are committed, by a connection of its own. In a transaction, the pool may have none left. */
  async committed(code: string): Promise<Payment[]> {
    const found = { where: { order: { code } }, relations: ["refunds"] };
    return (await this.connection.rawConnection.getRepository(Payment).find(found)).filter(({ state }) =>
      liveStates.includes(state),
    );
  }

  /** Returns the cents that other methods hold together with this attempt's cards. @param payments the order's live payments */
  collectedCents(payments: readonly Payment[], attemptId: string): number {
    return heldCentsOf(payments.filter((one) => !this.isCard(one) && (this.attemptOf(one) ?? attemptId) === attemptId));
  }

  /** Whether a payment holds money of an earlier attempt, which is being returned. */
  isOld(payment: Payment, attemptId: string | undefined): boolean {
    return heldCents(payment) > 0 && (this.attemptOf(payment) ?? attemptId) !== attemptId;
  }

  /** Whether any of the payments holds money of an earlier attempt. */
  hasOld(payments: readonly Payment[], attemptId: string | undefined): boolean {
    return payments.some((payment) => this.isOld(payment, attemptId));
  }
}
