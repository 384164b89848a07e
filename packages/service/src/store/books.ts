import type pg from "pg";
import { type Queryable, transaction } from "../database.js";

/** A row of the books that does not add up. */
export interface BookFault {
  /** Which rule it breaks; the rules stand in {@link RULES}. */
  readonly rule: keyof typeof RULES;
  readonly cardId: number | null;
  readonly lastFour: string | null;
  readonly ledgerId: number | null;
  readonly expectedCents: number | null;
  readonly foundCents: number | null;
}

/** What the books are held against, and the statement that finds every row which breaks it. */
const RULES = {
  balance_is_ledger: `
    select c.id as card, c.last_four, null::bigint as row, coalesce(s.cents, 0) as expected, c.balance_cents as found
      from cards c left join (select card_id, sum(amount_cents)::bigint as cents from ledger group by card_id) s
        on s.card_id = c.id
      where c.balance_cents <> coalesce(s.cents, 0) order by 1`,
  // Over time too: each card's rows are written one after the other.
  never_below_zero: `
    select c.id, c.last_four, l.id, 0::bigint, l.running
      from (select id, card_id, sum(amount_cents) over (partition by card_id order by id)::bigint as running from ledger) l
        join cards c on c.id = l.card_id where l.running < 0
    union all
    select id, last_four, null, 0, balance_cents from cards where balance_cents < 0 order by 1, 3`,
  one_reversal_each: `
    select c.id, c.last_four, min(r.id), d.refund_cents, sum(r.amount_cents)::bigint
      from ledger r left join ledger d on d.id = r.reverses and d.kind = 'devalue' and d.card_id = r.card_id
          and d.company_id = r.company_id
        left join cards c on c.id = r.card_id
      where r.kind = 'cancel'
      group by r.reverses, r.card_id, c.id, c.last_four, d.id, d.refund_cents
      having count(*) <> 1 or d.id is null or sum(r.amount_cents) <> d.refund_cents order by 3`,
  key_has_its_row: `
    select c.id, c.last_four, k.ledger_id, null::bigint, l.refund_cents
      from idempotency_keys k left join ledger l on l.id = k.ledger_id left join cards c on c.id = l.card_id
      where k.ledger_id is not null
        and (l.id is null or l.kind <> 'devalue' or l.company_id <> k.company_id or k.operation <> 'devalue') order by 3`,
} as const;

/** What was looked at, and all that is wrong with it. */
export interface BookCheck {
  readonly cards: number;
  readonly ledgerRows: number;
  readonly balanceCents: number;
  readonly faults: BookFault[];
}

/** Proves the books, all rules on one state of the database, while it goes on serving. */
export function checkBooks(pool: pg.Pool): Promise<BookCheck> {
  return inOneState(pool, async (db) => {
    const faults: BookFault[] = [];
    for (const [rule, text] of Object.entries(RULES)) {
      const { rows } = await db.query({ text, rowMode: "array" });
      for (const [cardId, lastFour, ledgerId, expectedCents, foundCents] of rows) {
        faults.push({
          rule: rule as keyof typeof RULES,
          cardId,
          lastFour,
          ledgerId,
          expectedCents,
          foundCents,
        });
      }
    }
    const { rows } = await db.query(
      `select (select count(*)::int from cards) as cards, (select count(*)::bigint from ledger) as "ledgerRows",
         (select coalesce(sum(balance_cents), 0)::bigint from cards) as "balanceCents"`,
    );
    return { ...rows[0], faults };
  });
}

/** One company's movements on one card within a period. */
export interface ReportRow {
  readonly companyId: number;
  readonly company: string;
  readonly cardId: number;
  readonly lastFour: string;
  readonly devalues: number;
  readonly devaluedCents: number;
  readonly cancels: number;
  readonly cancelledCents: number;
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
 */
export function report(
  pool: pg.Pool,
  { from, to, companyId }: { from: string; to: string; companyId?: number | undefined },
): Promise<ReportRow[]> {
  return inOneState(pool, async (db) => {
    const { rows } = await db.query<ReportRow>(
      `select o.id as "companyId", o.name as company, c.id as "cardId", c.last_four as "lastFour",
         m.devalues, m.devalued as "devaluedCents", m.cancels, m.cancelled as "cancelledCents",
         m.devalued - m.cancelled as "outstandingCents", c.balance_cents as "balanceCents"
       from (
         select company_id, card_id,
           count(*) filter (where kind = 'devalue')::int as devalues,
           coalesce(sum(refund_cents) filter (where kind = 'devalue'), 0)::bigint as devalued,
           count(*) filter (where kind = 'cancel')::int as cancels,
           coalesce(sum(amount_cents) filter (where kind = 'cancel'), 0)::bigint as cancelled
         from ledger
         where kind in ('devalue', 'cancel') and ($3::int is null or company_id = $3)
           and created_at >= $1::date::timestamp at time zone 'Europe/Amsterdam'
           and created_at < ($2::date + 1)::timestamp at time zone 'Europe/Amsterdam'
         group by company_id, card_id
       ) m join companies o on o.id = m.company_id join cards c on c.id = m.card_id
       order by o.id, c.id`,
      [from, to, companyId ?? null],
    );
    return rows;
  });
}

/** A long read takes the time that it takes, sees one state, and locks nothing. */
function inOneState<T>(pool: pg.Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  return transaction(pool, async (db) => {
    await db.query("set transaction isolation level repeatable read, read only");
    await db.query("set local statement_timeout = 0");
    return work(db);
  });
}
