import type { Cents } from "@giftcard-pay/client";
import { type CheckoutOptions, checkOptions } from "./checkout-options.js";
import { type ChargeView, viewCharge } from "./engine/charge-view.js";
import { createEngine } from "./engine/create-engine.js";
import type { CartView, Engine } from "./engine/engine.js";
import { createReport, guardObserver } from "./engine/observers.js";
import { type CheckoutHealth, createOperator, type Operator, readCheckoutHealth } from "./operator/operator.js";
import type { OrderPayment } from "./purchase/order-payment.js";
import { checkCart, createPurchaseFlow, type Order } from "./purchase/paying/pay.js";
import { createPurchaseRecovery, type Recovered, type RecoverOptions } from "./purchase/recovery.js";
import {
  createPurchaseRefunds,
  type OrderRefundPlan,
  type PaidBy,
  type RefundedPayment,
  type RefundRequest,
} from "./purchase/refunding/refunds.js";
import { createRemainder } from "./purchase/remainder.js";
import { createPurchaseSteps } from "./purchase/steps.js";
import { answerWebhook } from "./purchase/webhook.js";
import { createSealer, readSealingKeys } from "./sealing/seal.js";
import type { Purchase } from "./store/purchase-store.js";
import type { ApplyRequest, CartSummary } from "./storefront.js";

/**
 * The money flow of any shop. Refusals are CheckoutErrors. After a refusal, nothing was taken, or recovery returns it.
 * Invalid fields of a cart cause a TypeError that names the field, before any money moves.
 */
export interface Checkout extends Pick<Engine, "environment" | "balance" | "quote"> {
  /** The calls for the shop's own staff: decisions, reconciliation and statements. */
  readonly operator: Operator;
  /**
   * Applies a quoted card, or quotes and applies one. Takes no money.
   *
   * @throws {CheckoutError} the refusal
   */
  apply(cart: CartView, request: ApplyRequest): Promise<CartSummary>;
  /** Removes the applied card with this id. @throws {CheckoutError} applied_card_not_found; payment_in_progress */
  remove(cart: CartView, id: string): Promise<CartSummary>;
  /** Returns the applied cards, the amount that they cover, and the remainder. */
  list(cart: CartView): Promise<CartSummary>;
  /**
   * Pays an order: charges the cards, then authorizes the remainder. If anything fails, the cards are reversed. Idempotent by
   * the order's id; call it again after a failure or a crash. If the cart has changed since a payment that is still pending,
   * that one is given up as by `abandon`.
   *
   * @param options.input passed to `authorize` of the remainder method
   * @throws {CheckoutError} refusals; payment_in_progress; cart_completed; amount_changed, also if the order was paid before
   *   with another cart, total or plan
   * @throws {TypeError} if the lines are invalid; no money has moved then
   * @throws errors of the remainder method. The cards are reversed then
   */
  pay(order: Order, options?: { readonly input?: unknown }): Promise<OrderPayment>;
  /**
   * Reads the status of a pending remainder, and completes or voids the payment. Call it when the shopper returns, or
   * before a platform completes the order. A remainder that was paid too late is canceled.
   *
   * @throws {CheckoutError} order_not_found; payment_in_progress; cart_completed
   * @throws errors of the remainder method; {RemainderFault} such as `status:wrong_amount` or `status:timeout`. Nothing has
   *   changed then
   */
  confirm(orderId: string): Promise<OrderPayment>;
  /**
   * Gives up a pending payment, so that the shopper can pay in another way. A payment that has arrived completes the order
   * instead.
   *
   * @throws as `confirm`
   */
  abandon(orderId: string): Promise<OrderPayment>;
  /**
   * Handles a notification of the remainder method, such as Stripe's webhook, like `confirm`.
   *
   * @param request with its body unread
   * @returns 204 if it is handled or is about something else, 400 if it isn't the method's, 503 if it has to be sent again
   */
  webhook(request: Request): Promise<Response>;
  /**
   * Refunds a canceled order in full: reverses its card charges and cancels the remainder. This is recorded first, and
   * `recover` retries steps that fail. Idempotent. Earlier refunds are not refunded again.
   *
   * @param attemptId cancels this attempt only, not a later one
   * @throws {CheckoutError} order_not_found; payment_in_progress during a refund of the order; then nothing has changed
   */
  cancel(orderId: string, attemptId?: string): Promise<OrderPayment>;
  /**
   * Returns how a refund of a paid order would be split, without refunding anything.
   *
   * @returns the shares of the cards and of the remainder method, in cents; or the nearest possible amounts, because a charge
   *   is only reversed as a whole
   * @throws as `refund`
   */
  refundPlan(orderId: string, request: RefundRequest): Promise<OrderRefundPlan>;
  /**
   * Refunds units of a paid order's lines, or an amount. The refund is recorded first, one per order at a time. Then its
   * charges are reversed, and the remainder method's `refund` is called. `recover` retries steps that fail. Idempotent by its
   * id: a repeated call continues the refund, and returns the same result.
   *
   * @param request.id the shop's own id of this return; unique within the order
   * @throws {CheckoutError} order_not_found; {RefundError} nothing has changed then
   * @throws {TypeError} if the remainder method's `refund` is required and missing
   */
  refund(orderId: string, request: RefundRequest & { readonly id: string }): Promise<RefundedPayment>;
  /**
   * Refunds the cards' part of an order alone: all charges, or a single one. If the order isn't paid, its payment is voided.
   *
   * @throws {CheckoutError} order_not_found; applied_card_not_found if the order has no such charge
   * @throws {RefundError} refund_in_progress during another refund of the order
   */
  refundCards(orderId: string, reference?: string): Promise<ChargeView[]>;
  /**
   * Returns how an order was paid, how much of it was refunded, and how much is still to be returned. Before it is paid, there
   * are no cards and a remainder of 0.
   *
   * @throws {CheckoutError} order_not_found
   */
  paidBy(orderId: string): Promise<PaidBy>;
  /** Returns the payment of an order. @throws {CheckoutError} order_not_found */
  read(orderId: string): Promise<OrderPayment>;
  /** Returns the charges of an order's attempts to pay, the newest first. Each has the id of its attempt. @throws as `read` */
  charges(orderId: string): Promise<ChargeView[]>;
  /**
   * Checks that an order is paid for exactly this total. A platform calls it last before it completes the order. From then on,
   * only the shop can undo the payment, by `cancel`, `refund` or `refundCards`.
   *
   * @throws {CheckoutError} order_not_found; payment_in_progress while the payment is not decided; amount_changed if it isn't paid (any more),
   *   was partly refunded, or has another total
   */
  assertPaid(orderId: string, totalCents: Cents): Promise<Purchase>;
  /**
   * Settles what crashes, lost responses and closed tabs left unfinished. Call it every minute, from any number of
   * processes. A step that fails is recorded and retried later. A remainder method that doesn't respond delays its own orders
   * only.
   *
   * @throws if the store can't be used
   */
  recover(options?: RecoverOptions): Promise<Recovered>;
  /** Returns the health of the shop's gift cards: the issuer, the API key, clocks, sealing keys, and open charges. */
  health(): Promise<CheckoutHealth>;
}

const MINUTE_MS = 60_000;

/**
 * Makes the checkout of a shop.
 *
 * @throws {TypeError} naming the invalid option
 */
export function createCheckout(options: CheckoutOptions): Checkout {
  checkOptions(options);
  const { issuer, store, leaseMs = 2 * MINUTE_MS, pendingRemainderMs = 30 * MINUTE_MS } = options;
  const { journal, purchases } = store;
  const keys = typeof options.sealingKeys === "string" ? readSealingKeys(options.sealingKeys) : options.sealingKeys;
  const { charges, maxChargesPerCard = 50, leastRemainderCents = options.remainder?.leastCents ?? 0 } = options;
  const sealer = createSealer({ keys });
  const engine = createEngine({ ...options, journal, sealer, leaseMs, leastRemainderCents });
  const { environment } = engine;
  const companyId = issuer.companyId as number;
  // Half of a lease, so that a call has ended before another process can repeat it.
  const remainder = createRemainder(options.remainder, leaseMs / 2);
  const report = createReport(options.onFailure);
  const announce = guardObserver(options.onPurchase, report);
  const shared = { engine, journal, purchases, remainder, leaseMs, announce, report };
  const steps = createPurchaseSteps(shared);
  const flowOptions = { pendingRemainderMs, charges, maxChargesPerCard };
  const { notice, ...flow } = createPurchaseFlow({ ...shared, steps, ...flowOptions });
  const { cancel, refundCards, ...refunds } = createPurchaseRefunds({ ...shared, steps });
  const recovery = createPurchaseRecovery({ ...shared, steps, confirm: flow.confirm });
  return {
    environment,
    balance: engine.balance,
    quote: async (cart, card) => engine.quote(checkCart(cart), card),
    apply: async (cart, request) => engine.apply(checkCart(cart), request),
    remove: async (cart, id) => engine.remove(checkCart(cart), id),
    list: async (cart) => engine.summary(checkCart(cart)),
    ...flow,
    webhook: (request) => answerWebhook(() => notice(request), report),
    cancel: async (orderId, attemptId) => steps.paymentOf(await cancel(orderId, attemptId)),
    ...refunds,
    refundCards: async (orderId, reference) => (await refundCards(orderId, reference)).map(viewCharge),
    read: async (orderId) => steps.paymentOf(await steps.known(orderId)),
    charges: async (orderId) => (await steps.chargesOfOrder(orderId)).map(viewCharge),
    recover: recovery.recover,
    health: () => readCheckoutHealth({ environment, issuer, sealer, journal }, purchases),
    operator: createOperator({ engine, sealer, companyId, purchases, ...recovery.byHand }),
  };
}
