import type { Cents } from "@giftcard-pay/client";
import type { ActionRecord, Charge, ChargeState } from "../charge.js";
import type { Tender } from "../tender.js";

/** Formats texts as SQL literals. They are not escaped: only for constants such as states. */
export const sqlList = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");

/** The column with the time at which a charge first reached a state. */
export const momentOf: Partial<Record<ChargeState, string>> = {
  sent: "sent_at",
  devalued: "devalued_at",
  reversed: "reversed_at",
};

/** Converts a row of giftcard_tender. */
export function toTender(row: Record<string, unknown>): Tender {
  return {
    id: String(row.id),
    cartId: String(row.cart_id),
    state: row.state as Tender["state"],
    lastFour: String(row.last_four),
    balanceCents: Number(row.balance_cents) as Cents,
    expiryDate: String(row.expiry_date),
    sealedCard: row.sealed_card as string | null,
    expired: Boolean(row.expired),
    createdAt: new Date(row.created_at as string),
  };
}

/** Converts a row of giftcard_charge. */
export function toCharge(row: Record<string, unknown>): Charge {
  const when = (value: unknown) => (value === null ? null : new Date(value as string));
  const amount = (value: unknown) => (value === null ? null : (Number(value) as Cents));
  return {
    reference: String(row.reference),
    tenderId: String(row.tender_id),
    cartId: String(row.cart_id),
    externalId: String(row.external_id),
    attemptId: row.attempt_id as string | null,
    position: Number(row.position),
    pieces: row.pieces === null ? null : JSON.parse(String(row.pieces)),
    orderId: row.order_id as string | null,
    environment: String(row.environment),
    baseUrl: String(row.base_url),
    companyId: Number(row.company_id),
    state: row.state as ChargeState,
    stateChangedAt: new Date(row.state_changed_at as string),
    lastFour: String(row.last_four),
    amountCents: Number(row.amount_cents) as Cents,
    deductedCents: amount(row.deducted_cents),
    sealedCard: row.sealed_card as string | null,
    sealedToken: row.sealed_token as string | null,
    reason: row.reason as string | null,
    refundId: row.refund_id as string | null,
    balanceBeforeCents: Number(row.balance_before_cents) as Cents,
    balanceAfterCents: amount(row.balance_after_cents),
    balanceAfterAt: when(row.balance_after_at),
    leaseOwner: row.lease_owner as string | null,
    leaseUntil: when(row.lease_until),
    tries: Number(row.tries),
    lastError: row.last_error as string | null,
    createdAt: new Date(row.created_at as string),
    sentAt: when(row.sent_at),
    devaluedAt: when(row.devalued_at),
    reversedAt: when(row.reversed_at),
  };
}

/** Converts a row of giftcard_action. */
export const toAction = (row: Record<string, unknown>): ActionRecord => ({
  reference: String(row.reference),
  action: row.action as ActionRecord["action"],
  actor: String(row.actor),
  fromState: row.from_state as ChargeState,
  toState: row.to_state as ChargeState,
  createdAt: new Date(row.created_at as string),
});
