import type pg from "pg";
import { readPages } from "../database/database.js";
import { isSince, isUntil } from "./days.js";

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
  /** Devalued minus canceled, for the merchant's invoice over the period. */
  readonly outstandingCents: number;
  /** The card's balance now. */
  readonly balanceCents: number;
}

/**
 * Lists devalues and cancels by company and card. Days are inclusive, by the clock in Amsterdam.
 *
 * @param companyId limits the list to one company
 * @param onPage called with pages of rows, all from one snapshot of the database
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
         where company_id is not null and ($3::int is null or company_id = $3)
           and ${isSince("created_at", "$1")} and ${isUntil("created_at", "$2")}
         group by company_id, card_id
       ) m join companies o on o.id = m.company_id join cards c on c.id = m.card_id
       order by o.id, c.id`;
  return readPages(pool, { text, values: [from, to, companyId ?? null] }, onPage);
}
