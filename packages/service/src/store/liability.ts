import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { readSnapshot } from "../database/database.js";

export const liabilityPeriods = ["day", "month", "year"] as const;
/** By which part of its expiry date a card is counted. */
export type LiabilityPeriod = (typeof liabilityPeriods)[number];

/** What cards hold that their holders have not spent. */
export interface LiabilitySum {
  /** That hold money. */
  readonly cards: number;
  readonly balanceCents: Cents;
  /** Of these, on cards that have expired. */
  readonly expiredCards: number;
  readonly expiredCents: Cents;
  /** Of these, on cards that are blocked. */
  readonly blockedCards: number;
  readonly blockedCents: Cents;
}

/** What is outstanding at one moment. */
export interface Liability {
  readonly at: Date;
  readonly total: LiabilitySum;
  /** By when it expires, as 2031, 2031-05 or 2031-05-31, earliest first. */
  readonly periods: readonly (LiabilitySum & { readonly expires: string })[];
  /** Cards that are not sold yet, and what their activation would put on them: nobody is owed it. */
  readonly inactiveCards: number;
  readonly inactiveCents: Cents;
}

const FORMATS: Record<LiabilityPeriod, string> = { day: "YYYY-MM-DD", month: "YYYY-MM", year: "YYYY" };
const sumWhere = (name: string, condition: string) => `
  count(*) filter (where ${condition})::int as "${name}Cards",
  coalesce(sum(balance_cents) filter (where ${condition}), 0)::bigint as "${name}Cents"`;

/** Sums up what is on cards, by when it expires. */
export function readLiability(pool: pg.Pool, by: LiabilityPeriod): Promise<Liability> {
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query(
      `select grouping(expires) = 1 as "isTotal", expires, count(*)::int as cards,
         coalesce(sum(balance_cents), 0)::bigint as "balanceCents",
         ${sumWhere("expired", "expiry_date < (now() at time zone 'Europe/Amsterdam')::date")},
         ${sumWhere("blocked", "blocked")}
       from (select to_char(expiry_date, $1) as expires, * from cards where balance_cents > 0) c
       group by grouping sets ((), (expires)) order by expires`,
      [FORMATS[by]],
    );
    const inactive = await db.query(
      `select now() as at, count(*)::int as "inactiveCards", coalesce(sum(inactive_cents), 0)::bigint as "inactiveCents"
         from cards where inactive_cents is not null`,
    );
    return {
      ...inactive.rows[0],
      total: sumOf(rows.find(({ isTotal }) => isTotal)),
      periods: rows.filter(({ isTotal }) => !isTotal).map((row) => ({ expires: row.expires, ...sumOf(row) })),
    };
  });
}

const sumOf = ({
  cards,
  balanceCents,
  expiredCards,
  expiredCents,
  blockedCards,
  blockedCents,
}: LiabilitySum): LiabilitySum => ({
  cards,
  balanceCents,
  expiredCards,
  expiredCents,
  blockedCards,
  blockedCents,
});
