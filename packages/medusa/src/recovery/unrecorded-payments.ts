import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { capturePaymentWorkflow } from "@medusajs/medusa/core-flows";
import { toCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import { isRecorded, type UnrecordedPayment } from "../medusa-tables/unrecorded-payments.js";
import { referencesOf } from "../refund-metadata.js";
import { withHold } from "./hold.js";

/**
 * Does what was begun, where the journal says that it wasn't done, and writes it into the order.
 *
 * @param holdMs how long no other process does the same
 */
export async function recordPayment(
  container: MedusaContainer,
  entry: UnrecordedPayment,
  holdMs: number,
): Promise<void> {
  const { engine, runSql: run } = contextOf(container);
  const { reference, sessionId, entryId: id, kind } = entry;
  if (kind === "refund") {
    const references = referencesOf(entry.metadata);
    const charges = await engine.refund(sessionId, { id, amountCents: toCents(entry.amount), references });
    // While the service is down it is owed; it comes into the order when it is done.
    if (charges.some(({ state }) => state !== "reversed")) return;
  }
  const held = await engine.journal.charge(reference);
  if (!held) return;
  await withHold(engine.journal, held, holdMs, async () => {
    // Looked at once more now that nobody else writes it: another process may have done so since it was found.
    if (await isRecorded(run, entry)) return;
    if (kind === "capture" && !entry.isCaptured) await captureAnew(container, entry);
    else await record(container, entry);
  });
}

/** Medusa takes the half-made capture for made, and makes no other beside it. The card is charged already. */
async function captureAnew(
  container: MedusaContainer,
  { entryId, paymentId }: UnrecordedPayment,
): Promise<void> {
  await container.resolve(Modules.PAYMENT).deleteCaptures([entryId]);
  await capturePaymentWorkflow(container).run({ input: { payment_id: paymentId } });
}

async function record(container: MedusaContainer, entry: UnrecordedPayment): Promise<void> {
  const { orderId, kind, entryId, currency, amount } = entry;
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
