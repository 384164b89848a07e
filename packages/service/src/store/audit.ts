import type { Queryable } from "../database/database.js";
import { isWithin } from "./days.js";
import type { ListFilter } from "./filters.js";

/** The person who changes something by command, and the reason. */
export interface Act {
  /** The name that the person gave. Default: the account on the machine. */
  readonly operator: string;
  readonly osUser: string;
  readonly reason: string | undefined;
}

/** The details of a change. They never hold a card number, PIN, password, token or key. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

export interface Change {
  /** The command, such as "card adjust". */
  readonly action: string;
  readonly cardId?: number | undefined;
  readonly batchId?: number | undefined;
  readonly companyId?: number | undefined;
  readonly details?: AuditDetails;
}

/**
 * Writes an entry into the audit log, within the transaction of the change. The database rejects changes of entries.
 *
 * @returns the entry's id
 */
export async function writeAudit(db: Queryable, act: Act, change: Change): Promise<number> {
  const { action, cardId, batchId, companyId, details = {} } = change;
  const { rows } = await db.query<{ id: number }>(
    `insert into audit_log (operator, os_user, action, reason, card_id, batch_id, company_id, details)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
    [act.operator, act.osUser, action, act.reason, cardId, batchId, companyId, JSON.stringify(details)],
  );
  return (rows[0] as { id: number }).id;
}

/**
 * Writes an entry for each card of a change, as {@link writeAudit} does for one. Each card may be given only once.
 *
 * @returns the entries' ids, in the order of the cards
 */
export async function writeCardAudits(
  db: Queryable,
  act: Act,
  action: string,
  cards: readonly { readonly cardId: number; readonly details: AuditDetails }[],
): Promise<number[]> {
  const { rows } = await db.query<{ id: number; cardId: number }>(
    `insert into audit_log (operator, os_user, action, reason, card_id, details)
       select $1::text, $2::text, $3::text, $4::text, card, details::jsonb
         from unnest($5::bigint[], $6::text[]) as given (card, details) order by card
       returning id, card_id as "cardId"`,
    [
      act.operator,
      act.osUser,
      action,
      act.reason,
      cards.map(({ cardId }) => cardId),
      cards.map(({ details }) => JSON.stringify(details)),
    ],
  );
  const ids = new Map(rows.map(({ id, cardId }) => [cardId, id]));
  return cards.map(({ cardId }) => ids.get(cardId) as number);
}

/** An entry of the audit log, by its printed names. */
export interface AuditEntry {
  readonly id: number;
  readonly at: Date;
  readonly operator: string;
  readonly os_user: string;
  readonly action: string;
  readonly reason: string | null;
  readonly card: number | null;
  readonly last_four: string | null;
  readonly batch: number | null;
  readonly company_id: number | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Creates the statement that reads the audit log, oldest first. A card's entries include those of its batch and of the cards that it replaced. */
export const auditStatement = ({ card, company, from, to }: ListFilter) => ({
  text: `with recursive lineage (id, batch_id) as (
      select id, batch_id from cards where id = $1
      union select c.id, c.batch_id from cards c join lineage l on c.reissued_as = l.id
    )
    select a.id, a.created_at as at, a.operator, a.os_user, a.action, a.reason, a.card_id as card, c.last_four,
      a.batch_id as batch, a.company_id, a.details
    from audit_log a left join cards c on c.id = a.card_id
    where ($1::bigint is null or a.card_id in (select id from lineage)
        or a.batch_id in (select batch_id from lineage where batch_id is not null))
      and ($2::int is null or a.company_id = $2)
      and ${isWithin("a.created_at", "$3", "$4")}
    order by a.id`,
  values: [card ?? null, company ?? null, from ?? null, to ?? null],
});
