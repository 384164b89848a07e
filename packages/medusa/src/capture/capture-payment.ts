import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { capturePaymentWorkflow } from "@medusajs/medusa/core-flows";
import { contextOf } from "../context/context.js";
import { readBegunCaptures } from "../medusa-tables/unrecorded-payments.js";

/** A payment to capture. */
export interface Capturable {
  readonly paymentId: string;
  readonly orderId: string;
  /** The id of the person who asked for it. */
  readonly actor?: string | undefined;
}

/**
 * Captures a payment by Medusa's own workflow. First it deletes a capture that was begun and never finished. A payment
 * method never captures more than was authorized, so asking it again takes no money twice. The caller has the order's lease.
 * @throws the error of Medusa or the payment method: nothing is captured, as far as Medusa knows
 */
export async function capturePayment(
  container: MedusaContainer,
  { paymentId, orderId, actor }: Capturable,
): Promise<void> {
  const begun = await readBegunCaptures(contextOf(container).sql, { paymentId, orderId });
  if (begun.length > 0) await container.resolve(Modules.PAYMENT).deleteCaptures(begun);
  await capturePaymentWorkflow(container).run({
    input: {
      payment_id: paymentId,
      ...(actor !== undefined && { captured_by: actor }),
    },
  });
}
