import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { readSnapshot } from "../database/database.js";
import { isSince, isUntil, TODAY } from "./days.js";

export const liabilityPeriods = ["day", "month", "year"] as const;
/** The period of the expiry date by which cards are grouped. */
export type LiabilityPeriod = (typeof liabilityPeriods)[number];

/** A sum over cards with unspent money, by printed names, in cents. */
export interface LiabilitySum {
  /** Number of cards that hold money. */
  readonly cards: number;
  readonly balance: Cents;
  readonly expired_cards: number;
  readonly expired_balance: Cents;
  readonly blocked_cards: number;
  readonly blocked_balance: Cents;
}

/** The outstanding balances at one moment. */
export interface Liability {
  readonly at: Date;
  readonly total: LiabilitySum;
  /** The sums by expiry, such as 2031, 2031-05 or 2031-05-31, earliest first. */
  readonly periods: readonly (LiabilitySum & { readonly expires: string })[];
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. It is not a liability yet. */
  readonly inactive_cards: number;
  readonly inactive_balance: Cents;
}

const FORMATS: Record<LiabilityPeriod, string> = { day: "YYYY-MM-DD", month: "YYYY-MM", year: "YYYY" };
const sumWhere = (name: string, condition: string) => `
  count(*) filter (where ${condition})::int as ${name}_cards,
  coalesce(sum(cents) filter (where ${condition}), 0)::bigint as ${name}_balance`;

/** SQL: the cards that hold money now, and the stock that is not sold yet. */
const NOW = {
  held: `select balance_cents as cents, expiry_date, expiry_date < ${TODAY} as expired, blocked
    from cards where balance_cents > 0`,
  stock: "select inactive_cents as cents from cards where inactive_cents is not null",
};

/**
 * SQL: the same at the end of a day, from the ledger. The audit log keeps what changed since: a card's expiry date, its
 * blocks, and its activation, without which it was stock.
 */
const AT_DAY = {
  held: `select cents, expiry_date, expiry_date < $2::date as expired, blocked from (
    select sum(l.amount_cents) as cents,
      coalesce((select (a.details ->> 'from')::date from audit_log a
        where a.card_id = c.id and a.action = 'card extend' and not ${isUntil("a.created_at", "$2")}
        order by a.id limit 1), c.expiry_date) as expiry_date,
      coalesce((select a.action = 'card block' from audit_log a
        where a.card_id = c.id and a.action in ('card block', 'card unblock') and ${isUntil("a.created_at", "$2")}
        order by a.id desc limit 1), false) as blocked
    from ledger l join cards c on c.id = l.card_id where ${isUntil("l.created_at", "$2")}
    group by c.id having sum(l.amount_cents) > 0) held`,
  stock: `select coalesce(c.inactive_cents, l.amount_cents) as cents from cards c
    left join (ledger l join audit_log a on a.id = l.audit_id and a.action = 'card activate')
      on l.card_id = c.id and l.kind = 'issue' and not ${isUntil("l.created_at", "$1")}
    where ${isUntil("c.created_at", "$1")} and (c.inactive_cents is not null or l.id is not null)`,
};

/**
 * Sums up the balances of all cards by expiry.
 *
 * @param day the balances at the end of this day, by the clock in Amsterdam. Default: the present ones
 */
export function readLiability(pool: pg.Pool, by: LiabilityPeriod, day?: string): Promise<Liability> {
  const { held, stock } = day === undefined ? NOW : AT_DAY;
  const days = day === undefined ? [] : [day];
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query(
      `select expires, count(*)::int as cards,
         coalesce(sum(cents), 0)::bigint as balance, ${sumWhere("expired", "expired")},
         ${sumWhere("blocked", "blocked")}
       from (select to_char(expiry_date, $1) as expires, * from (${held}) h) c
       group by grouping sets ((), (expires)) order by grouping(expires) desc, expires`,
      [FORMATS[by], ...days],
    );
    const inactive = await db.query(
      `select now() as at, count(*)::int as inactive_cards, coalesce(sum(cents), 0)::bigint as inactive_balance
         from (${stock}) s`,
      days,
    );
    // The first row is the total.
    const [{ expires: _, ...total }, ...periods] = rows as [Liability["periods"][0], ...Liability["periods"]];
    return { ...inactive.rows[0], total, periods };
  });
}

/** How the liability changed within a period, by printed names, in cents. Money that left the cards is negative. */
export interface RollForward {
  /** The balance of all cards before the first day. */
  readonly opening: Cents;
  /** First money of cards that were issued or imported active. */
  readonly issued: Cents;
  /** First money of sold stock. */
  readonly activated: Cents;
  readonly redeemed: Cents;
  readonly reversed: Cents;
  readonly adjusted: Cents;
  /** Written-off balances of expired cards. */
  readonly expired: Cents;
  /** Moves between cards, by reissues. Always 0, since both halves are in one transaction. */
  readonly moved: Cents;
  /** The balance of all cards at the end of the last day: the sum of the ledger. */
  readonly closing: Cents;
}

/** Reads opening, movements and closing from the ledger in one statement. Days are inclusive, by the clock in Amsterdam. */
export function readRollForward(pool: pg.Pool, { from, to }: { from: string; to: string }): Promise<RollForward> {
  const sum = (condition: string) => `coalesce(sum(cents) filter (where ${condition}), 0)::bigint`;
  const within = (kind: string) => sum(`is_within and kind = '${kind}'`);
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query<RollForward>(
      `select ${sum("not is_within")} as opening, ${within("issue")} as issued, ${within("activate")} as activated,
         ${within("devalue")} as redeemed, ${within("cancel")} as reversed, ${within("adjust")} as adjusted,
         ${within("expire")} as expired, ${within("move")} as moved, ${sum("true")} as closing
       from (
         select l.amount_cents as cents, ${isSince("l.created_at", "$1")} as is_within,
           case when l.kind = 'issue' and a.action = 'card activate' then 'activate' else l.kind end as kind
         from ledger l left join audit_log a on a.id = l.audit_id and l.kind = 'issue'
         where ${isUntil("l.created_at", "$2")}) m`,
      [from, to],
    );
    return rows[0] as RollForward;
  });
}
