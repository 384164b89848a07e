import type { Sql } from "@giftcard-pay/checkout/plugin";

/** A person's statement of what a refund was for. */
export interface RefundPurpose {
  readonly refundId: string;
  readonly orderId: string;
  /** How many units of each line are back with it, by the line's id; null if it was for nothing that was sold. */
  readonly units: Readonly<Record<string, number>> | null;
  /** The part that exceeded what the order owed. */
  readonly beyondCents: number;
  readonly actor: string;
}

export async function writePurpose(sql: Sql, purpose: RefundPurpose): Promise<void> {
  const { refundId, orderId, units, beyondCents, actor } = purpose;
  await sql(
    `insert into giftcard_refund_purpose (refund_id, order_id, units, beyond_cents, decided_by)
     values ($1, $2, $3::jsonb, $4, $5) on conflict (refund_id) do nothing`,
    [refundId, orderId, units && JSON.stringify(units), beyondCents, actor],
  );
}
