import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { holdAttempt, LOOKED } from "./review.js";

/** A card that is charged for an order which is canceled, or whose payment still stands in Medusa. */
export interface ChargedCanceled {
  readonly reference: string;
  readonly state: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly isCaptured: boolean;
  readonly isRefunded: boolean;
}

/**
 * Medusa cancels an order also when a payment's own cancelation fails. Where not even the journal could be written
 * then, nobody owes the card its reversal; and where it could, the payment still looks alive. These are they.
 *
 * @param after where this run's page of the review begins
 */
export async function findChargedCanceled(
  container: MedusaContainer,
  after: string,
): Promise<ChargedCanceled[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `with ${LOOKED} select a.reference, a.state, a.order_id, p.id as payment_id, p.captured, p.refunded from looked a
     cross join lateral (select 1 from "order" where id = a.order_id and canceled_at is not null offset 0) o
     cross join lateral (
       select id, canceled_at,
         (select count(*) from capture where payment_id = payment.id and deleted_at is null) > 0 as captured,
         (select count(*) from refund where payment_id = payment.id and deleted_at is null) > 0 as refunded
       from payment where payment_session_id = a.external_id and deleted_at is null offset 0
     ) p
     where a.state in ('committed', 'captured')
       or (a.state in ('reversing', 'reversed') and p.canceled_at is null and not p.refunded)
     limit 100`,
    [after],
  );
  return rows.map((row) => ({
    reference: String(row.reference),
    state: String(row.state),
    orderId: String(row.order_id),
    paymentId: String(row.payment_id),
    isCaptured: row.captured === true,
    isRefunded: row.refunded === true,
  }));
}

/**
 * Gives the money back as the canceled order should have, in the journal and in Medusa. Done twice it is done once.
 *
 * @param holdMs how long no other process does the same
 */
export async function undoCharge(
  container: MedusaContainer,
  charge: ChargedCanceled,
  holdMs: number,
): Promise<void> {
  if (!(await holdAttempt(container, charge, holdMs))) return;
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const payments = container.resolve(Modules.PAYMENT);
  if (!charge.isCaptured) await payments.cancelPayment(charge.paymentId);
  else if (!charge.isRefunded) await payments.refundPayment({ payment_id: charge.paymentId });
  await engine.reverse(charge.reference, "canceled");
}
