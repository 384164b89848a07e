import { type OrderLine, valueOfUnits } from "@giftcard-pay/checkout";
import { formatCents } from "@giftcard-pay/client";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { readOrderLines } from "../cart/order-lines.js";
import { contextOf } from "../context/context.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import { readPending } from "../medusa-tables/run-refunds.js";
import { findSold, nameOfSold, type Sold, type SoldOrder } from "../medusa-tables/sold-items.js";
import { type Basis, planOf, readBasis, toSplit, whyUndecided } from "./order-refund.js";
import { type PlannedOrder, type RefusedOrder, type RunPlan, readInRuns } from "./run-store.js";

/** So many orders are read beside each other. */
const AT_ONCE = 4;

/**
 * Plans a refund of everything that was sold of something. Changes nothing and calls nobody.
 *
 * @throws {MedusaError} where there is no such product, variant or order
 */
export async function planRun(container: MedusaContainer, sold: Sold): Promise<RunPlan> {
  const { runSql: run } = contextOf(container);
  const [title, found] = [await nameOfSold(run, sold), await findSold(run, sold)];
  if (title === null)
    throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such product or variant.");
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

/** Orders that are asked for by their ids, and that nothing can be refunded of. */
function missingOf(sold: Sold, found: readonly SoldOrder[]): RefusedOrder[] {
  if (!("orderIds" in sold)) return [];
  const known = new Set(found.map(({ orderId }) => orderId));
  const why = "There is no such order, or it is canceled.";
  const missing = [...new Set(sold.orderIds)].filter((id) => !known.has(id));
  return missing.map((orderId) => ({ orderId, orderName: "?", amountCents: 0, why }));
}

function sumsOf(orders: readonly PlannedOrder[]): Pick<RunPlan, "amountCents" | "sums"> {
  const sums = new Map<string, RunPlan["sums"][number]>();
  for (const { providerId, lastFour, cents } of orders.flatMap(({ parts }) => parts)) {
    const before = sums.get(providerId)?.cents ?? 0;
    sums.set(providerId, { providerId, isCard: lastFour !== null, cents: before + cents });
  }
  const inOrder = [...sums.values()].sort((a, b) => Number(b.isCard) - Number(a.isCard));
  return { amountCents: orders.reduce((sum, { amountCents }) => sum + amountCents, 0), sums: inOrder };
}

/**
 * Plans one order's part; null where nothing of it is left to refund.
 *
 * @param order what the buyer keeps of it, read at this moment
 * @param runId the run whose own part of it doesn't count
 */
export async function planOrder(
  container: MedusaContainer,
  sold: Sold,
  { orderId, orderName, lines: kept }: SoldOrder,
  runId?: string,
): Promise<PlannedOrder | RefusedOrder | null> {
  const { runSql: run, settings } = contextOf(container);
  const basis = await readBasis(container, orderId);
  const lines = basis.lines ?? (await readOrderLines(container, orderId));
  const { units: inRuns, isHeld } = await readInRuns(run, orderId, runId);
  const units = Object.fromEntries(
    kept.flatMap(({ id, kept: left }) => {
      const open = left - (inRuns.get(id) ?? 0);
      return open > 0 ? [[id, open]] : [];
    }),
  );
  const before = returnedBefore(lines, basis, kept, inRuns);
  const isWhole = "orderIds" in sold;
  const amountCents = isWhole
    ? leftOf(basis)
    : valueOfUnits(lines, basis.charges, new Map(Object.entries(units)), before);
  const refuse = (why: string): RefusedOrder => ({ orderId, orderName, amountCents, why });
  if (isHeld)
    return refuse(
      "Another refund of many orders has it, or a person has left it as it was: look at its own page.",
    );
  if (basis.awaitsReturn) return refuse("A return of it was requested: receive or cancel that first.");
  const pendingCents = await readPending(run, orderId);
  if (pendingCents < 0)
    return refuse(
      `It owes ${formatCents(-pendingCents as never)} already: refund that on its own page first.`,
    );
  const undecided = await whyUndecided(container, basis);
  if (undecided !== null) return refuse(undecided);
  const noted = new Map(basis.lines?.map((line) => [line.id, line.quantity]));
  const isOther = kept.some(({ id, quantity }) => basis.lines && noted.get(id) !== quantity);
  if (basis.lines && (basis.isEdited || isOther))
    return refuse("It was changed since it was paid (an edit or exchange): refund it on its own page.");
  const isUncaptured = basis.payments.some(({ uncapturedCents }) => uncapturedCents > 0);
  if (isWhole && isUncaptured)
    return refuse("Not all of it is captured: capture its payments first, or cancel the order.");
  if (amountCents === 0) return null;
  if (await hasOpenChange(run, orderId, { but: "credit_line" }))
    return refuse("An edit, return, exchange, claim or transfer is open: confirm or cancel it.");
  if (leftOf(basis) < amountCents)
    return refuse("Less than that is captured: capture its payments first, or cancel the order.");
  const returned = new Map(before);
  for (const [id, count] of Object.entries(units)) returned.set(id, (returned.get(id) ?? 0) + count);
  const plan = planOf({ ...basis, lines, returned }, amountCents, settings.refundRule);
  if (!plan.isPossible) {
    const nearest = plan.nearest.map((split) => formatCents(split.amountCents)).join(" or ");
    return refuse(
      `Exactly ${formatCents(amountCents)} can't go back, since a card gives back only what it was charged at once. ` +
        `What can is ${nearest}: refund it on the order's page.`,
    );
  }
  return { orderId, orderName, units, amountCents, parts: toSplit(basis, plan.split).parts };
}

const leftOf = ({ payments }: Basis) => payments.reduce((sum, { leftCents }) => sum + leftCents, 0);

/** How many units of each line are back already: by returns and edits, and by earlier refunds of many orders. */
function returnedBefore(
  lines: readonly OrderLine[],
  { lines: charged, returned }: Basis,
  kept: SoldOrder["lines"],
  inRuns: ReadonlyMap<string, number>,
): Map<string, number> {
  const back = lines.map(({ id, quantity }): [string, number] => {
    // The lines of an order that was charged as a whole are as they are now, without what was returned.
    const now = kept.find((line) => line.id === id);
    const byReturns = charged ? (returned.get(id) ?? 0) : now ? quantity - now.kept : 0;
    return [id, byReturns + (inRuns.get(id) ?? 0)];
  });
  return new Map(back);
}
