import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import { type Engine, layCharges, type PaymentPlan } from "@giftcard-pay/checkout/plugin";
import type { Tender } from "@giftcard-pay/checkout/store";
import type { IPaymentModuleService, MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { StepResponse } from "@medusajs/framework/workflows-sdk";
import { type CartPayment, readCompletion } from "../cart/cart-payment.js";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { readSoldLines, shareCents } from "../cart/order-lines.js";
import { authorizeCardSession, checkSessions, createGiftSession } from "../cart/sessions.js";
import type { Release } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { giftcardItemsOfOrder, hadCards, ordersOfCart } from "../medusa-tables/carts.js";
import { noteLines } from "../medusa-tables/orders.js";
import { isOversold } from "../medusa-tables/stock.js";
import { expectRemainder } from "../medusa-tables/unpaid-orders.js";
import { PLAN } from "../names.js";
import { type CompletionRecord, voidCompletion } from "./void.js";

const POLL_MS = 100;
/** If a card pays more units, equal ones share a charge, and can only be refunded to the card together. */
const MAX_CHARGES_PER_CARD = 50;
/** How long a completion waits until the order of a completion that gives way to it is deleted. */
const ONLY_ORDER_MS = 10_000;

interface HookInput {
  input: { id: string };
  /** Only the `validate` hook has it, as Medusa read it at the start. No order exists then. */
  cart?: { completed_at?: unknown };
}

/**
 * Handles the hook `beforePaymentAuthorization` of `completeCartWorkflow`, or `validate` if that one is taken. It
 * refuses an order for more units than there are, charges the cart's gift cards, then authorizes the remainder (not in
 * `validate`, since Medusa may still find the goods out of stock). If anything fails, every card is reversed, or its
 * reversal is recorded and retried.
 * @throws {MedusaError} with the shop's error code in `code`
 */
export async function completeWithGiftcards(
  { input, cart }: HookInput,
  { container }: { container: MedusaContainer },
): Promise<StepResponse<undefined, CompletionRecord | null>> {
  const record: CompletionRecord = {
    cartId: input.id,
    orderId: null,
    references: [],
    sessionIds: [],
    remainderSessionId: null,
  };
  let release: Release | null = null;
  try {
    // In `validate`, nothing is reserved yet.
    if (cart === undefined) await checkReserved(container, input.id);
    release = await holdCart(container, input.id, cart !== undefined);
    const isCharged = release !== null && (await chargeWithLease(container, record, cart));
    return new StepResponse(undefined, isCharged ? record : null);
  } catch (error) {
    await voidCompletion(record, { container });
    throw toMedusaError(error, contextOf(container).logger);
  } finally {
    // The response needn't wait for it.
    void release?.();
  }
}

/**
 * Lets the next cart of the queue begin.
 * @throws {CheckoutError} payment_in_progress if two orders have taken the last unit: the next call decides
 */
async function checkReserved(container: MedusaContainer, cartId: string): Promise<void> {
  const { completions, sql } = contextOf(container);
  completions.hasReserved(cartId);
  if (await isOversold(sql, cartId)) throw new CheckoutError("payment_in_progress");
}

/**
 * Takes the lease of the cart for a completion by a webhook; a completion by a page already has it. If two processes
 * have each placed an order, the one without the lease fails, and its order is deleted.
 * @param isBeforeOrder in `validate`
 * @returns null if no card was ever on the cart
 * @throws {CheckoutError} payment_in_progress if another process doesn't end its turn
 */
async function holdCart(container: MedusaContainer, cartId: string, isBeforeOrder: boolean): Promise<Release | null> {
  const { leases, sql } = contextOf(container);
  const joined = await leases.join(cartId);
  if (joined) return joined;
  if (!(await hadCards(sql, cartId))) return null;
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(POLL_MS)) {
    const release = (await leases.join(cartId)) ?? (await leases.takeOver(cartId));
    if (release) return release;
    // The cart's only order is this completion's: the other call has found it, and will answer with it.
    const mayWait = isBeforeOrder || (await ordersOfCart(sql, cartId)).length === 1;
    if (!mayWait || Date.now() > until) throw new CheckoutError("payment_in_progress");
  }
}

/** Charges the cart's cards once the completion has the lease. @returns false if no gift card is involved */
async function chargeWithLease(
  container: MedusaContainer,
  record: CompletionRecord,
  cart: HookInput["cart"],
): Promise<boolean> {
  const { engine } = contextOf(container);
  const { cartId } = record;
  const [{ payment, orderIds }, tenders] = await Promise.all([
    readCompletion(container, cartId),
    engine.journal.tenders(cartId),
  ]);
  if (cart === undefined || orderIds.length === 0) return charge(container, record, { payment, orderIds, tenders });
  // A completed cart is completed again. Medusa answers with its order. But if Medusa read the cart before it was
  // completed, it would order it twice.
  const isStale = !cart.completed_at && (await engine.journal.chargesOfCart(cartId)).length > 0;
  if (isStale) throw new CheckoutError("payment_in_progress");
  return false;
}

/** Waits until the orders of completions without the lease are deleted, and returns the cart's only order. */
async function onlyOrder(
  container: MedusaContainer,
  cartId: string,
  orderIds: readonly string[],
): Promise<string | undefined> {
  let [orderId, ...others] = orderIds;
  for (const until = Date.now() + ONLY_ORDER_MS; others.length > 0; ) {
    if (Date.now() > until) throw new CheckoutError("payment_in_progress");
    await sleep(POLL_MS);
    [orderId, ...others] = await ordersOfCart(contextOf(container).sql, cartId);
  }
  return orderId;
}

/**
 * Charges the cards, then authorizes the remainder, then commits the charges to the order.
 * @param read what it has read with the lease: the cart's payment and tenders, the order that it placed, and orders of
 *   others beside it; none yet in `validate`
 * @returns false if no gift card is involved
 */
async function charge(
  container: MedusaContainer,
  record: CompletionRecord,
  { payment, orderIds, tenders }: { payment: CartPayment; orderIds: readonly string[]; tenders: readonly Tender[] },
): Promise<boolean> {
  const { engine, sql, settings } = contextOf(container);
  const payments = container.resolve(Modules.PAYMENT);
  if (!payment.isEuro) {
    if (payment.giftSessions.length > 0) throw new CheckoutError("currency_not_supported");
    return false;
  }
  const plan = await settledPlan(engine, payment, tenders);
  if (!concernsGiftcards(payment, plan)) return false;
  const orderId = await onlyOrder(container, record.cartId, orderIds);
  const remainder = checkSessions(engine, payment, plan);
  if (plan.parts.length === 0) return false;
  if (remainder?.status === "pending_authorization" && !settings.allowPromisedRemainder) throw settlesLater();
  record.orderId = orderId ?? null;
  const owner = `completion_${randomUUID()}`;
  // Record it before charging: a webhook in another process may authorize this session meanwhile, and
  // `voidCompletion` has to undo that too.
  record.remainderSessionId = remainder?.id ?? null;
  const laid = await layPlan(container, plan, payment, orderId);
  const charges = await engine.chargeAll(payment.cart, laid.parts, {
    owner,
    // Creates a session for each card that pays, unless one is prepared.
    paymentOf: async (index) => {
      const prepared = payment.giftSessions[index]?.id;
      if (prepared !== undefined) return prepared;
      const sessionId = await createGiftSession(container, payment, plan, index);
      record.sessionIds.push(sessionId);
      return sessionId;
    },
    // A prepared session belongs to this completion only now: before, another completion might have begun its charge.
    onBegun: (begun) => {
      for (const { reference, externalId } of begun) {
        record.references.push(reference);
        if (!record.sessionIds.includes(externalId)) record.sessionIds.push(externalId);
      }
    },
    // If the page deletes the session while its card is charged, the charge is reversed.
    onCharged: async (charged) => {
      if (!(await authorizeCardSession(container, charged, owner))) throw new CheckoutError("payment_in_progress");
    },
  });
  if (remainder && settings.allowPromisedRemainder) await expectRemainder(sql, remainder.id, record.cartId);
  // In `validate`, Medusa authorizes the remainder, and the order's subscriber commits the charges.
  if (orderId === undefined) return true;
  if (remainder) await authorizeRemainder(payments, remainder.id, settings.allowPromisedRemainder);
  for (const { reference } of charges) await engine.commit(reference, owner, orderId);
  return true;
}

/** Splits each card's part into charges by the order's lines. Without an order, or with `charges: "whole"`, it stays whole. */
async function layPlan(
  container: MedusaContainer,
  plan: PaymentPlan,
  { cart }: CartPayment,
  orderId: string | undefined,
): Promise<PaymentPlan> {
  const { sql, settings } = contextOf(container);
  if (settings.charges === "whole" || orderId === undefined) return plan;
  const sold = await readSoldLines(container, orderId);
  const giftcardItemIds = settings.cardsBuyCards ? [] : await giftcardItemsOfOrder(sql, cart.id);
  const notByCardCents = cart.notByCardCents ?? 0;
  const isGiftcard = ({ id }: { id: string }) => giftcardItemIds.includes(id);
  const lines = shareCents(
    sold.filter((line) => !isGiftcard(line)),
    cart.totalCents - notByCardCents,
  );
  const noted = [...lines, ...shareCents(sold.filter(isGiftcard), notByCardCents)];
  await noteLines(sql, { orderId, cartId: cart.id }, noted);
  const parts = plan.parts.map(({ amountCents }) => amountCents);
  const laid = layCharges(parts, lines, MAX_CHARGES_PER_CARD);
  return { ...plan, parts: plan.parts.map((part, index) => ({ ...part, charges: laid[index] ?? [] })) };
}

/** Plans the payment. If a card has an unsettled charge of an earlier completion, settles it first. */
async function settledPlan(engine: Engine, { cart }: CartPayment, tenders: readonly Tender[]): Promise<PaymentPlan> {
  const plan = await engine.plan(cart, tenders);
  if (!plan.hasSettling) return plan;
  await engine.recoverCart(cart.id);
  return engine.plan(cart);
}

function concernsGiftcards({ giftSessions, otherSessions, deadSessions }: CartPayment, plan: PaymentPlan): boolean {
  return (
    plan.parts.length > 0 ||
    plan.hasExpired ||
    plan.hasSettling ||
    giftSessions.length > 0 ||
    // Medusa would take one whose payment was refunded for paid.
    deadSessions.length > 0 ||
    otherSessions.some((session) => session.metadata?.[PLAN] !== undefined)
  );
}

const settlesLater = () =>
  new MedusaError(
    MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR,
    "This payment method settles later, so it can't be combined with gift cards. Choose another method.",
  );

async function authorizeRemainder(
  payments: IPaymentModuleService,
  sessionId: string,
  mayBePending: boolean,
): Promise<void> {
  let failure: unknown = null;
  try {
    // Without a payment, the session's status tells the outcome.
    if (await payments.authorizePaymentSession(sessionId, {})) return;
  } catch (error) {
    failure = error;
  }
  const { status } = await payments.retrievePaymentSession(sessionId);
  if (status === "pending_authorization") {
    if (mayBePending) return;
    throw settlesLater();
  }
  if (status === "requires_more") {
    throw new MedusaError(MedusaError.Types.PAYMENT_REQUIRES_MORE_ERROR, "More information is required for payment");
  }
  // A webhook in another process has just authorized it. This attempt may have canceled that.
  if (status === "authorized" || status === "captured") throw new CheckoutError("payment_in_progress");
  if (failure !== null && !MedusaError.isMedusaError(failure)) throw failure;
  throw new MedusaError(MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR, "Payment authorization failed");
}
