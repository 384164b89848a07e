import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MathBN, MedusaError, Modules } from "@medusajs/framework/utils";
import { createOrderCreditLinesWorkflow } from "@medusajs/medusa/core-flows";
import { fromCents, toCents } from "../amount.js";
import { contextOf } from "../context/context.js";
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
 * Writes a capture or refund into its order, as Medusa does in the end: with a refund, it waives what goes beyond what the
 * order owed.
 *
 * @throws {MedusaError} where it would have to waive something, and the order takes no change now
 */
export async function recordEntry(container: MedusaContainer, entry: Entry): Promise<void> {
  const { orderId, kind, entryId, currency, amount } = entry;
  const { runSql: run } = contextOf(container);
  const isEnded = await endCreditLines(container, orderId);
  const pendingCents = await pendingOf(container, orderId);
  const isBeyond = kind === "refund" && toCents(amount) > -pendingCents;
  if (isBeyond && (!isEnded || (await hasOpenChange(run, orderId))))
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, CHANGING);
  await container.resolve(Modules.ORDER).addOrderTransactions([
    {
      order_id: orderId,
      amount: kind === "refund" ? MathBN.mult(amount, -1) : MathBN.convert(amount),
      currency_code: currency,
      reference: kind,
      reference_id: entryId,
    },
  ]);
  if (kind === "refund")
    await waiveRefunded(container, orderId, {
      pendingCents,
      refundedCents: toCents(amount),
      refundId: entryId,
    });
}

/**
 * What the customer still has to pay of an order, as Medusa's own refund reads it; below 0, what the order owes. A return that
 * was requested counts as owed already.
 */
export async function pendingOf(container: MedusaContainer, orderId: string): Promise<number> {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({
    ...{ entity: "order", fields: ["id", "summary", "total"], filters: { id: orderId } },
  });
  const summary = data[0]?.summary as { pending_difference?: BigNumberInput } | undefined;
  return toCents(summary?.pending_difference ?? 0);
}

/**
 * Waives what was refunded beyond what an order owed. Medusa does so last of all; where it died before, the order says that
 * its customer has to pay that again.
 *
 * @param refund.pendingCents what the customer had to pay before it; below 0, what the order owed
 * @param refund.refundedCents no more than this is waived
 */
export async function waiveRefunded(
  container: MedusaContainer,
  orderId: string,
  refund: { readonly pendingCents: number; readonly refundedCents: number; readonly refundId: string },
): Promise<void> {
  const { pendingCents, refundedCents, refundId } = refund;
  const now = await pendingOf(container, orderId);
  const missingCents = Math.min(now - Math.max(0, pendingCents), refundedCents);
  if (missingCents <= 0) return;
  const waived = { reference: "refund", reference_id: refundId, amount: fromCents(missingCents) };
  await createOrderCreditLinesWorkflow(container).run({
    input: { id: orderId, credit_lines: [waived as never] },
  });
}
