import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { readSnapshot } from "../database/database.js";
import { TODAY } from "./days.js";

export const liabilityPeriods = ["day", "month", "year"] as const;
/** The period of the expiry date by which cards are grouped. */
export type LiabilityPeriod = (typeof liabilityPeriods)[number];

/** A sum over cards with unspent money. */
export interface LiabilitySum {
  /** Number of cards that hold money. */
  readonly cards: number;
  readonly balanceCents: Cents;
  /** The part on expired cards. */
  readonly expiredCards: number;
  readonly expiredCents: Cents;
  /** The part on blocked cards. */
  readonly blockedCards: number;
  readonly blockedCents: Cents;
}

/** The outstanding balances at one moment. */
export interface Liability {
  readonly at: Date;
  readonly total: LiabilitySum;
  /** The sums by expiry, such as 2031, 2031-05 or 2031-05-31, earliest first. */
  readonly periods: readonly (LiabilitySum & { readonly expires: string })[];
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. It is not a liability yet. */
  readonly inactiveCards: number;
  readonly inactiveCents: Cents;
}

const FORMATS: Record<LiabilityPeriod, string> = { day: "YYYY-MM-DD", month: "YYYY-MM", year: "YYYY" };
const sumWhere = (name: string, condition: string) => `
  count(*) filter (where ${condition})::int as "${name}Cards",
  coalesce(sum(balance_cents) filter (where ${condition}), 0)::bigint as "${name}Cents"`;

/** Sums up the balances of all cards by expiry. */
export function readLiability(pool: pg.Pool, by: LiabilityPeriod): Promise<Liability> {
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query(
      `select grouping(expires) = 1 as "isTotal", expires, count(*)::int as cards,
         coalesce(sum(balance_cents), 0)::bigint as "balanceCents",
         ${sumWhere("expired", `expiry_date < ${TODAY}`)},
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
