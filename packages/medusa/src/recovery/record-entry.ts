import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MathBN, MedusaError, Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { isWaived } from "../medusa-tables/credit-lines.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import { endCreditLines } from "./credit-lines.js";

const CHANGING = "An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it.";

/** A capture or refund, as it stands beside its payment. */
export interface Entry {
  readonly orderId: string;
  readonly kind: "capture" | "refund";
  readonly entryId: string;
  readonly currency: string;
  /** In major units, above 0. */
  readonly amount: string;
}

/**
 * Writes a capture or refund into its order, as Medusa does in the end: with a refund, what goes beyond what the order owed
 * is waived, and that first, so that a process which dies in between is made good by the next.
 *
 * @throws {MedusaError} where it would have to waive something, and the order takes no change now
 */
export async function recordEntry(container: MedusaContainer, entry: Entry): Promise<void> {
  const { orderId, kind, entryId, currency, amount } = entry;
  if (kind === "refund") await waiveBeyond(container, entry);
  await container.resolve(Modules.ORDER).addOrderTransactions([
    {
      order_id: orderId,
      amount: kind === "refund" ? MathBN.mult(amount, -1) : MathBN.convert(amount),
      currency_code: currency,
      reference: kind,
      reference_id: entryId,
    },
  ]);
}

/** What an order that is canceled waives, nobody asks for. */
async function waiveBeyond(container: MedusaContainer, { orderId, entryId, amount }: Entry): Promise<void> {
  const { sql } = contextOf(container);
  const isEnded = await endCreditLines(container, orderId);
  if (await isWaived(sql, orderId, entryId)) return;
  const order = await readTotals(container, orderId);
  const owed = MathBN.max(0, MathBN.mult(order.pending, -1));
  const beyond = MathBN.sub(amount, owed);
  if (order.isCanceled || MathBN.lte(beyond, 0)) return;
  if (!isEnded || (await hasOpenChange(sql, orderId)))
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, CHANGING);
  await waive(container, orderId, entryId, beyond);
}

/** A credit line that names its refund: so it is known later that the refund has one. */
async function waive(
  container: MedusaContainer,
  orderId: string,
  refundId: string,
  amount: BigNumberInput,
): Promise<void> {
  const orders = container.resolve(Modules.ORDER);
  const change = await orders.createOrderChange({ order_id: orderId, change_type: "credit_line" } as never);
  const line = { action: "CREDIT_LINE_ADD", reference: "refund", reference_id: refundId, amount };
  await orders.addOrderAction({ order_change_id: change.id, ...line } as never);
  await orders.confirmOrderChange(change.id);
}

/** What the customer still has to pay of an order, as Medusa's own refund reads it; below 0, what the order owes. */
async function readTotals(
  container: MedusaContainer,
  orderId: string,
): Promise<{ pending: BigNumberInput; isCanceled: boolean }> {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({
    ...{ entity: "order", fields: ["id", "status", "summary", "total"], filters: { id: orderId } },
  });
  const order = data[0] as { status?: string; summary?: { pending_difference?: BigNumberInput } } | undefined;
  return { pending: order?.summary?.pending_difference ?? 0, isCanceled: order?.status === "canceled" };
}
