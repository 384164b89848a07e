import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { notRefunded } from "../errors.js";
import { noteLines } from "../medusa-tables/orders.js";
import { withOrder } from "./balanced-books.js";
import { planRest } from "./bulk-plan.js";
import type { PlannedOrder } from "./bulk-store.js";
import { captureFirst, type OrderBooks, readBooks, sumOfCaptures } from "./order-books.js";
import { findWanted, refundParts, type SplitRefund, toOwedRefund } from "./order-refund.js";

/** The refunds of an order that a person can make on its page. */
export type OrderRefund = Awaited<ReturnType<typeof readOrderRefund>>;

/**
 * Reads what an order owes its customer after a return, claim, exchange or edit, and what is left of it, and how both can be
 * refunded. Changes nothing and calls nobody.
 * @returns `rest`: null if nothing is left, or the order is canceled; its `why` is null if it is possible, else it has no
 * parts; `isAll`: nothing was refunded or settled before
 * @throws {MedusaError} if there is no such order
 */
export async function readOrderRefund(container: MedusaContainer, orderId: string) {
  const books = await readBooks(container, orderId);
  const rest = await planRest(container, books);
  const owed = toOwedRefund(books);
  if (rest === null) return { ...owed, rest };
  const { amountCents } = rest;
  const isAll = books.refunds.length === 0 && books.settledCents === 0;
  const plan = "why" in rest ? { parts: [], why: rest.why } : { parts: rest.parts, why: null };
  return { ...owed, rest: { amountCents, isAll, ...plan } };
}

/**
 * Refunds everything that is left of an order, for example because its show is off and the order was exchanged or edited.
 * Captures first what isn't captured yet.
 * @param wanted the rest that the person has seen. It is refunded only if it is still the same
 * @param actor the id of the person, for Medusa's captures and refunds
 * @throws {MedusaError} if it has changed, or if a payment can't be captured or refunded
 */
export const refundRest = (
  container: MedusaContainer,
  orderId: string,
  wanted: unknown,
  actor: string | undefined,
): Promise<SplitRefund> =>
  withOrder(container, orderId, async (books, keep) => {
    await findRest(container, books, wanted);
    const now = await captureFirst(container, books, { actor, keep });
    // The order may have changed while a slow payment method captured.
    const { amountCents, parts, units } = await findRest(container, now, { ...(wanted as object), captureCents: 0 });
    if (!now.isNoted) await noteLines(contextOf(container).sql, now, now.lines);
    const named = { actor, keep, units: new Map(Object.entries(units)) };
    await refundParts(container, { amountCents, parts }, named, 0);
    return { amountCents, parts };
  });

async function findRest(container: MedusaContainer, books: OrderBooks, wanted: unknown): Promise<PlannedOrder> {
  const rest = await planRest(container, books);
  if (rest !== null && "why" in rest) throw notRefunded(...rest.why);
  return findWanted(rest === null ? [] : [rest], sumOfCaptures(books.captures), wanted);
}
