import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";

/** A card that is charged for an order which is canceled, or whose payment still stands in Medusa. */
export interface ChargedCanceled {
  readonly reference: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly isCaptured: boolean;
  readonly isRefunded: boolean;
}

/**
 * Medusa cancels an order also when a payment's own cancelation fails. Where not even the journal could be written
 * then, nobody owes the card its reversal; and where it could, the payment still looks alive. These are they.
 */
export async function findChargedCanceled(container: MedusaContainer): Promise<ChargedCanceled[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `select a.reference, a.order_id, p.id as payment_id,
       exists (select 1 from capture where payment_id = p.id and deleted_at is null) as captured,
       exists (select 1 from refund where payment_id = p.id and deleted_at is null) as refunded
     from giftcard_attempt a
     join "order" o on o.id = a.order_id and o.canceled_at is not null
     join payment p on p.payment_session_id = a.external_id and p.deleted_at is null
     where a.state in ('committed', 'captured') or (a.state in ('reversing', 'reversed') and p.canceled_at is null
       and not exists (select 1 from refund where payment_id = p.id and deleted_at is null))
     limit 100`,
    [],
  );
  return rows.map((row) => ({
    reference: String(row.reference),
    orderId: String(row.order_id),
    paymentId: String(row.payment_id),
    isCaptured: row.captured === true,
    isRefunded: row.refunded === true,
  }));
}

/** Gives the money back as the canceled order should have, in the journal and in Medusa. Done twice it is done once. */
export async function undoCharge(container: MedusaContainer, charge: ChargedCanceled): Promise<void> {
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const payments = container.resolve(Modules.PAYMENT);
  if (!charge.isCaptured) await payments.cancelPayment(charge.paymentId);
  else if (!charge.isRefunded) await payments.refundPayment({ payment_id: charge.paymentId });
  await engine.reverse(charge.reference, "canceled");
}
