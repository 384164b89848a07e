import { AsyncLocalStorage } from "node:async_hooks";
import { Inject, Injectable } from "@nestjs/common";
import {
  type ID,
  Logger,
  Order,
  OrderService,
  Payment,
  PaymentService,
  type Refund,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
} from "@vendure/core";
import { LOGGER, logFailure, SETTINGS } from "./constants.js";
import type { Settings } from "./options.js";

/** The order whose transaction a call is in, and whether its payments are being closed. */
interface Open {
  readonly ctx: RequestContext;
  readonly code: string;
  readonly isClosing: boolean;
}

/**
 * How a row is locked against other changes. On databases without locks, Vendure runs one transaction at a time. On
 * PostgreSQL, rows that refer to the order can still be added, which a full lock would make wait, up to a deadlock.
 */
const locks: Readonly<Record<string, "for_no_key_update" | "pessimistic_write">> = {
  ...{ postgres: "for_no_key_update", "aurora-postgres": "for_no_key_update" },
  ...{ mysql: "pessimistic_write", mariadb: "pessimistic_write", "aurora-mysql": "pessimistic_write" },
};

/** How often a refund that a provider refuses is tried before it is left to a person. */
const MOST_TRIES = 3;

/** Reads what tells attempts that are over. */
type ReadOver = () => Promise<(attemptId: string, payment: Payment) => boolean>;

const DEFAULT_CHANNEL = "__default_channel__";

/** The states of payments that hold money. */
export const liveStates: readonly Payment["state"][] = ["Authorized", "Settled"];

/** Returns the part of a payment that was not refunded. */
export const heldCents = ({ amount, refunds }: Pick<Payment, "amount"> & { refunds: readonly Refund[] }): number =>
  amount - refunds.reduce((sum, { state, total }) => sum + (state === "Failed" ? 0 : total), 0);

/** Returns the sum of what payments hold. */
export const heldCentsOf = (payments: readonly Payment[]): number =>
  payments.reduce((sum, payment) => sum + heldCents(payment), 0);

/** Reads, locks and closes Vendure's orders and payments. Changes of an order run one at a time. */
@Injectable()
export class Orders {
  readonly #inside = new AsyncLocalStorage<Open>();
  /** The ends of the work on orders, if the database has no locks. */
  readonly #turns = new Map<string, Promise<void>>();

  /** @internal */
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(TransactionalConnection) readonly connection: TransactionalConnection,
    @Inject(OrderService) readonly service: OrderService,
    @Inject(PaymentService) readonly payments: PaymentService,
    @Inject(RequestContextService) private readonly contexts: RequestContextService,
  ) {}

  /** Whether a payment is the order's gift card payment. */
  isCard = ({ method }: Pick<Payment, "method">): boolean => method === this.settings.paymentMethodCode;

  /** @internal Returns the attempt of a gift card payment, or of the cards that another payment goes with. */
  attemptOf(payment: Payment): string | undefined {
    return this.isCard(payment) ? payment.transactionId : payment.metadata?.giftcardAttemptId;
  }

  /** Returns the payments that hold money, with their refunds. */
  async livePayments(ctx: RequestContext, orderId: ID): Promise<Payment[]> {
    const found = { where: { order: { id: orderId } }, relations: ["refunds"] };
    return (await this.connection.getRepository(ctx, Payment).find(found)).filter(({ state }) =>
      liveStates.includes(state),
    );
  }

  /** @internal Returns one of the payments that hold money. */
  async livePayment(ctx: RequestContext, orderId: ID, id: ID): Promise<Payment | undefined> {
    return (await this.livePayments(ctx, orderId)).find((payment) => payment.id === id);
  }

  /** @internal Whether the order has a payment by the same method with the same id at the provider. */
  async isRecorded(ctx: RequestContext, orderId: ID, { id, method, transactionId }: Payment): Promise<boolean> {
    if (!transactionId) return false;
    const same = (await this.service.getOrderPayments(ctx, orderId)).filter((one) => one.method === method);
    return same.some(
      (one) =>
        one.id !== id && one.transactionId === transactionId && /^(Authorized|Settled|Cancelled)$/.test(one.state),
    );
  }

  /** @internal Returns the gift card payment that holds money, if there is one. */
  async liveCard(ctx: RequestContext, orderId: ID): Promise<Payment | undefined> {
    return (await this.livePayments(ctx, orderId)).find(this.isCard);
  }

  /** Locks the order until the transaction ends: nothing else changes it or pays for it. Without a transaction, only reads it. */
  async lock(ctx: RequestContext, code: string): Promise<Order> {
    const query = this.connection.getRepository(ctx, Order).createQueryBuilder("o");
    const lock = locks[this.connection.rawConnection.options.type];
    if (lock && this.isInTransaction(ctx)) query.setLock(lock as "pessimistic_write");
    const { id } = await query.where("o.code = :code", { code }).getOneOrFail();
    const order = await this.service.findOne(ctx, id);
    if (!order) throw new Error("The order is not visible in its channel.");
    return order;
  }

  /** @internal Whether a context is in a transaction. Some providers add payments without one. */
  isInTransaction(ctx: RequestContext): boolean {
    return this.connection.getRepository(ctx, Order).manager.queryRunner?.isTransactionActive === true;
  }

  /** Locks the order and returns the cents that a payment still holds. Vendure has read them before without a lock. */
  async lockHeldCents(ctx: RequestContext, code: string, paymentId: ID): Promise<number> {
    const { id } = await this.lock(ctx, code);
    const payment = await this.livePayment(ctx, id, paymentId);
    return payment ? heldCents(payment) : 0;
  }

  /** @internal Runs work with a lock on an order, in the current transaction or in a new one. @param origin as for `contextOf` */
  async alone<T>(
    code: string,
    work: (ctx: RequestContext, order: Order) => Promise<T>,
    origin?: RequestContext,
  ): Promise<T> {
    const open = this.#inside.getStore();
    if (open?.code === code) return work(open.ctx, await this.lock(open.ctx, code));
    const admin = await this.contextOf(code, origin);
    const run = () =>
      this.connection.withTransaction(admin, async (ctx) => {
        const order = await this.lock(ctx, code);
        return this.#inside.run({ ctx, code, isClosing: false }, () => work(ctx, order));
      });
    return locks[this.connection.rawConnection.options.type] ? run() : this.inTurn(code, run);
  }

  /** Runs work on an order after the work that this process is doing on it. On SQLite, all transactions share a connection. */
  private async inTurn<T>(code: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(code) ?? Promise.resolve()).then(work);
    const end = turn.then(
      () => {},
      () => {},
    );
    this.#turns.set(code, end);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(code) === end) this.#turns.delete(code);
    }
  }

  /**
   * @internal
   * Makes the context of the order's own channel: its payment methods and their settings belong to that channel.
   *
   * @param origin the shopper's context. Vendure's e-mails take their language and the address of images from it
   */
  async contextOf(code: string, origin?: RequestContext): Promise<RequestContext> {
    const order = await this.connection.rawConnection
      .getRepository(Order)
      .findOneOrFail({ where: { code }, relations: ["channels"] });
    const own = order.channels.find((channel) => channel.code !== DEFAULT_CHANNEL) ?? order.channels[0];
    return this.contexts.create({
      apiType: "admin",
      ...(own && { channelOrToken: own.token }),
      ...(origin && { languageCode: origin.languageCode, ...(origin.req && { req: origin.req }) }),
    });
  }

  /**
   * @internal
   * Cancels or refunds the payments of attempts that are over, by their own methods. Payments that belong to no attempt are
   * left alone.
   *
   * @param readOver returns whether an attempt is over; called with the order's lock
   * @returns whether all of them are closed; false if a provider refuses a refund
   */
  async closePayments(code: string, readOver: ReadOver): Promise<boolean> {
    let isClosed = true;
    for (const id of await this.overPayments(code, readOver))
      if (!(await this.closePayment(code, id))) isClosed = false;
    return isClosed;
  }

  /** @internal Returns the ids of the payments that hold money of attempts that are over. */
  overPayments(code: string, readOver: ReadOver): Promise<ID[]> {
    return this.alone(code, async (ctx, order) => {
      const payments = await this.livePayments(ctx, order.id);
      const isOver = await readOver();
      return payments
        .filter((payment) => {
          const attemptId = this.attemptOf(payment);
          return heldCents(payment) > 0 && attemptId !== undefined && isOver(attemptId, payment);
        })
        .map(({ id }) => id);
    });
  }

  /** Closes a payment in a transaction of its own, so that a later failure can't undo the record of the provider's refund. */
  private async closePayment(code: string, id: ID): Promise<boolean> {
    try {
      return await this.alone(code, async (ctx, order) => {
        const payment = await this.livePayment(ctx, order.id, id);
        if (!payment || heldCents(payment) === 0) return true;
        if (payment.refunds.filter(({ state }) => state === "Failed").length >= MOST_TRIES) return false;
        if (await this.close(ctx, order, payment)) return true;
        Logger.error(`Order ${code}: a payment by ${payment.method} could not be refunded. Refund it by hand.`, LOGGER);
        return false;
      });
    } catch (error) {
      // Inside a larger transaction, nothing may be stored after a failure.
      if (this.isInside(code)) throw error;
      logFailure(error, code);
      return false;
    }
  }

  private async close(ctx: RequestContext, order: Order, payment: Payment): Promise<boolean> {
    if (payment.state === "Settled") return this.refundPart(ctx, order, payment, heldCents(payment), true);
    const canceled = await this.closing(ctx, order.code, () => this.payments.cancelPayment(ctx, payment.id));
    return "state" in canceled && canceled.state === "Cancelled";
  }

  /**
   * @internal
   * Refunds a part of a payment by its own method.
   *
   * @param isClosing whether the cards' money is returned already
   * @returns false if the provider refuses it
   */
  async refundPart(
    ctx: RequestContext,
    order: Order,
    payment: Payment,
    amount: number,
    isClosing: boolean,
  ): Promise<boolean> {
    const input = { paymentId: payment.id, amount, lines: [], reason: "gift card", shipping: 0, adjustment: 0 };
    const refund = () => this.payments.createRefund(ctx, input, order, payment);
    const made = await (isClosing ? this.closing(ctx, order.code, refund) : refund());
    return "state" in made && made.state !== "Failed";
  }

  /** @internal Returns the cents that other methods hold together with this attempt's cards. */
  collectedCents(code: string, attemptId: string): Promise<number> {
    return this.alone(code, async (ctx, order) => {
      const payments = await this.livePayments(ctx, order.id);
      const beside = payments.filter((one) => !this.isCard(one) && (this.attemptOf(one) ?? attemptId) === attemptId);
      return heldCentsOf(beside);
    });
  }

  /** @internal Whether the order holds money of an earlier attempt. */
  hasOld(payments: readonly Payment[], attemptId: string | undefined): boolean {
    return payments.some((payment) => heldCents(payment) > 0 && (this.attemptOf(payment) ?? attemptId) !== attemptId);
  }

  /** @internal Runs work in this order's transaction, without a lock. */
  within<T>(ctx: RequestContext, code: string, work: () => Promise<T>): Promise<T> {
    return this.#inside.run({ ctx, code, isClosing: false }, work);
  }

  private closing<T>(ctx: RequestContext, code: string, work: () => Promise<T>): Promise<T> {
    return this.#inside.run({ ctx, code, isClosing: true }, work);
  }

  /** @internal Whether this call is inside a transaction of this order, which may be rolled back. */
  isInside(code: string): boolean {
    return this.#inside.getStore()?.code === code;
  }

  /** @internal Whether the payments are being closed: the cards' money is returned already, and Vendure only records it. */
  isClosing(): boolean {
    return this.#inside.getStore()?.isClosing === true;
  }

  /** @internal Runs work outside of any order's transaction. */
  outside<T>(work: () => T): T {
    return this.#inside.exit(work);
  }
}
