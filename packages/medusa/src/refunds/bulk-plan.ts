import { formatCents } from "@giftcard-pay/client";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { contextOf } from "../context/context.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import { findSold, nameOfSold, type Sold, type SoldOrder } from "../medusa-tables/sold-items.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { type BulkRefundPlan, isHeld, type PlannedOrder, type RefusedOrder } from "./bulk-store.js";
import { type OrderBooks, readBooks, type UnitsBack } from "./order-books.js";
import { planOf, toSplit, unexplainedText, whyUndecided } from "./order-refund.js";

const id = z.string().min(1).max(200);
const soldSchema = z.union([
  z.strictObject({ variantId: id }),
  z.strictObject({ productId: id }),
  z.strictObject({ orderIds: z.array(id).min(1).max(10_000) }),
]);

/** Reads what to refund from a request. @throws {MedusaError} if it isn't one of the three shapes */
export function readSold(input: unknown): Sold {
  const { success, data } = soldSchema.safeParse(input);
  if (success) return data;
  throw new MedusaError(
    MedusaError.Types.INVALID_DATA,
    "Say what to refund: { variantId }, { productId } or { orderIds: [...] }.",
  );
}

/** How many orders are read in parallel. */
const AT_ONCE = 4;

/**
 * Plans a refund of everything that was sold of something. Changes nothing and calls nobody.
 * @throws {MedusaError} if there is no such product or variant
 */
export async function planBulkRefund(container: MedusaContainer, sold: Sold): Promise<BulkRefundPlan> {
  const { sql } = contextOf(container);
  const [title, found] = [await nameOfSold(sql, sold), await findSold(sql, sold)];
  if (title === null) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such product or variant.");
  const orders: PlannedOrder[] = [];
  const refused = missingOf(sold, found);
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE);
    for (const planned of await Promise.all(some.map((order) => planOrder(container, sold, order)))) {
      if (planned && "why" in planned) refused.push(planned);
      else if (planned) orders.push(planned);
    }
  }
  return { sold, title, orders, refused, ...sumsOf(orders) };
}

function missingOf(sold: Sold, found: readonly SoldOrder[]): RefusedOrder[] {
  if (!("orderIds" in sold)) return [];
  const known = new Set(found.map(({ orderId }) => orderId));
  const why = "There is no such order, or it is canceled.";
  const missing = [...new Set(sold.orderIds)].filter((id) => !known.has(id));
  return missing.map((orderId) => ({ orderId, orderName: "?", amountCents: 0, why }));
}

function sumsOf(orders: readonly PlannedOrder[]): Pick<BulkRefundPlan, "amountCents" | "sums"> {
  const sums = new Map<string, BulkRefundPlan["sums"][number]>();
  for (const { providerId, lastFour, cents } of orders.flatMap(({ parts }) => parts)) {
    const before = sums.get(providerId)?.cents ?? 0;
    sums.set(providerId, { providerId, isCard: lastFour !== null, cents: before + cents });
  }
  const inOrder = [...sums.values()].sort((a, b) => Number(b.isCard) - Number(a.isCard));
  return { amountCents: orders.reduce((sum, { amountCents }) => sum + amountCents, 0), sums: inOrder };
}

/**
 * Plans one order's part; null if nothing of it is left to refund. If an order can't be planned, it is listed with
 * the reason, and the plan of the others doesn't fail.
 * @param bulkRefundId the bulk refund whose own hold on the order doesn't count
 */
export async function planOrder(
  container: MedusaContainer,
  sold: Sold,
  order: SoldOrder,
  bulkRefundId?: string,
): Promise<PlannedOrder | RefusedOrder | null> {
  try {
    return await planBooks(container, sold, await readBooks(container, order.orderId), bulkRefundId);
  } catch (error) {
    const why = `It can't be planned (${faultOf(error)}): look at it, and refund it on its own page.`;
    return { ...order, amountCents: 0, why };
  }
}

/**
 * Computes the refund for these units, without what is already owed. For an order that isn't fully paid, it is their
 * value.
 */
function worthOf(
  { isNoted, dueCents, leftCents, owedCents, back: before, keptCents, owedWith }: OrderBooks,
  back: UnitsBack,
) {
  const worthCents = keptCents(before) - keptCents(back);
  const isPlain = !isNoted || dueCents > 0 || leftCents < worthCents;
  return isPlain ? worthCents : Math.min(worthCents, owedWith(back) - owedCents);
}

/** Returns the units that are back once everything that was sold of it is. */
function backWith(sold: Sold, { items, back }: OrderBooks): UnitsBack {
  const all = new Map(back);
  // Shipping is only refunded with a whole order.
  for (const { item, sold: count } of items)
    if (
      "orderIds" in sold ||
      ("variantId" in sold ? sold.variantId === item.variantId : sold.productId === item.productId)
    )
      all.set(item.id, count);
  return all;
}

async function planBooks(
  container: MedusaContainer,
  sold: Sold,
  books: OrderBooks,
  bulkRefundId: string | undefined,
): Promise<PlannedOrder | RefusedOrder | null> {
  const { orderId, orderName, leftCents, owedCents, dueCents } = books;
  const isWhole = "orderIds" in sold;
  const back = backWith(sold, books);
  const amountCents = isWhole ? leftCents : worthOf(books, back);
  const isUncaptured = books.payments.some(({ uncapturedCents }) => uncapturedCents > 0);
  if (amountCents === 0 && !(isWhole && isUncaptured)) return null;
  const refuse = (why: string): RefusedOrder => ({ orderId, orderName, amountCents, why });
  const why = await whyRefused();
  if (why !== null) return refuse(why);
  const plan = planOf(books, amountCents, back, contextOf(container).settings.refundRule);
  if (plan.isPossible) {
    const { parts } = toSplit(books, plan.split);
    return { orderId, orderName, units: Object.fromEntries(back), amountCents, parts };
  }
  const nearest = plan.nearest.map((split) => euro(split.amountCents)).join(" or ");
  return refuse(
    `Exactly ${euro(amountCents)} can't be refunded, since a card takes back only what it was charged at once. ` +
      `${nearest === "" ? "" : `The nearest is ${nearest}. `}Remove the units by an edit or a return, then refund the order on its page.`,
  );

  async function whyRefused(): Promise<string | null> {
    const { sql } = contextOf(container);
    if (await isHeld(sql, orderId, bulkRefundId))
      return "Another bulk refund includes this order, or a person has exempted it. See the order's own page.";
    if (books.unexplained.length > 0 && !isWhole) return unexplainedText(books.unexplained);
    if (books.awaitsReturn) return "A return of it was requested: receive or cancel it first.";
    if (owedCents > 0 && !isWhole) return `It owes ${euro(owedCents)} already: refund that on its own page first.`;
    const undecided = await whyUndecided(container, books);
    if (undecided !== null) return undecided;
    if (isUncaptured && (isWhole || leftCents < amountCents))
      return "Not all of it is captured: capture its payments first, or cancel the order.";
    if (dueCents > 0 && !isWhole)
      return `Its customer still has to pay ${euro(dueCents)}: get that paid, or remove it from the order by an edit.`;
    if (leftCents < amountCents)
      return `Only ${euro(leftCents)} of its payments is left to refund: the remainder was refunded before. Refund it on its own page.`;
    if (await hasOpenChange(sql, orderId, { but: "credit_line" }))
      return "An edit, return, exchange, claim or transfer is open: confirm or cancel it.";
    return null;
  }
}

const euro = (cents: number) => formatCents(cents as never);
