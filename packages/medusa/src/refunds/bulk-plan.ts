import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { contextOf } from "../context/context.js";
import { findSold, nameOfSold, type Sold, type SoldOrder } from "../medusa-tables/bulk-refunds.js";
import { awaitsPayment, readOpenChange } from "../medusa-tables/orders.js";
import { faultOf } from "../recovery/failing-jobs.js";
import type { Reason } from "../sentences.js";
import { type BulkRefundPlan, isHeld, isInProgress, type PlannedOrder, type RefusedOrder } from "./bulk-store.js";
import type { UnitsBack } from "./kept-value.js";
import { FRACTION_CENTS, type OrderBooks, ROUNDING_CENTS, readBooks, sumOfCaptures } from "./order-books.js";
import { planOf, toSplit, whyUndecided } from "./order-refund.js";

const id = z.string().min(1).max(200);
const capture = z.boolean().default(false);
const wishSchema = z.union([
  z.strictObject({ variantId: id, capture }),
  z.strictObject({ productId: id, capture }),
  z.strictObject({ orderIds: z.array(id).min(1).max(10_000), capture }),
]);

/** The products or orders to refund, and whether that includes orders that aren't captured yet. */
interface BulkRefundWish {
  readonly sold: Sold;
  readonly capture: boolean;
}

/** Reads a wish from a request. @throws {MedusaError} if it isn't one of the three shapes, with or without `capture` */
export function readWish(input: unknown): BulkRefundWish {
  const { success, data } = wishSchema.safeParse(input);
  if (!success)
    throw new MedusaError(
      MedusaError.Types.INVALID_DATA,
      "Say what to refund: { variantId }, { productId } or { orderIds: [...] }, with capture: true or false.",
    );
  const { capture, ...sold } = data;
  return { sold, capture };
}

/** How many orders are read in parallel. */
const AT_ONCE = 4;

/**
 * Plans a refund of everything that was sold of something. Changes nothing and calls nobody.
 * @throws {MedusaError} if there is no such product or variant
 */
export async function planBulkRefund(
  container: MedusaContainer,
  { sold, capture }: BulkRefundWish,
): Promise<BulkRefundPlan> {
  const { sql } = contextOf(container);
  const [title, found] = [await nameOfSold(sql, sold), await findSold(sql, sold)];
  if (title === null) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such product or variant.");
  const orders: PlannedOrder[] = [];
  const refused = missingOf(sold, found);
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE);
    for (const planned of await Promise.all(some.map((order) => planOrder(container, order, { sold, capture })))) {
      if (planned && "why" in planned) refused.push(planned);
      else if (planned) orders.push(planned);
    }
  }
  const open = refused.filter(({ captureCents }) => captureCents > 0);
  const uncaptured = { orders: open.length, cents: open.reduce((sum, { captureCents }) => sum + captureCents, 0) };
  return { sold, title, orders, refused, uncaptured, ...sumsOf(orders) };
}

function missingOf(sold: Sold, found: readonly SoldOrder[]): RefusedOrder[] {
  if (!("orderIds" in sold)) return [];
  const known = new Set(found.map(({ orderId }) => orderId));
  const why: Reason[] = [{ code: "missing" }];
  const missing = [...new Set(sold.orderIds)].filter((id) => !known.has(id));
  return missing.map((orderId) => ({ orderId, orderName: "?", amountCents: 0, why, captureCents: 0 }));
}

function sumsOf(orders: readonly PlannedOrder[]): Pick<BulkRefundPlan, "amountCents" | "captureCents" | "sums"> {
  const sums = new Map<string, BulkRefundPlan["sums"][number]>();
  for (const { providerId, lastFour, cents } of orders.flatMap(({ parts }) => parts)) {
    const before = sums.get(providerId)?.cents ?? 0;
    sums.set(providerId, { providerId, isCard: lastFour !== null, cents: before + cents });
  }
  const inOrder = [...sums.values()].sort((a, b) => Number(b.isCard) - Number(a.isCard));
  const captureCents = sumOfCaptures(orders.flatMap(({ captures }) => captures));
  return { amountCents: orders.reduce((sum, { amountCents }) => sum + amountCents, 0), captureCents, sums: inOrder };
}

interface OrderWish extends BulkRefundWish {
  /** The bulk refund whose own hold on the order doesn't count. */
  readonly bulkRefundId?: string;
}

/**
 * Plans one order's part; null if nothing of it is left to refund. If an order can't be planned, it is listed with
 * the reason, and the plan of the others doesn't fail.
 */
export async function planOrder(
  container: MedusaContainer,
  order: SoldOrder,
  wish: OrderWish,
): Promise<PlannedOrder | RefusedOrder | null> {
  const { orderId, orderName } = order;
  try {
    return await planBooks(container, await readBooks(container, orderId), wish);
  } catch (error) {
    const why: Reason[] = [{ code: "unplanned", values: { fault: faultOf(error) } }];
    return { orderId, orderName, amountCents: 0, why, captureCents: 0 };
  }
}

/**
 * Plans the refund of everything that is left of an order, shipping included; null if nothing is. A bulk refund that waits
 * for a person doesn't prevent it.
 */
export async function planRest(
  container: MedusaContainer,
  books: OrderBooks,
): Promise<PlannedOrder | RefusedOrder | null> {
  const { orderId, orderName, isCanceled } = books;
  if (isCanceled) return null;
  const planned = await planBooks(container, books, { sold: { orderIds: [orderId] }, capture: true, isRest: true });
  if (planned === null || !(await isInProgress(contextOf(container).sql, orderId))) return planned;
  const why: Reason[] = [{ code: "inBulk" }];
  return { orderId, orderName, amountCents: planned.amountCents, why, captureCents: 0 };
}

/**
 * Computes the refund for these units, without what is already owed. For an order that isn't fully paid, it is their
 * value.
 */
function worthOf(
  { isNoted, isExtended, dueCents, leftCents, settledCents, owedCents, back: before, keptCents, owedWith }: OrderBooks,
  back: UnitsBack,
) {
  const worthCents = keptCents(before) - keptCents(back);
  const fractionCents = isExtended ? FRACTION_CENTS : 0;
  const paidCents = leftCents + Math.max(0, settledCents);
  const isPlain = !isNoted || dueCents > 0 || paidCents + fractionCents < worthCents;
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

/** Says how to refund an order that a bulk refund can't. */
export const onItsPage = ({ charges }: OrderBooks): Reason => ({
  code: charges.length > 0 ? "useRest" : "onItsPage",
});

function nearestReasons([one, two]: readonly { readonly amountCents: number }[]): Reason[] {
  if (!one) return [];
  const { amountCents } = one;
  return [
    two
      ? { code: "nearestTwo", values: { amountCents, otherCents: two.amountCents } }
      : { code: "nearest", values: { amountCents } },
  ];
}

async function planBooks(
  container: MedusaContainer,
  actual: OrderBooks,
  { sold, capture, bulkRefundId, isRest = false }: OrderWish & { readonly isRest?: boolean },
): Promise<PlannedOrder | RefusedOrder | null> {
  const books = actual.asCaptured();
  const { captures } = actual;
  const { orderId, orderName, owedCents, dueCents, byHandCents, unclearCents, notCapturedCents } = books;
  // The customer has the other part already.
  const leftCents = Math.max(0, books.leftCents + Math.min(0, books.settledCents));
  const isWhole = "orderIds" in sold;
  const back = backWith(sold, books);
  const worthCents = isWhole ? leftCents : worthOf(books, back);
  if (worthCents === 0) return null;
  const amountCents = isWhole ? leftCents : worthCents + owedCents;
  const refuse = (why: readonly Reason[], captureCents = 0): RefusedOrder => ({
    ...{ orderId, orderName, amountCents, why, captureCents },
  });
  const why = await whyRefused();
  if (why !== null) return refuse(why);
  const planFor = (cents: number) => planOf(books, cents, back);
  const together = planFor(amountCents);
  const plan = together.isPossible || owedCents === 0 || isWhole ? together : planFor(worthCents);
  if (!plan.isPossible) {
    return refuse([
      { code: "inexact", values: { amountCents: worthCents } },
      ...nearestReasons(plan.nearest),
      { code: "removeUnits" },
      onItsPage(books),
    ]);
  }
  const captureCents = sumOfCaptures(captures);
  if (captureCents > 0 && !capture)
    return refuse([{ code: "uncaptured", values: { amountCents: captureCents } }], captureCents);
  return { orderId, orderName, units: Object.fromEntries(back), ...toSplit(books, plan.split), captures };

  async function whyRefused(): Promise<readonly Reason[] | null> {
    const { sql } = contextOf(container);
    if (!isRest && (await isHeld(sql, orderId, bulkRefundId))) return [{ code: "held" }];
    if (byHandCents > ROUNDING_CENTS && !isWhole)
      return [{ code: "byHand", values: { amountCents: byHandCents } }, onItsPage(books)];
    if (unclearCents > ROUNDING_CENTS && !isWhole)
      return [{ code: "settled", values: { amountCents: unclearCents } }, onItsPage(books)];
    if (books.awaitsReturn) return [{ code: "awaitsReturn" }];
    const undecided = whyUndecided(books);
    if (undecided !== null) return [undecided];
    if (dueCents > 0 && !isWhole) return [{ code: "due", values: { amountCents: dueCents } }, onItsPage(books)];
    if (notCapturedCents > 0 && !isWhole)
      return [{ code: "partlyCaptured", values: { amountCents: notCapturedCents } }];
    if (dueCents > 0 && (await awaitsPayment(sql, orderId))) return [{ code: "pending" }];
    if (leftCents < amountCents) return [{ code: "short", values: { amountCents: leftCents } }, onItsPage(books)];
    const open = await readOpenChange(sql, orderId, { but: "credit_line" });
    return open && [open];
  }
}
