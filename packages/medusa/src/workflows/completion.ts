import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError, type Engine, type PaymentPlan } from "@giftcard-pay/checkout";
import type { IPaymentModuleService, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MedusaError, Modules } from "@medusajs/framework/utils";
import { StepResponse } from "@medusajs/framework/workflows-sdk";
import { toMedusaError } from "../errors.js";
import type { Release } from "../modules/giftcard/cart-leases.js";
import type { ExpectedCharge, GiftcardService } from "../modules/giftcard/service.js";
import { COVERED_CENTS, GIFTCARD_MODULE } from "../names.js";
import {
  type CartPayment,
  ordersOfCart,
  readCartPayment,
  readCompletion,
  readStanding,
  type SessionView,
} from "./cart-payment.js";
import { createGiftSession, deleteSessions, newOwner } from "./sessions.js";
import { expectRemainder } from "./unpaid-orders.js";

/** What a completion did, as plain data: Medusa keeps it, and `undoCompletion` undoes it. */
export interface CompletionRecord {
  cartId: string;
  /** The attempts that charged, or may have charged, a card. */
  references: string[];
  giftSessionIds: string[];
  /** The remainder's session, where this completion authorized it. */
  remainderSessionId: string | null;
}

/** How long a completion waits for another one of the same cart that is about to give way. */
const PATIENCE_MS = 2000;
const POLL_MS = 100;

const HELD = { hadCards: true, hasCards: true };

interface HookInput {
  input: { id: string };
  /** Only the `validate` hook has it, as it was when Medusa began; no order exists then. */
  cart?: { completed_at?: unknown };
}

interface HookContext {
  container: MedusaContainer;
}

/**
 * The handler of `completeCartWorkflow`'s hook `beforePaymentAuthorization`, or `validate` where that one is taken.
 * Charges the cart's gift cards, then (not in `validate`, where Medusa may still find the goods out of stock) authorizes
 * the remainder. Whatever fails, every card is whole again, or its reversal is written down and goes on.
 *
 * @throws {MedusaError} with the shop's error code in `code`
 */
export async function completeWithGiftcards(
  { input, cart }: HookInput,
  { container }: HookContext,
): Promise<StepResponse<undefined, CompletionRecord | null>> {
  const record: CompletionRecord = {
    cartId: input.id,
    references: [],
    giftSessionIds: [],
    remainderSessionId: null,
  };
  try {
    const isCharged = await chargeAlone(container, record, cart);
    return new StepResponse(undefined, isCharged ? record : null);
  } catch (error) {
    await undoCompletion(record, { container });
    throw toMedusaError(error, container.resolve(ContainerRegistrationKeys.LOGGER));
  }
}

/** Undoes `completeWithGiftcards` after a later step of the completion failed. Never throws. */
export async function undoCompletion(
  record: CompletionRecord | null | undefined,
  { container }: HookContext,
): Promise<void> {
  if (!record) return;
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  const attempt = async (what: string, action: () => Promise<unknown>) => {
    await action().catch((error: Error) =>
      logger.error(`giftcard: ${what} of cart ${record.cartId} failed: ${error.message}`),
    );
  };
  for (const reference of record.references) {
    await attempt("the reversal", () => engine.reverse(reference, "completion_failed"));
  }
  await attempt("the clean-up", async () => {
    const { giftSessions, otherSessions, deadSessions } = await readCartPayment(container, record.cartId);
    const all = [...giftSessions, ...otherSessions, ...deadSessions];
    const remainder = all.find((session) => session.id === record.remainderSessionId);
    const gifts = all.filter((session) => record.giftSessionIds.includes(session.id));
    const undone = remainder && mustGo(remainder) ? [...gifts, remainder] : gifts;
    for (const { payment } of undone) {
      if (payment && !payment.canceled_at) await container.resolve(Modules.PAYMENT).cancelPayment(payment.id);
    }
    // A session whose payment was undone would be taken for paid by the next completion.
    await deleteSessions(container, undone);
  });
}

/**
 * Whether the remainder's session goes with the cards. One that asks the shopper for more stays, for the next try. One
 * that is captured stays too: Medusa itself refunds it, and needs its session for that.
 */
function mustGo({ payment, status }: SessionView): boolean {
  return payment ? !payment.captured_at : status === "pending_authorization";
}

/**
 * Charges while no other process works at the cart. A page's completion holds the cart already; one by a webhook takes it
 * here. Where two processes have placed an order each, the one that doesn't hold the cart fails, and its order goes.
 *
 * @param cart given in `validate`
 * @returns false when the cart has nothing to do with gift cards
 */
async function chargeAlone(
  container: MedusaContainer,
  record: CompletionRecord,
  cart: HookInput["cart"],
): Promise<boolean> {
  const { engine, leases } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const { cartId } = record;
  // What this process holds already, a page with cards completes here.
  const isHeld = leases.isHeld(cartId);
  const { hadCards, hasCards } = isHeld ? HELD : await readStanding(container, cartId);
  if (!hadCards) return false;
  const release = hasCards ? await holdCart(container, cartId) : undefined;
  try {
    const { payment, orderIds } = await readCompletion(container, cartId);
    if (cart === undefined) return await charge(container, record, payment, orderIds);
    if (orderIds.length === 0) return await charge(container, record, payment, []);
    // A completed cart completed again: Medusa answers with the order. One that it read before that, it would order twice.
    const isStale = !cart.completed_at && (await engine.journal.attemptsOfCart(cartId)).length > 0;
    if (isStale) throw new CheckoutError("payment_in_progress");
    return false;
  } finally {
    await release?.();
  }
}

/** @throws {CheckoutError} payment_in_progress where another process holds the cart */
async function holdCart(container: MedusaContainer, cartId: string): Promise<Release> {
  const { leases } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const release = await leases.take(cartId);
    if (release) return release;
    // The only order of the cart is this completion's own: the other call has found it, and will answer with it.
    const isOnly = (await ordersOfCart(container, cartId)).length === 1;
    if (!isOnly || Date.now() > until) throw new CheckoutError("payment_in_progress");
    await sleep(POLL_MS);
  }
}

/** The one order of the cart, once those of completions that don't hold the cart are gone. */
async function onlyOrder(
  container: MedusaContainer,
  cartId: string,
  orderIds: readonly string[],
): Promise<string | undefined> {
  let [orderId, ...others] = orderIds;
  for (const until = Date.now() + 5 * PATIENCE_MS; others.length > 0; ) {
    if (Date.now() > until) throw new CheckoutError("payment_in_progress");
    await sleep(POLL_MS);
    [orderId, ...others] = await ordersOfCart(container, cartId);
  }
  return orderId;
}

/**
 * @param orderIds the order that this completion placed, and those of others beside it; none yet in `validate`
 * @returns false when the cart has nothing to do with gift cards
 */
async function charge(
  container: MedusaContainer,
  record: CompletionRecord,
  payment: CartPayment,
  orderIds: readonly string[],
): Promise<boolean> {
  const giftcard = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const { engine, settings } = giftcard;
  const payments = container.resolve(Modules.PAYMENT);
  if (!payment.isEuro) {
    if (payment.giftSessions.length > 0) throw new CheckoutError("currency_not_supported");
    return false;
  }
  const plan = await settledPlan(engine, payment);
  if (!concernsGiftcards(payment, plan)) return false;
  const orderId = await onlyOrder(container, record.cartId, orderIds);
  const remainder = checkSessions(payment, plan, settings.allowPendingRemainder);
  engine.checkCovers(plan, remainder?.amountCents ?? 0);
  if (plan.parts.length === 0) return false;
  const owner = newOwner();
  const charges: ExpectedCharge[] = [];
  for (const [index, part] of plan.parts.entries()) {
    const made = payment.giftSessions[index]?.id;
    const begin = async (sessionId: string) => {
      if (!made) record.giftSessionIds.push(sessionId);
      const { reference } = await engine.begin(payment.cart, part, sessionId, owner);
      record.references.push(reference);
      // A session that stood there before is this completion's from now on; had another one begun it, it would be theirs.
      if (made) record.giftSessionIds.push(sessionId);
      charges.push({ sessionId, reference });
    };
    if (made) await begin(made);
    else await createGiftSession(container, payment.collectionId ?? "", plan, index, payment.rawTotal, begin);
  }
  for (const one of charges) {
    // Beginning a charge and sending it prolong its own lease: there is more to prolong where others wait meanwhile.
    if (charges.length > 1) await engine.renew(owner);
    await giftcard.expectCharge(one, () => payments.authorizePaymentSession(one.sessionId, {}));
  }
  if (remainder && settings.allowPendingRemainder)
    await expectRemainder(container, remainder.id, record.cartId);
  if (orderId === undefined) return true; // `validate`: the order's subscriber commits, and Medusa authorizes the remainder.
  if (remainder) {
    // Frozen for so long that recovery has taken a card's charge over, this process asks for nothing more.
    if ((await engine.renew(owner)) < charges.length) throw new CheckoutError("payment_in_progress");
    record.remainderSessionId = remainder.id;
    await authorizeRemainder(payments, remainder.id, settings.allowPendingRemainder);
  }
  for (const { reference } of charges) await engine.commit(reference, owner, orderId);
  return true;
}

/** Only a card that is being charged has an attempt which an earlier completion may have left open. */
async function settledPlan(engine: Engine, { cart }: CartPayment): Promise<PaymentPlan> {
  const plan = await engine.plan(cart);
  if (!plan.hasSettling) return plan;
  await engine.settle(cart.id);
  return engine.plan(cart);
}

function concernsGiftcards({ giftSessions, otherSessions }: CartPayment, plan: PaymentPlan): boolean {
  return (
    plan.parts.length > 0 ||
    plan.hasExpired ||
    plan.hasSettling ||
    giftSessions.length > 0 ||
    otherSessions.some((session) => session.metadata?.[COVERED_CENTS] !== undefined)
  );
}

/** @returns the remainder's session, or null where the cards cover the cart */
function checkSessions(payment: CartPayment, plan: PaymentPlan, mayBePending: boolean): SessionView | null {
  const { giftSessions, otherSessions, deadSessions } = payment;
  const isCovered = plan.parts.length > 0 && plan.remainderCents === 0;
  // Medusa authorizes the first of all sessions that it finds: so exactly one may stand there.
  const expected = isCovered ? giftSessions : otherSessions;
  if (expected.length !== 1 || giftSessions.length + otherSessions.length + deadSessions.length !== 1) {
    throw new CheckoutError("amount_changed");
  }
  if (isCovered) return null;
  const remainder = otherSessions[0] as SessionView;
  const isPending = remainder.status === "pending_authorization";
  if (plan.parts.length > 0 && isPending && !mayBePending) throw settlesLater();
  return remainder;
}

const settlesLater = () =>
  new MedusaError(
    MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR,
    "This payment method settles later, so it can't be combined with gift cards. Nothing was taken; choose another method.",
  );

async function authorizeRemainder(
  payments: IPaymentModuleService,
  sessionId: string,
  mayBePending: boolean,
): Promise<void> {
  let failure: unknown = null;
  try {
    // Without a payment, the session's status says how it went.
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
    throw new MedusaError(
      MedusaError.Types.PAYMENT_REQUIRES_MORE_ERROR,
      "More information is required for payment",
    );
  }
  if (failure !== null && !MedusaError.isMedusaError(failure)) throw failure;
  throw new MedusaError(MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR, "Payment authorization failed");
}
