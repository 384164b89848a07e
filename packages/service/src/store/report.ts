import type pg from "pg";
import { readPages } from "../database/database.js";
import { isSince, isUntil } from "./days.js";

/** Devalues and cancels of a period, by printed names, in cents. */
export interface ReportSums {
  readonly devalues: number;
  readonly devalued: number;
  readonly cancels: number;
  readonly canceled: number;
  /** Devalued minus canceled, for the merchant's invoice over the period. */
  readonly outstanding: number;
}

/** One company's movements on one card. */
export interface ReportCard extends ReportSums {
  readonly company_id: number;
  readonly company: string;
  readonly card: number;
  readonly last_four: string;
  /** The card's balance now. */
  readonly balance: number;
}

/** A card; after all cards, a company without a card; and last, the total without a company. */
export type ReportRow = ReportSums & { [Name in Exclude<keyof ReportCard, keyof ReportSums>]: ReportCard[Name] | null };

/**
 * Lists devalues and cancels by company and card, with their sums. Days are inclusive, by the clock in Amsterdam.
 *
 * @param companyId limits the list to one company
 * @param onPage called with pages of rows, all from one snapshot of the database
 */
export function report(
  pool: pg.Pool,
  { from, to, companyId }: { from: string; to: string; companyId?: number | undefined },
  onPage: (rows: ReportRow[]) => Promise<void>,
): Promise<void> {
  const text = `select m.company_id, o.name as company, m.card_id as card, c.last_four, m.devalues, m.devalued, m.cancels,
         m.canceled, m.devalued - m.canceled as outstanding, c.balance_cents as balance
       from (
         select company_id, card_id, grouping(company_id, card_id) as level,
           count(*) filter (where kind = 'devalue')::int as devalues,
           coalesce(sum(refund_cents) filter (where kind = 'devalue'), 0)::bigint as devalued,
           count(*) filter (where kind = 'cancel')::int as cancels,
           coalesce(sum(amount_cents) filter (where kind = 'cancel'), 0)::bigint as canceled
         from ledger
         where company_id is not null and ($3::int is null or company_id = $3)
           and ${isSince("created_at", "$1")} and ${isUntil("created_at", "$2")}
         group by grouping sets ((company_id, card_id), (company_id), ())
       ) m left join companies o on o.id = m.company_id left join cards c on c.id = m.card_id
       order by m.level, o.id, c.id`;
  return readPages(pool, { text, values: [from, to, companyId ?? null] }, onPage);
}
