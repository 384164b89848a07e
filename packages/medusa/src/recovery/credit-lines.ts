import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findBegunCreditLines } from "../medusa-tables/unrecorded-payments.js";

/**
 * Ends an order's credit lines that were begun: confirms them as Medusa would have, or deletes those without an amount.
 * @returns false if one is so new that its process may still be working on it
 */
export async function endCreditLines(container: MedusaContainer, orderId: string): Promise<boolean> {
  const { sql, settings } = contextOf(container);
  const orders = container.resolve(Modules.ORDER);
  const scan = scanOnly(sql, orderId);
  for (const { changeId, isWhole } of await findBegunCreditLines({ ...scan, leaseMs: settings.leaseMs })) {
    if (isWhole) await orders.confirmOrderChange(changeId);
    else await orders.deleteOrderChanges([changeId]);
  }
  return (await findBegunCreditLines(scan)).length === 0;
}

/**
 * Writes a credit line into an order.
 * @param line its purpose. Without a `referenceId`, it names its own change. `actor`: the id of the person
 */
export async function addCreditLine(
  container: MedusaContainer,
  orderId: string,
  {
    reference,
    referenceId,
    amount,
    actor: created_by,
  }: { reference: string; referenceId?: string; amount: BigNumberInput; actor?: string | undefined },
): Promise<void> {
  const orders = container.resolve(Modules.ORDER);
  const change = await orders.createOrderChange({
    ...{ order_id: orderId, change_type: "credit_line" as const },
    ...(created_by !== undefined && { created_by }),
  } as never);
  const line = { action: "CREDIT_LINE_ADD", reference, reference_id: referenceId ?? change.id, amount };
  await orders.addOrderAction({ order_change_id: change.id, ...line } as never);
  await orders.confirmOrderChange(change.id);
}
