import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { capturePaymentWorkflow } from "@medusajs/medusa/core-flows";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { holdAttempt, LOOKED } from "./review.js";

/** A capture or refund of a gift card payment that its order doesn't know of. */
export interface Unbooked {
  readonly reference: string;
  readonly state: string;
  readonly orderId: string;
  readonly currency: string;
  readonly kind: "capture" | "refund";
  readonly entryId: string;
  readonly paymentId: string;
  /** Whether Medusa knows that the payment is captured. */
  readonly isCaptured: boolean;
  /** As Medusa wrote it down, in major units. */
  readonly amount: string;
}

const ofKind = (kind: "capture" | "refund") =>
  `select '${kind}' as kind, id, raw_amount->>'value' as amount, created_at from ${kind}
   where payment_id = p.id and deleted_at is null`;

/** Whether the order knows of it: by count, so that PostgreSQL looks at one order and not through the table. */
const isBooked = (id: string, kind: string, orderId: string) =>
  `((select count(*) from order_transaction t where t.reference_id = ${id} and t.reference = ${kind}
    and t.order_id = ${orderId} and t.deleted_at is null) > 0)`;

/**
 * Captures and refunds that Medusa began and never finished: it writes them beside the payment first, and into the order
 * last, and died in between.
 *
 * @param after where this run's page of the review begins
 * @param graceMs how long a capture or refund may take
 */
export async function findUnbooked(
  container: MedusaContainer,
  after: string,
  graceMs: number,
): Promise<Unbooked[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `with ${LOOKED} select a.reference, a.state, a.order_id, p.currency_code, p.id as payment_id, p.captured_at,
       entry.kind, entry.id, entry.amount
     from looked a
     cross join lateral (select id, currency_code, captured_at from payment
       where payment_session_id = a.external_id and deleted_at is null offset 0) p
     cross join lateral (${ofKind("capture")} union all ${ofKind("refund")} offset 0) entry
     where a.state in ('committed', 'captured', 'reversed')
       and entry.created_at < now() - ($2::float8 * interval '1 millisecond')
       and not ${isBooked("entry.id", "entry.kind", "a.order_id")}
       and (select count(*) from "order" where id = a.order_id and deleted_at is null) = 1
     order by entry.kind limit 100`,
    [after, graceMs],
  );
  return rows.map((row) => ({
    reference: String(row.reference),
    state: String(row.state),
    orderId: String(row.order_id),
    currency: String(row.currency_code),
    kind: row.kind === "refund" ? "refund" : "capture",
    entryId: String(row.id),
    paymentId: String(row.payment_id),
    isCaptured: row.captured_at !== null,
    amount: String(row.amount),
  }));
}

/**
 * Does what was begun, where the journal says that it wasn't done, and writes it into the order.
 *
 * @param holdMs how long no other process does the same
 * @returns whether the order knows of it now
 */
export async function bookPayment(
  container: MedusaContainer,
  entry: Unbooked,
  holdMs: number,
): Promise<boolean> {
  const { engine, runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const { reference, state, orderId, kind, entryId, currency, amount } = entry;
  if (!(await holdAttempt(container, entry, holdMs))) return false;
  // Looked at once more now that nobody else writes it: another process may have done so since it was found.
  if ((await runSql(`select ${isBooked("$1", "$2", "$3")} as done`, [entryId, kind, orderId]))[0]?.done)
    return true;
  if (kind === "capture" && !entry.isCaptured) {
    // Medusa takes the half-made capture for made, and makes no other beside it. The card is charged already.
    await container.resolve(Modules.PAYMENT).deleteCaptures([entryId]);
    await capturePaymentWorkflow(container).run({ input: { payment_id: entry.paymentId } });
    return true;
  }
  if (kind === "refund" && state !== "reversed") {
    // While the service is down it is owed; it comes into the order when it is done.
    if ((await engine.reverse(reference, "refunded")).state !== "reversed") return false;
    // The reversal has ended the hold, and another process may find the refund as it stands now.
    return bookPayment(container, { ...entry, state: "reversed" }, holdMs);
  }
  await container.resolve(Modules.ORDER).addOrderTransactions([
    {
      order_id: orderId,
      amount: kind === "refund" ? MathBN.mult(amount, -1) : MathBN.convert(amount),
      currency_code: currency,
      reference: kind,
      reference_id: entryId,
    },
  ]);
  return true;
}
