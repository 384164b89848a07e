import { type CheckoutOptions, checkOptions } from "./checkout-options.js";
import { type ChargeView, viewCharge } from "./engine/charge-view.js";
import { createEngine } from "./engine/create-engine.js";
import type { CartView, Engine } from "./engine/engine.js";
import { createReport, guardObserver } from "./engine/observers.js";
import { createOperator, type Operator } from "./operator/operator.js";
import { checkCart, type Order } from "./purchase/order.js";
import { createPurchaseFlow, type PayResult } from "./purchase/pay.js";
import { createPurchaseRecovery } from "./purchase/recovery.js";
import type { OrderRefundPlan, RefundRequest } from "./purchase/refund-request.js";
import { createPurchaseRefunds, type OrderRefund, type PaidBy } from "./purchase/refunds.js";
import { type AuthorizeRemainder, createRemainder } from "./purchase/remainder.js";
import { createPurchaseSteps } from "./purchase/steps.js";
import { createSealer } from "./sealing/seal.js";
import type { Purchase } from "./store/purchase-store.js";

/**
 * The money flow of any shop. Refusals are CheckoutErrors; after each, nothing is taken, or it is owed and goes back.
 * A cart whose fields aren't what they have to be is a TypeError that names the field, before anything moves.
 */
export interface Checkout
  extends Pick<Engine, "environment" | "balance" | "quote" | "apply" | "remove">,
    Operator {
  /** The cart as the gift cards see it. */
  list(cart: CartView): ReturnType<Engine["summary"]>;
  /**
   * Pays an order: the cards first, then the remainder, then both belong to the order. Whatever fails, the cards go back.
   * Twice for one order is one purchase; after a failure or a crash it may be called again.
   *
   * @param options.authorizeRemainder asks the shop's own method; needed where the cards don't cover the total. Only the
   *   answer `authorized` pays
   * @throws {CheckoutError} what a card or the service refuses; payment_in_progress; cart_completed; amount_changed, also
   *   where this order's purchase is of another cart, total or remainder
   * @throws {TypeError} for lines that don't add up to the total, or are missing if `charges` is "by-line": nothing
   *   has moved then; for an answer of authorizeRemainder that is none: everything goes back then
   */
  pay(order: Order, options?: { authorizeRemainder?: AuthorizeRemainder }): Promise<PayResult>;
  /**
   * Asks what became of a pending remainder, and ends the purchase by it. Call it when the shopper comes back, and where a
   * platform collects the remainder itself before it completes the order. A remainder that was paid after its purchase had
   * failed goes back.
   *
   * @throws {CheckoutError} cart_not_found; payment_in_progress; cart_completed
   * @throws what the remainder's `status` throws, and {RemainderFault} where that answers nothing that it may, or nothing
   *   in half of `leaseMs`; the purchase stays as it is then
   */
  confirm(orderId: string): Promise<PayResult>;
  /**
   * Gives everything of a canceled order back: the cards' part, and the remainder by its method's `cancel`. It is written
   * down first; what can't be reversed now is reversed by `recover`. Done twice it is done once. What refunds gave back
   * before isn't given again.
   *
   * @throws {CheckoutError} cart_not_found; payment_in_progress while a refund of the order is being made: nothing has changed
   */
  cancel(orderId: string): Promise<ChargeView[]>;
  /**
   * Tells where a refund of a paid order would go, and moves nothing. See `refund`.
   *
   * @returns what goes to each card and to the remainder's method, in cents; or the nearest amounts that can go back, where
   *   this one can't: a charge goes back to its card only as a whole
   * @throws as `refund`, but for refund_not_possible and refund_in_progress
   */
  refundPlan(orderId: string, request: RefundRequest): Promise<OrderRefundPlan>;
  /**
   * Gives a part of a paid order back: units of its lines, or an amount. It is decided and written down first, one refund
   * of an order at a time; then the charges go back to their cards, then the remainder's part by its method's `refund`. What
   * can't be done now is owed, and done by `recover`. By its id it is done once: the same id again goes on with it where it
   * isn't done, and answers the same.
   *
   * @param request.id the shop's own id of this return; no other refund of any order has it
   * @throws {RefundError} nothing has changed. refund_not_possible where this amount can't go back, or nothing is left, with
   *   the nearest that can; invalid_refund for a request that is none, an id that is another refund's, lines of an order that
   *   was committed without any, units that the order hasn't or not any more, a quantity or an amount that is 0 or less;
   *   order_not_paid; payment_in_progress while the order isn't decided; refund_in_progress while another refund of it is in
   *   work: ask again later
   * @throws {TypeError} where the remainder's method has no `refund` and is needed
   */
  refund(orderId: string, request: RefundRequest & { readonly id: string }): Promise<OrderRefund>;
  /**
   * Gives the cards' part back, and leaves the remainder as it is: of all cards, or one charge, by its reference. An order
   * that isn't paid goes back as a whole.
   *
   * @throws {CheckoutError} cart_not_found; applied_card_not_found where the order has no such charge
   * @throws {RefundError} refund_in_progress while another refund of the order is in work
   */
  refundCards(orderId: string, reference?: string): Promise<ChargeView[]>;
  /**
   * How an order was paid, and what of it went back or is written down to go back, in cents. From the moment in which it is
   * paid, the amounts of cards and remainder are its total; before, and where it failed, it has no cards and 0 of a
   * remainder.
   *
   * @returns null for an order that nobody tried to pay
   */
  paidBy(orderId: string): Promise<PaidBy | null>;
  /** What stands written of an order's payment, or null. */
  read(orderId: string): Promise<Purchase | null>;
  /**
   * Says that an order is paid, cards and remainder, for this total: the last look before it is completed. Only the shop
   * itself can take it back then, by `cancel`, `refund` or `refundCards`.
   *
   * @param totalCents the order's total, as it is about to be completed
   * @throws {CheckoutError} payment_in_progress while it isn't decided; amount_changed where it isn't paid (any more), a
   *   part of it went back, or for another total
   */
  assertPaid(orderId: string, totalCents: number): Promise<Purchase>;
  /**
   * Ends what crashes, lost answers and closed tabs left. Call it each minute, from as many processes as you like. What
   * fails is written down with its `lastError`, tried again later, and stops nothing else.
   *
   * @throws when the store can't be used at all
   */
  recover(): Promise<{ purchases: Purchase[]; charges: ChargeView[] }>;
}

const MINUTE_MS = 60_000;

/**
 * Makes the money flow of a shop on any server.
 *
 * @throws {TypeError} naming the option that is wrong
 */
export function createCheckout(options: CheckoutOptions): Checkout {
  checkOptions(options);
  const { store, sealingKeys, leaseMs = 2 * MINUTE_MS, pendingLifeMs = 30 * MINUTE_MS } = options;
  const { journal, purchases } = store;
  const { store: _store, sealingKeys: _keys, remainder: _remainder, pendingLifeMs: _life, ...rest } = options;
  const { onPurchase: _onPurchase, charges, maxChargesPerCard = 50, ...engineOptions } = rest;
  const sealer = createSealer({ keys: sealingKeys });
  const engine = createEngine({ ...engineOptions, journal, sealer, leaseMs });
  // Half of a lease, so that a call has ended before anybody else may make it.
  const remainder = createRemainder(options.remainder, leaseMs / 2);
  const report = createReport(options.onFailure);
  const tell = guardObserver(options.onPurchase, report);
  const shared = { engine, journal, purchases, remainder, leaseMs, tell, report };
  const steps = createPurchaseSteps(shared);
  const flowOptions = { pendingLifeMs, charges, maxChargesPerCard };
  const { pay, confirm, assertPaid } = createPurchaseFlow({ ...shared, steps, ...flowOptions });
  const { refundCards, ...refunds } = createPurchaseRefunds({ ...shared, steps });
  const recovery = createPurchaseRecovery({ ...shared, steps, confirm, refundCards });
  return {
    environment: engine.environment,
    balance: engine.balance,
    quote: async (cart, card) => engine.quote(checkCart(cart), card),
    apply: async (cart, request, also) => engine.apply(checkCart(cart), request, also),
    remove: async (cart, tenderId, also) => engine.remove(checkCart(cart), tenderId, also),
    list: async (cart) => engine.summary(checkCart(cart)),
    pay,
    confirm,
    assertPaid,
    cancel: async (orderId) => (await recovery.cancel(orderId)).map(viewCharge),
    ...refunds,
    refundCards: async (orderId, reference) =>
      (await recovery.refundCards(orderId, reference)).map(viewCharge),
    read: (orderId) => purchases.read(orderId),
    recover: recovery.recover,
    ...createOperator({ engine, sealer, client: options.client, purchases, retryPurchase: recovery.retry }),
  };
}
