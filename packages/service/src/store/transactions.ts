import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";
import type { MovementKind } from "./card-lookup.js";
import { dayOf, isSince, isUntil, isWithin } from "./days.js";
import type { ListFilter } from "./filters.js";

/** A row of the ledger, with related data, by its printed names. */
export interface Transaction {
  readonly id: number;
  readonly at: Date;
  readonly kind: MovementKind;
  readonly amount: Cents;
  readonly company_id: number | null;
  readonly company: string | null;
  readonly card: number;
  readonly last_four: string;
  /** The requested amount of a devalue. */
  readonly requested: Cents | null;
  /** The devalue that a cancel reverses. */
  readonly reverses: number | null;
  /** The cancel that reversed a devalue, and its time. */
  readonly reversed_by: number | null;
  readonly reversed_at: Date | null;
  /** The entry in the audit log, if a person made the row. */
  readonly audit: number | null;
  /** The other card of a move. */
  readonly other_card: number | null;
}

/** A filter of movements. `rows` are the rows that may be listed, and the cancels of those that are devalues. */
export type TransactionFilter = ListFilter & { readonly rows?: readonly number[] | undefined };

/** Creates the statement that lists single movements, oldest first. */
export const transactionsStatement = ({ company, card, from, to, rows }: TransactionFilter) => ({
  text: `select l.id, l.created_at as at, l.kind, l.amount_cents as amount, l.company_id, o.name as company,
      l.card_id as card, c.last_four, l.requested_cents as requested, l.reverses, r.id as reversed_by,
      r.created_at as reversed_at, l.audit_id as audit, coalesce(l.moved_from_card, i.card_id) as other_card
    from ledger l join cards c on c.id = l.card_id left join companies o on o.id = l.company_id
      left join ledger r on r.reverses = l.id left join ledger i on i.moved_from = l.id
    where ${[
      // Unused filters are left out, so that the planner chooses the right index.
      "$1::int is null or l.company_id = $1",
      card === undefined ? "$2::bigint is null" : "l.card_id = $2",
      from === undefined ? "$3::date is null" : isSince("l.created_at", "$3"),
      to === undefined ? "$4::date is null" : isUntil("l.created_at", "$4"),
      rows === undefined ? "$5::bigint[] is null" : "(l.id = any($5) or l.reverses = any($5))",
    ]
      .map((condition) => `(${condition})`)
      .join(" and ")}
    order by l.id`,
  values: [company ?? null, card ?? null, from ?? null, to ?? null, rows ?? null],
});

/** The use of an Idempotency-Key. */
export interface ReferenceUse {
  readonly companyId: number;
  /** The row of the devalue that carried it, or null if the key was closed before its devalue came. */
  readonly row: number | null;
  readonly at: Date;
}

/** Finds an Idempotency-Key, which shops call a reference, in all companies. */
export async function findReference(db: Queryable, keys: Keyring, reference: string): Promise<ReferenceUse[]> {
  const { rows } = await db.query<ReferenceUse>(
    `select k.company_id as "companyId", k.ledger_id as row, k.created_at as at
       from companies c join idempotency_keys k
         on k.company_id = c.id and k.operation = 'devalue' and k.key_hash = $1 order by c.id`,
    [keys.idempotencyKey(reference)],
  );
  return rows;
}

export async function findToken(db: Queryable, cancelToken: Secret): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>("select id from ledger where token_hash = $1", [hashOf(cancelToken)]);
  return rows[0]?.id;
}

/** A reversal whose money is, or was then, on a card that can't be spent, by its printed names. */
export interface Reversal {
  /** The row of the ledger. */
  readonly id: number;
  readonly at: Date;
  readonly amount: Cents;
  readonly company_id: number;
  readonly company: string;
  /** The card that was charged. */
  readonly card: number;
  readonly last_four: string;
  /** Status of the card that got the money, when it got it. */
  readonly status_then: "Active" | "Blocked" | "Expired";
  /** The card that the money is on now, if the charged card was reissued; then its status and balance. */
  readonly reissued_as: number | null;
  readonly card_status: string;
  readonly balance: Cents;
}

/**
 * Reads the reversals onto cards that are blocked or expired now, or were when the money arrived, oldest first.
 *
 * A card's past comes from the audit log: a card is blocked from `card block` to `card unblock`, and each `card extend`
 * keeps the earlier expiry date. If the charged card was reissued before the reversal, the reversal's own transaction moved
 * the money on, so that move has the reversal's time.
 */
export const reversalsStatement = ({ company, from, to }: ListFilter) => ({
  text: `select l.id, l.created_at as at, l.amount_cents as amount, l.company_id, o.name as company, l.card_id as card,
      charged.last_four, past.status as status_then, nullif(holder.id, l.card_id) as reissued_as,
      card_status(holder) as card_status, holder.balance_cents as balance
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
      and ${isWithin("l.created_at", "$2", "$3")}
      and (past.status <> 'Active' or card_status(holder) in ('Blocked', 'Expired'))
    order by l.id`,
  values: [company ?? null, from ?? null, to ?? null],
});
