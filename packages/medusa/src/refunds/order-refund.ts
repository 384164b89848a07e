import {
  type Charge,
  planRefund,
  type RefundPlan,
  type RefundRule,
  type RefundSplit,
  toOpenCharge,
} from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { refundPaymentWorkflow } from "@medusajs/medusa/core-flows";
import { fromCents } from "../amount.js";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { turnOfOrder } from "../medusa-tables/carts.js";
import { type OpenPayment, type RefundableOrder, readRefundable } from "../medusa-tables/order-refund.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import { readRefunds } from "../medusa-tables/payments.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findUnknownRefunds } from "../medusa-tables/unrecorded-payments.js";
import { endCreditLines } from "../recovery/credit-lines.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { finishRefunds } from "../recovery/unrecorded-payments.js";
import { REFUND_CHARGES } from "../refund-metadata.js";

/** One payment's part of a refund. */
export interface RefundPart {
  readonly paymentId: string;
  readonly providerId: string;
  /** Of a card; null for another method. */
  readonly lastFour: string | null;
  readonly cents: number;
  /** The card's charges that go back. */
  readonly references: readonly string[];
}

/** How a sum goes back: to which payments, and how much to each. */
export interface SplitRefund {
  readonly amountCents: number;
  readonly parts: readonly RefundPart[];
}

/** What an order owes its customer, and where that can go. */
export interface OwedRefund {
  readonly orderId: string;
  readonly owedCents: number;
  /** Whether exactly what is owed can go back. */
  readonly isPossible: boolean;
  /** The one way where it is possible; the nearest ones where it isn't. */
  readonly splits: readonly SplitRefund[];
}

/** An order's payments that can give something back, with the charges of those by card. */
export interface Basis extends RefundableOrder {
  readonly charges: readonly Charge[];
  /** Those that can still go back in the shop's books: charged, or back for a refund that Medusa doesn't have. */
  readonly open: readonly Charge[];
}

/** What an order's refund is planned on. @throws {MedusaError} where there is no such order */
export async function readBasis(container: MedusaContainer, orderId: string): Promise<Basis> {
  const { engine, runSql } = contextOf(container);
  const order = await readRefundable(runSql, orderId);
  if (!order) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such order.");
  const charges: Charge[] = [];
  const open: Charge[] = [];
  for (const { sessionId, leftCents } of order.payments.filter(({ isGiftcard }) => isGiftcard)) {
    const own = await engine.journal.chargesOfPayment(sessionId);
    const booked = (await readRefunds(runSql, sessionId))?.refunds.map(({ id }) => id) ?? [];
    const isBooked = ({ refundId }: Charge) => refundId !== null && booked.includes(refundId);
    charges.push(...own);
    // A payment that was canceled, or never captured, has nothing to refund.
    if (leftCents > 0)
      open.push(...own.filter((charge) => openStates.includes(charge.state) && !isBooked(charge)));
  }
  return { ...order, charges, open };
}

const openStates: readonly string[] = ["captured", "reversing", "reversed"];

const sumCents = (parts: readonly { readonly cents: number }[]) =>
  parts.reduce((sum, { cents }) => sum + cents, 0);

/** Plans how an amount goes back, of what the order's payments still hold. */
export function planOf(order: Basis, amountCents: number, rule: RefundRule): RefundPlan {
  const others = order.payments.filter(({ isGiftcard }) => !isGiftcard);
  return planRefund({
    amountCents,
    charges: order.open.map(toOpenCharge),
    reversed: order.charges.filter((charge) => !order.open.includes(charge)),
    otherCents: others.reduce((sum, { leftCents }) => sum + leftCents, 0),
    lines: order.lines ?? [],
    returned: order.returned,
    rule,
  });
}

/** Names the payments of a split: each card's charges by its payment, and other methods from the last one on. */
export function toSplit({ payments, charges }: Basis, split: RefundSplit): SplitRefund {
  const gone = new Set(split.charges.map(({ reference }) => reference));
  let leftCents = split.otherCents;
  const partOf = (payment: OpenPayment): RefundPart => {
    const { id: paymentId, providerId, sessionId, isGiftcard } = payment;
    if (!isGiftcard) {
      const cents = Math.min(leftCents, payment.leftCents);
      leftCents -= cents;
      return { paymentId, providerId, lastFour: null, cents, references: [] };
    }
    const own = charges.filter(
      ({ externalId, reference }) => externalId === sessionId && gone.has(reference),
    );
    const cents = sumCents(own.map(toOpenCharge));
    const references = own.map(({ reference }) => reference);
    return { paymentId, providerId, lastFour: own[0]?.lastFour ?? null, cents, references };
  };
  const others = payments.filter(({ isGiftcard }) => !isGiftcard).toReversed();
  const parts = [...payments.filter(({ isGiftcard }) => isGiftcard), ...others].map(partOf);
  return { amountCents: split.amountCents, parts: parts.filter(({ cents }) => cents > 0) };
}

function toOwedRefund(order: Basis, amountCents: number, rule: RefundRule): OwedRefund {
  const { orderId } = order;
  if (amountCents === 0) return { orderId, owedCents: 0, isPossible: true, splits: [] };
  const plan = planOf(order, amountCents, rule);
  const splits = plan.isPossible ? [plan.split] : plan.nearest;
  return {
    ...{ orderId, owedCents: amountCents, isPossible: plan.isPossible },
    splits: splits.map((split) => toSplit(order, split)),
  };
}

/**
 * What an order owes its customer after a return, claim, exchange or edit, and how that goes back to its cards and its
 * other payments. Changes nothing and calls nobody.
 *
 * @throws {MedusaError} where there is no such order
 */
export async function readOwedRefund(container: MedusaContainer, orderId: string): Promise<OwedRefund> {
  const order = await readBasis(container, orderId);
  return toOwedRefund(order, order.owedCents, contextOf(container).settings.refundRule);
}

/** Where nobody knows whether a refund was made, another one could give the same money back twice. */
export const UNDECIDED =
  "A refund by the other payment method was begun, and nobody knows whether it was made: decide that first, under Jobs that fail.";

/** The same of an order that no card pays: nobody follows its refunds. */
const UNBOOKED =
  "A refund of its payment was begun, and Medusa never booked it: look at the payment method, and refund it on its own page.";

/** Why no more of an order is refunded now: a refund by another method was begun, and never booked. null where none was. */
export async function whyUndecided(
  container: MedusaContainer,
  { orderId, charges }: Pick<Basis, "orderId" | "charges">,
): Promise<string | null> {
  const unknown = await findUnknownRefunds(scanOnly(contextOf(container).runSql, orderId));
  if (unknown.length === 0) return null;
  return charges.length > 0 ? UNDECIDED : UNBOOKED;
}

/** What a person is told whose refund failed: its answer may be what was lost. */
export const UNSURE =
  "Where the payment method gave no clear answer, the money may have gone back: look there before you try again.";

/** A refund of some payments that stopped in between. What is done is done, and in Medusa's books. */
const stopped = (failure: unknown, doneCents: number) =>
  new MedusaError(
    MedusaError.Types.UNEXPECTED_STATE,
    `The refund stopped: ${faultOf(failure)} ` +
      `${(doneCents / 100).toFixed(2)} euro of it is refunded for certain. ${UNSURE}`,
  );

/**
 * Gives back what an order owes, through Medusa's own refunds: the cards first, then the other payments.
 *
 * @param wanted the split that the person has seen; it is done only if it is still one of those that are offered
 * @param actor the id of the person, for Medusa's refunds
 * @throws {MedusaError} where something else is owed by now, or where a payment can't be refunded
 */
export async function refundOrder(
  container: MedusaContainer,
  orderId: string,
  wanted: unknown,
  actor: string | undefined,
): Promise<SplitRefund> {
  const { leases, runSql, settings } = contextOf(container);
  const before = await readBasis(container, orderId);
  const release = await leases.wait(await turnOfOrder(runSql, orderId), PATIENCE_MS);
  try {
    if (before.cartId !== null) await finishRefunds(container, before.cartId);
    await endCreditLines(container, orderId);
    const order = await readBasis(container, orderId);
    const { splits, owedCents } = toOwedRefund(order, order.owedCents, settings.refundRule);
    const split = splits.find((one) => isSame(one, wanted));
    if (!split) throw refusal(isSplit(wanted) ? NOT_ANY_MORE : NO_SPLIT);
    const undecided = await whyUndecided(container, order);
    if (undecided !== null) throw refusal(undecided);
    if (split.amountCents > owedCents && (await hasOpenChange(runSql, orderId)))
      throw refusal(
        "An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it first.",
      );
    await refundParts(container, split, actor);
    return split;
  } finally {
    await release();
  }
}

/** @throws {MedusaError} that says how much was refunded before it failed */
async function refundParts(
  container: MedusaContainer,
  { parts }: SplitRefund,
  actor: string | undefined,
): Promise<void> {
  const done: RefundPart[] = [];
  for (const part of parts) {
    try {
      await refundPart(container, part, { actor });
    } catch (error) {
      throw stopped(error, sumCents(done));
    }
    done.push(part);
  }
}

/**
 * Refunds one payment's part, through Medusa's own refund.
 *
 * @param also what stands beside Medusa's refund
 * @throws what Medusa or the payment method fails with
 */
export async function refundPart(
  container: MedusaContainer,
  { paymentId, cents, references }: RefundPart,
  { actor, also = {} }: { actor?: string | undefined; also?: Record<string, unknown> },
): Promise<void> {
  const named = references.length > 0 ? { [REFUND_CHARGES]: references } : {};
  const metadata = { ...named, ...also };
  const input = { payment_id: paymentId, amount: fromCents(cents), created_by: actor, metadata };
  await refundPaymentWorkflow(container).run({ input: input as never });
}

const NO_SPLIT = "Send one of the splits that GET answers: { amountCents, parts }.";
const NOT_ANY_MORE = "This isn't one of the splits, or what is owed has changed. Look at it again.";

const isSplit = (wanted: unknown): wanted is SplitRefund => {
  const { amountCents, parts } = (wanted ?? {}) as Partial<SplitRefund>;
  return typeof amountCents === "number" && Array.isArray(parts);
};

/** Whether what a person has confirmed is this split: the same sum, the same payments, and the same cents of each. */
function isSame({ amountCents, parts }: SplitRefund, wanted: unknown): boolean {
  const key = (part: Partial<RefundPart> | null) => `${part?.paymentId} ${part?.cents}`;
  if (!isSplit(wanted) || wanted.amountCents !== amountCents) return false;
  return parts.map(key).sort().join() === wanted.parts.map(key).sort().join();
}

const refusal = (message: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, `${message} Nothing was refunded.`, "invalid_request");
