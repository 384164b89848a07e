import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { readSnapshot } from "../database/database.js";
import { isSince, isUntil } from "./days.js";

/** How the liability changed within a period. Money that left the cards is negative. */
export interface RollForward {
  /** The balance of all cards before the first day. */
  readonly openingCents: Cents;
  /** First money of cards that were issued or imported active. */
  readonly issuedCents: Cents;
  /** First money of sold stock. */
  readonly activatedCents: Cents;
  readonly redeemedCents: Cents;
  readonly reversedCents: Cents;
  readonly adjustedCents: Cents;
  /** Written-off balances of expired cards. */
  readonly expiredCents: Cents;
  /** Moves between cards, by reissues. Always 0, since both halves are in one transaction. */
  readonly movedCents: Cents;
  /** The balance of all cards at the end of the last day: the sum of the ledger. */
  readonly closingCents: Cents;
}

/** Reads opening, movements and closing from the ledger in one statement. Days are inclusive, by the clock in Amsterdam. */
export function readRollForward(pool: pg.Pool, { from, to }: { from: string; to: string }): Promise<RollForward> {
  const sum = (condition: string) => `coalesce(sum(cents) filter (where ${condition}), 0)::bigint`;
  const within = (kind: string) => sum(`is_within and kind = '${kind}'`);
  return readSnapshot(pool, async (db) => {
    const { rows } = await db.query<RollForward>(
      `select ${sum("not is_within")} as "openingCents", ${within("issue")} as "issuedCents",
         ${within("activate")} as "activatedCents",
         ${within("devalue")} as "redeemedCents", ${within("cancel")} as "reversedCents",
         ${within("adjust")} as "adjustedCents", ${within("expire")} as "expiredCents",
         ${within("move")} as "movedCents", ${sum("true")} as "closingCents"
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
