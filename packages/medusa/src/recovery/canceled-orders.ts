import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import type { ChargedCanceled } from "../medusa-tables/charged-orders.js";
import { readPaymentStanding } from "../medusa-tables/payments.js";
import { withHold } from "./hold.js";
import { releaseGiftcardPayment } from "./release-payment.js";

/**
 * Reverses the charge as the canceled order should have: the card first, then Medusa's payment. So whatever Medusa
 * refuses, the card gets its money. Done twice it is done once.
 *
 * @param holdMs how long no other process does the same
 * @throws what Medusa's payment fails with
 */
export async function reverseCanceled(
  container: MedusaContainer,
  charge: ChargedCanceled,
  holdMs: number,
): Promise<void> {
  const { engine, runSql: run } = contextOf(container);
  const { reference, paymentId } = charge;
  let { state } = charge;
  const owe = async () => {
    state = (await engine.reverse(reference, "canceled")).state;
  };
  // The reversal ends the hold; the payment is read anew, since another process may find it as it stands then.
  if (!(await withHold(engine.journal, charge, holdMs, owe))) return;
  // What only a person can tell isn't reversed yet.
  if (state !== "reversing" && state !== "reversed") return;
  await withHold(engine.journal, { reference, state }, holdMs, async () => {
    const payment = await readPaymentStanding(run, paymentId);
    if (!payment || payment.isCanceled || payment.isRefunded) return;
    await releaseGiftcardPayment(container, { paymentId, capturedLeft: payment.capturedLeft });
  });
}
