import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { hashOf, type Keyring } from "../secrets/keyring.js";

/** A row of the ledger, with what belongs to it. */
export interface Transaction {
  readonly id: number;
  readonly at: Date;
  readonly kind: "issue" | "devalue" | "cancel" | "adjust" | "move";
  readonly amountCents: Cents;
  readonly companyId: number | null;
  readonly company: string | null;
  readonly cardId: number;
  readonly lastFour: string;
  /** Of a devalue: what was asked for. */
  readonly requestedCents: Cents | null;
  /** Of a cancel: the devalue that it reverses. */
  readonly reverses: number | null;
  /** Of a devalue: the cancel that reversed it, and when. */
  readonly reversedBy: number | null;
  readonly reversedAt: Date | null;
  /** The entry of the audit log, where a person made it. */
  readonly auditId: number | null;
  /** Of a move: the other card. */
  readonly otherCardId: number | null;
}

/** Which rows are meant: all of these must hold. Days are those of the clock in Amsterdam, both included. */
export interface TransactionFilter {
  readonly companyId?: number | undefined;
  readonly cardId?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** These devalues, and what reversed them. */
  readonly devalues?: readonly number[] | undefined;
}

/** The statement that lists single movements, oldest first. */
export const transactionsStatement = ({ companyId, cardId, from, to, devalues }: TransactionFilter) => ({
  text: `select l.id, l.created_at as at, l.kind, l.amount_cents as "amountCents", l.company_id as "companyId",
      o.name as company, l.card_id as "cardId", c.last_four as "lastFour", l.requested_cents as "requestedCents",
      l.reverses, r.id as "reversedBy", r.created_at as "reversedAt", l.audit_id as "auditId",
      coalesce(l.moved_from_card, i.card_id) as "otherCardId"
    from ledger l join cards c on c.id = l.card_id left join companies o on o.id = l.company_id
      left join ledger r on r.reverses = l.id left join ledger i on i.moved_from = l.id
    where ${[
      // Only what is asked for stands in it, so that the planner sees which index serves.
      "$1::int is null or l.company_id = $1",
      cardId === undefined ? "$2::bigint is null" : "l.card_id = $2",
      from === undefined ? "$3::date is null" : `l.created_at >= $3::date::timestamp ${AMSTERDAM}`,
      to === undefined ? "$4::date is null" : `l.created_at < ($4::date + 1)::timestamp ${AMSTERDAM}`,
      devalues === undefined ? "$5::bigint[] is null" : "(l.id = any($5) or l.reverses = any($5))",
    ]
      .map((condition) => `(${condition})`)
      .join(" and ")}
    order by l.id`,
  values: [companyId ?? null, cardId ?? null, from ?? null, to ?? null, devalues ?? null],
});

const AMSTERDAM = "at time zone 'Europe/Amsterdam'";

/** What became of an Idempotency-Key: the devalue that carried it, or that it was ended before one came. */
export interface ReferenceUse {
  readonly companyId: number;
  readonly devalue: number | null;
  readonly at: Date;
}

/** Finds an Idempotency-Key, which shops call a reference, with every company that has used it. */
export async function findReference(
  db: Queryable,
  keys: Keyring,
  reference: string,
): Promise<ReferenceUse[]> {
  const { rows } = await db.query<ReferenceUse>(
    `select k.company_id as "companyId", k.ledger_id as devalue, k.created_at as at
       from companies c join idempotency_keys k
         on k.company_id = c.id and k.operation = 'devalue' and k.key_hash = $1 order by c.id`,
    [keys.idempotencyKey(reference)],
  );
  return rows;
}

/** Finds the devalue that gave a cancel token. */
export async function findToken(db: Queryable, cancelToken: Secret): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>("select id from ledger where token_hash = $1", [
    hashOf(cancelToken),
  ]);
  return rows[0]?.id;
}
