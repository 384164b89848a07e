import type pg from "pg";
import { readPages } from "../database/database.js";

/** One company's movements on one card within a period. */
export interface ReportRow {
  readonly companyId: number;
  readonly company: string;
  readonly cardId: number;
  readonly lastFour: string;
  readonly devalues: number;
  readonly devaluedCents: number;
  readonly cancels: number;
  readonly canceledCents: number;
  /** Taken and not put back: what a merchant's invoice over the period is about. */
  readonly outstandingCents: number;
  /** What is on the card at this moment. */
  readonly balanceCents: number;
}

/**
 * Lists who took and put back how much on which card, from the first moment of `from` to the last of `to`,
 * by the clock in Amsterdam.
 *
 * @param companyId of one company alone
 * @param onPage takes the rows, some at a time, all of one state of the database
 */
export function report(
  pool: pg.Pool,
  { from, to, companyId }: { from: string; to: string; companyId?: number | undefined },
  onPage: (rows: ReportRow[]) => Promise<void>,
): Promise<void> {
  const text = `select o.id as "companyId", o.name as company, c.id as "cardId", c.last_four as "lastFour",
         m.devalues, m.devalued as "devaluedCents", m.cancels, m.canceled as "canceledCents",
         m.devalued - m.canceled as "outstandingCents", c.balance_cents as "balanceCents"
       from (
         select company_id, card_id,
           count(*) filter (where kind = 'devalue')::int as devalues,
           coalesce(sum(refund_cents) filter (where kind = 'devalue'), 0)::bigint as devalued,
           count(*) filter (where kind = 'cancel')::int as cancels,
           coalesce(sum(amount_cents) filter (where kind = 'cancel'), 0)::bigint as canceled
         from ledger
         where kind in ('devalue', 'cancel') and ($3::int is null or company_id = $3)
           and created_at >= $1::date::timestamp at time zone 'Europe/Amsterdam'
           and created_at < ($2::date + 1)::timestamp at time zone 'Europe/Amsterdam'
         group by company_id, card_id
       ) m join companies o on o.id = m.company_id join cards c on c.id = m.card_id
       order by o.id, c.id`;
  return readPages(pool, { text, values: [from, to, companyId ?? null] }, onPage);
}
