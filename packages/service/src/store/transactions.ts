import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";
import { isSince, isUntil } from "./days.js";

/** A row of the ledger, with related data. */
export interface Transaction {
  readonly id: number;
  readonly at: Date;
  readonly kind: "issue" | "devalue" | "cancel" | "adjust" | "expire" | "move";
  readonly amountCents: Cents;
  readonly companyId: number | null;
  readonly company: string | null;
  readonly cardId: number;
  readonly lastFour: string;
  /** The requested amount of a devalue. */
  readonly requestedCents: Cents | null;
  /** The devalue that a cancel reverses. */
  readonly reverses: number | null;
  /** The cancel that reversed a devalue, and its time. */
  readonly reversedBy: number | null;
  readonly reversedAt: Date | null;
  /** The entry in the audit log, if a person made the row. */
  readonly auditId: number | null;
  /** The other card of a move. */
  readonly otherCardId: number | null;
}

/** Filters that are combined with "and". Days are inclusive, by the clock in Amsterdam. */
export interface TransactionFilter {
  readonly companyId?: number | undefined;
  readonly cardId?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** These rows, and the cancels of those that are devalues. */
  readonly rows?: readonly number[] | undefined;
}

/** Creates the statement that lists single movements, oldest first. */
export const transactionsStatement = ({ companyId, cardId, from, to, rows }: TransactionFilter) => ({
  text: `select l.id, l.created_at as at, l.kind, l.amount_cents as "amountCents", l.company_id as "companyId",
      o.name as company, l.card_id as "cardId", c.last_four as "lastFour", l.requested_cents as "requestedCents",
      l.reverses, r.id as "reversedBy", r.created_at as "reversedAt", l.audit_id as "auditId",
      coalesce(l.moved_from_card, i.card_id) as "otherCardId"
    from ledger l join cards c on c.id = l.card_id left join companies o on o.id = l.company_id
      left join ledger r on r.reverses = l.id left join ledger i on i.moved_from = l.id
    where ${[
      // Unused filters are left out, so that the planner chooses the right index.
      "$1::int is null or l.company_id = $1",
      cardId === undefined ? "$2::bigint is null" : "l.card_id = $2",
      from === undefined ? "$3::date is null" : isSince("l.created_at", "$3"),
      to === undefined ? "$4::date is null" : isUntil("l.created_at", "$4"),
      rows === undefined ? "$5::bigint[] is null" : "(l.id = any($5) or l.reverses = any($5))",
    ]
      .map((condition) => `(${condition})`)
      .join(" and ")}
    order by l.id`,
  values: [companyId ?? null, cardId ?? null, from ?? null, to ?? null, rows ?? null],
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

/** Finds the devalue of a cancel token. */
export async function findToken(db: Queryable, cancelToken: Secret): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>("select id from ledger where token_hash = $1", [hashOf(cancelToken)]);
  return rows[0]?.id;
}
