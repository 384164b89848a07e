import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, MedusaError, Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { isWaived } from "../medusa-tables/credit-lines.js";
import { readPending } from "../medusa-tables/order-refund.js";
import { hasOpenChange } from "../medusa-tables/orders.js";
import type { UnrecordedPayment } from "../medusa-tables/unrecorded-payments.js";
import { addCreditLine, endCreditLines } from "./credit-lines.js";

const CHANGING = "An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it.";

/** A capture or refund, as Medusa wrote it next to its payment. */
export type Entry = Pick<UnrecordedPayment, "orderId" | "kind" | "entryId" | "currency" | "amount">;

/**
 * Writes a capture or refund into its order, as Medusa does last. The part of a refund that exceeds what the order owed is
 * waived first, so that the next run can finish what a crash leaves in between.
 * @throws {MedusaError} if something has to be waived, and the order takes no change now
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

/** Waives what a refund exceeds. A canceled order needs no waiver. */
async function waiveBeyond(container: MedusaContainer, { orderId, entryId, amount }: Entry): Promise<void> {
  const { sql } = contextOf(container);
  const isEnded = await endCreditLines(container, orderId);
  if (await isWaived(sql, orderId, entryId)) return;
  const { pending, isCanceled } = await readPending(sql, orderId);
  const beyond = MathBN.sub(amount, MathBN.max(0, MathBN.mult(pending, -1)));
  if (isCanceled || MathBN.lte(beyond, 0)) return;
  if (!isEnded || (await hasOpenChange(sql, orderId))) throw new MedusaError(MedusaError.Types.NOT_ALLOWED, CHANGING);
  // The line names its refund, so that `isWaived` finds it.
  await addCreditLine(container, orderId, { reference: "refund", referenceId: entryId, amount: beyond });
}
