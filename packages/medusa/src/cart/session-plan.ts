import type { Engine, PaymentPlan } from "@giftcard-pay/checkout/plugin";
import type { SessionView } from "../medusa-tables/carts.js";
import { PLAN } from "../names.js";
import type { CartPayment } from "./cart-payment.js";

/** Which cards pay how much. A card that is entered again, after its time has run out, is the same. */
const noteOf = ({ parts }: PaymentPlan) =>
  parts.map(({ lastFour, amountCents }) => `${lastFour}:${amountCents}`).join(" ");

/** What a session that is made for this plan says of it. */
export function planMetadata(plan: PaymentPlan): Record<string, string> {
  return plan.parts.length > 0 ? { [PLAN]: noteOf(plan) } : {};
}

/** Whether a session of another method is for what this plan's cards leave to pay. */
export function isForRemainder({ amountCents, metadata }: SessionView, plan: PaymentPlan): boolean {
  return amountCents === plan.remainderCents && (metadata?.[PLAN] ?? "") === noteOf(plan);
}

/** Whether the cards pay the whole cart. */
export const isCovered = (plan: PaymentPlan) => plan.parts.length > 0 && plan.remainderCents === 0;

/**
 * Compares what was prepared for a completion with what it would charge now: the same cards, the same cents. Medusa
 * authorizes the first of all sessions that it finds, so exactly one may stand there.
 *
 * @returns the session of the remainder, or null where nothing remains
 * @throws {CheckoutError} payment_in_progress, applied_card_expired or amount_changed, by the cause
 */
export function checkSessions(engine: Engine, payment: CartPayment, plan: PaymentPlan): SessionView | null {
  const { cart, giftSessions, otherSessions, deadSessions } = payment;
  const all = [...giftSessions, ...otherSessions, ...deadSessions];
  // Medusa wants no session for a cart that is free.
  if (all.length === 0 && cart.totalCents === 0) return null;
  const [gift] = giftSessions;
  const [remainder] = otherSessions;
  const fits = isCovered(plan)
    ? gift?.amountCents === plan.parts[0]?.amountCents && gift?.metadata?.[PLAN] === noteOf(plan)
    : remainder !== undefined && isForRemainder(remainder, plan);
  // No remainder is -1, so this says why it doesn't fit.
  engine.checkCovers(plan, all.length === 1 && fits ? plan.remainderCents : -1);
  return remainder ?? null;
}
