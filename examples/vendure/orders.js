/** Vendure's orders and their payments, as the gift cards need them: one order at a time, and one at once. */
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

/** Which order this call is in the transaction of, and whether its payments are being closed just now. */
const inside = new AsyncLocalStorage();

/** @param {Payment} payment */
const isLive = ({ state }) => state === "Authorized" || state === "Settled";

/** A gift card payment is made by one run of the checkout; another one is made beside it. @param {Payment} payment */
const runOf = ({ method, transactionId, metadata }) =>
  method === GIFT_CARD ? transactionId : metadata?.giftCardRun;

/** What of a payment was not refunded. @param {Payment} payment */
export const heldCents = ({ amount, refunds }) =>
  amount - refunds.reduce((sum, { state, total }) => sum + (state === "Failed" ? 0 : total), 0);

/** @param {{ get: (what: any) => any }} injector Vendure's application, or what it gives to a strategy */
export function openOrders(injector) {
  /** @type {TransactionalConnection} */
  const connection = injector.get(TransactionalConnection);
  /** @type {OrderService} */
  const orderService = injector.get(OrderService);
  /** @type {PaymentService} */
  const paymentService = injector.get(PaymentService);

  /** The payments that hold money, with their refunds. @param {RequestContext} ctx @param {string | number} orderId */
  async function livePayments(ctx, orderId) {
    const found = { where: { order: { id: orderId } }, relations: ["refunds"] };
    return (await connection.getRepository(ctx, Payment).find(found)).filter(isLive);
  }

  /**
   * The gift card payment that holds money, if there is one.
   * @param {RequestContext} ctx
   * @param {string | number} orderId
   */
  const liveCard = async (ctx, orderId) =>
    (await livePayments(ctx, orderId)).find(({ method }) => method === GIFT_CARD);

  /**
   * Nobody else changes the order, or pays for it here, until the transaction ends.
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
   * What a payment still holds, once nobody else refunds it: Vendure has looked before.
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
   * Works on an order alone: in the transaction that this call is in already, or in a new one.
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
   * Gives the payments of an order back that are a run's: those that were only authorized are cancelled, the others
   * refunded, by their own methods. A payment that is none of any run's is left alone.
   * @param {string} code
   * @param {(attemptId: string) => boolean} isOver
   */
  const closePayments = (code, isOver) =>
    alone(code, async (ctx, order) => {
      for (const payment of await livePayments(ctx, order.id)) {
        const attemptId = runOf(payment);
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

  /** What the other methods hold beside this run's cards. @param {string} code @param {string} attemptId */
  const collectedCents = (code, attemptId) =>
    alone(code, async (ctx, order) =>
      (await livePayments(ctx, order.id))
        .filter((payment) => payment.method !== GIFT_CARD && runOf(payment) === attemptId)
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
     * Works in this order's transaction, without a lock.
     * @param {RequestContext} ctx
     * @param {string} code
     * @param {() => Promise<any>} work
     */
    within: (ctx, code, work) => inside.run({ ctx, code, isClosing: false }, work),
    isClosing: () => /** @type {Open | undefined} */ (inside.getStore())?.isClosing === true,
    /** What is begun here isn't waited for, and is in no transaction. @param {() => void} work */
    later: (work) => inside.exit(() => setImmediate(work)),
    /**
     * Whether money of a run that is over stands on the order.
     * @param {Payment[]} payments
     * @param {string | undefined} attemptId
     */
    hasOld: (payments, attemptId) =>
      payments.some((payment) => heldCents(payment) > 0 && (runOf(payment) ?? attemptId) !== attemptId),
  };
}

/** @typedef {ReturnType<typeof openOrders>} Orders */
