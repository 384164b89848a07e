/** Access to Vendure's orders and payments. Changes of an order run one at a time. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  Order,
  OrderService,
  Payment,
  PaymentService,
  RequestContextService,
  TransactionalConnection,
} from "@vendure/core";

/** @typedef {import("@vendure/core").RequestContext} RequestContext */
/** @typedef {{ ctx: RequestContext, code: string, isClosing: boolean }} Open */

export const GIFT_CARD = "giftcard";

/** The order whose transaction this call is in, and whether its payments are being closed. */
const inside = new AsyncLocalStorage();

/** @param {Payment} payment */
const isLive = ({ state }) => state === "Authorized" || state === "Settled";

/** Returns the attempt of a gift card payment, or of the cards that another payment goes with. @param {Payment} payment */
const attemptOf = ({ method, transactionId, metadata }) =>
  method === GIFT_CARD ? transactionId : metadata?.giftCardAttemptId;

/** Returns the part of a payment that was not refunded. @param {Payment} payment */
export const heldCents = ({ amount, refunds }) =>
  amount - refunds.reduce((sum, { state, total }) => sum + (state === "Failed" ? 0 : total), 0);

/** @param {{ get: (what: any) => any }} injector Vendure's application, or the injector of a strategy */
export function openOrders(injector) {
  /** @type {TransactionalConnection} */
  const connection = injector.get(TransactionalConnection);
  /** @type {OrderService} */
  const orderService = injector.get(OrderService);
  /** @type {PaymentService} */
  const paymentService = injector.get(PaymentService);

  /** Returns the payments that hold money, with their refunds. @param {RequestContext} ctx @param {string | number} orderId */
  async function livePayments(ctx, orderId) {
    const found = { where: { order: { id: orderId } }, relations: ["refunds"] };
    return (await connection.getRepository(ctx, Payment).find(found)).filter(isLive);
  }

  /**
   * Returns the gift card payment that holds money, if there is one.
   * @param {RequestContext} ctx
   * @param {string | number} orderId
   */
  const liveCard = async (ctx, orderId) =>
    (await livePayments(ctx, orderId)).find(({ method }) => method === GIFT_CARD);

  /**
   * Locks the order until the transaction ends: nothing else changes it or pays for it.
   * @param {RequestContext} ctx
   * @param {string} code
   */
  async function lock(ctx, code) {
    const orders = connection.getRepository(ctx, Order).createQueryBuilder("o").setLock("pessimistic_write");
    const { id } = await orders.where("o.code = :code", { code }).getOneOrFail();
    const order = await orderService.findOne(ctx, id);
    if (!order) throw new Error("The order is of another channel.");
    return order;
  }

  /**
   * Locks the order and returns the cents that a payment still holds. Vendure has read them before without a lock.
   * @param {RequestContext} ctx
   * @param {string} code
   * @param {string | number} paymentId
   */
  async function lockHeldCents(ctx, code, paymentId) {
    const { id } = await lock(ctx, code);
    const payment = (await livePayments(ctx, id)).find((one) => one.id === paymentId);
    return payment ? heldCents(payment) : 0;
  }

  /**
   * Runs work with a lock on an order, in the current transaction or in a new one.
   * @template T
   * @param {string} code
   * @param {(ctx: RequestContext, order: Order) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async function alone(code, work) {
    const open = /** @type {Open | undefined} */ (inside.getStore());
    if (open?.code === code) return work(open.ctx, await lock(open.ctx, code));
    const admin = await injector.get(RequestContextService).create({ apiType: "admin" });
    return connection.withTransaction(admin, async (ctx) => {
      const order = await lock(ctx, code);
      return inside.run({ ctx, code, isClosing: false }, () => work(ctx, order));
    });
  }

  /**
   * Cancels or refunds the payments of attempts that are over, by their own methods. Payments that belong to no attempt
   * are left alone.
   * @param {string} code
   * @param {(attemptId: string) => boolean} isOver
   */
  const closePayments = (code, isOver) =>
    alone(code, async (ctx, order) => {
      for (const payment of await livePayments(ctx, order.id)) {
        const attemptId = attemptOf(payment);
        if (!attemptId || !isOver(attemptId) || heldCents(payment) === 0) continue;
        const isAuthorized = payment.state === "Authorized";
        const input = { paymentId: payment.id, amount: heldCents(payment), lines: [], reason: "gift card" };
        await inside.run({ ctx, code, isClosing: true }, () =>
          isAuthorized
            ? paymentService.cancelPayment(ctx, payment.id)
            : paymentService.createRefund(ctx, { ...input, shipping: 0, adjustment: 0 }, order, payment),
        );
      }
    });

  /** Returns the cents that other methods hold together with this attempt's cards. @param {string} code @param {string} attemptId */
  const collectedCents = (code, attemptId) =>
    alone(code, async (ctx, order) =>
      (await livePayments(ctx, order.id))
        .filter((payment) => payment.method !== GIFT_CARD && attemptOf(payment) === attemptId)
        .reduce((sum, payment) => sum + heldCents(payment), 0),
    );

  return {
    ...{
      connection,
      orderService,
      livePayments,
      liveCard,
      lock,
      lockHeldCents,
      alone,
      closePayments,
      collectedCents,
    },
    /**
     * Runs work in this order's transaction, without a lock.
     * @param {RequestContext} ctx
     * @param {string} code
     * @param {() => Promise<any>} work
     */
    within: (ctx, code, work) => inside.run({ ctx, code, isClosing: false }, work),
    isClosing: () => /** @type {Open | undefined} */ (inside.getStore())?.isClosing === true,
    /** Starts work outside the transaction, without waiting for it. @param {() => void} work */
    later: (work) => inside.exit(() => setImmediate(work)),
    /**
     * Returns whether the order holds money of an earlier attempt.
     * @param {Payment[]} payments
     * @param {string | undefined} attemptId
     */
    hasOld: (payments, attemptId) =>
      payments.some((payment) => heldCents(payment) > 0 && (attemptOf(payment) ?? attemptId) !== attemptId),
  };
}

/** @typedef {ReturnType<typeof openOrders>} Orders */
