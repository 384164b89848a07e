import type { Cents } from "@giftcard-pay/client/contract";
import { dayOf, isSince, isUntil } from "./days.js";

/** A reversal whose money is, or was then, on a card that can't be spent. */
export interface Reversal {
  /** The row of the ledger. */
  readonly id: number;
  readonly at: Date;
  readonly amountCents: Cents;
  readonly companyId: number;
  readonly company: string;
  /** The card that was charged. */
  readonly cardId: number;
  readonly lastFour: string;
  /** Status of the card that got the money, when it got it. */
  readonly statusThen: "Active" | "Blocked" | "Expired";
  /** The card that the money is on now, if the charged card was reissued. */
  readonly reissuedAs: number | null;
  /** Status of the card that the money is on now. */
  readonly cardStatus: string;
  readonly balanceCents: Cents;
}

/** Filters that are combined with "and". Days are inclusive, by the clock in Amsterdam. */
export interface ReversalFilter {
  readonly companyId?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Reads the reversals onto cards that are blocked or expired now, or were when the money arrived, oldest first.
 *
 * A card's past comes from the audit log: a card is blocked from `card block` to `card unblock`, and each `card extend`
 * keeps the earlier expiry date. If the charged card was reissued before the reversal, the reversal's own transaction moved
 * the money on, so that move has the reversal's time.
 */
export const reversalsStatement = ({ companyId, from, to }: ReversalFilter) => ({
  text: `select l.id, l.created_at as at, l.amount_cents as "amountCents", l.company_id as "companyId", o.name as company,
      l.card_id as "cardId", charged.last_four as "lastFour", past.status as "statusThen",
      nullif(holder.id, l.card_id) as "reissuedAs", card_status(holder) as "cardStatus",
      holder.balance_cents as "balanceCents"
    from ledger l join companies o on o.id = l.company_id join cards charged on charged.id = l.card_id
      cross join lateral (
        with recursive lineage (id, reissued_as) as (
          select charged.id, charged.reissued_as
          union all select c.id, c.reissued_as from lineage join cards c on c.id = lineage.reissued_as
        ) select id from lineage where reissued_as is null
      ) last
      join cards holder on holder.id = last.id
      join cards receiver on receiver.id = coalesce((
        select i.card_id from ledger m join ledger i on i.moved_from = m.id
        where m.card_id = l.card_id and m.id > l.id and m.kind = 'move' and m.audit_id is null
          and m.created_at = l.created_at limit 1), l.card_id)
      cross join lateral (select case
        when (select a.action = 'card block' from audit_log a
          where a.card_id = receiver.id and a.action in ('card block', 'card unblock') and a.created_at <= l.created_at
          order by a.id desc limit 1) then 'Blocked'
        when coalesce((select (a.details ->> 'from')::date from audit_log a
            where a.card_id = receiver.id and a.action = 'card extend' and a.created_at > l.created_at
            order by a.id limit 1), receiver.expiry_date)
          < ${dayOf("l.created_at")} then 'Expired'
        else 'Active' end as status) past
    where l.kind = 'cancel' and ($1::int is null or l.company_id = $1)
      and ($2::date is null or ${isSince("l.created_at", "$2")})
      and ($3::date is null or ${isUntil("l.created_at", "$3")})
      and (past.status <> 'Active' or card_status(holder) in ('Blocked', 'Expired'))
    order by l.id`,
  values: [companyId ?? null, from ?? null, to ?? null],
});
