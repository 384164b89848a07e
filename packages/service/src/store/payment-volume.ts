import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { readSnapshot } from "../database/database.js";
import { isUntil } from "./days.js";

/** The payments of twelve months. Days are inclusive, by the clock in Amsterdam. */
export interface PaymentVolume {
  readonly from: string;
  readonly until: string;
  readonly payments: number;
  /** The sum of all devalues. */
  readonly grossCents: Cents;
  /** The part of it that was reversed by the end of the last day. */
  readonly reversedCents: Cents;
}

/**
 * Sums up the payments of the twelve months that end with a day. A reversal counts with its devalue, also if the devalue is
 * older than the reversal's own twelve months, so that the net value never mixes two periods.
 */
export function readPaymentVolume(pool: pg.Pool, until: string): Promise<PaymentVolume> {
  const first = "($1::date - interval '12 months')::date + 1";
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query<PaymentVolume>(
      `select (${first})::text as "from", $1::date::text as until, count(*)::int as payments,
         coalesce(sum(d.refund_cents), 0)::bigint as "grossCents",
         coalesce(sum(d.refund_cents) filter (where r.id is not null), 0)::bigint as "reversedCents"
       from ledger d left join ledger r on r.reverses = d.id and ${isUntil("r.created_at", "$1")}
       where d.kind = 'devalue' and ${isUntil("d.created_at", "$1")}
         and d.created_at >= (${first})::timestamp at time zone 'Europe/Amsterdam'`,
      [until],
    );
    return rows[0] as PaymentVolume;
  });
}
