import type { Queryable } from "../database/database.js";
import { type CardChange, idsOf } from "./card-changes.js";
import { isSince } from "./days.js";

/**
 * Chooses the cards whose money expired before a day. Money that arrived since then, such as a late refund, keeps the whole
 * card from being written off. Blocked cards are left for a person to decide.
 *
 * Looks for such money only after the cards are locked: a refund that was committed meanwhile would be written off at once.
 */
export async function stageExpired(db: Queryable, before: string, isDryRun: boolean): Promise<void> {
  await db.query(
    `insert into chosen_cards (card_id)
       select id from cards where balance_cents > 0 and expiry_date < $1::date and not blocked
       order by id ${isDryRun ? "" : "for no key update"}`,
    [before],
  );
  await db.query(
    `delete from chosen_cards c where exists (select from ledger l
       where l.card_id = c.card_id and l.amount_cents > 0 and ${isSince("l.created_at", "$1")})`,
    [before],
  );
}

/**
 * Writes off the whole balance of expired cards, with a row of its own kind in the ledger. A later refund still works: its
 * money is on the card again.
 *
 * @param before the cards must have expired before this day
 */
export const writingOff = (before: string): CardChange => ({
  action: "expire",
  isNeeded: ({ balanceCents, expiryDate, isPastExpiry, isBlocked }) =>
    balanceCents > 0 && isPastExpiry && expiryDate < before && !isBlocked,
  balanceAfter: ({ balanceCents }) => balanceCents,
  async write(db, cards, audit) {
    const auditIds = await audit(({ balanceCents, expiryDate }) => ({
      balance: balanceCents,
      expiry_date: expiryDate,
    }));
    await db.query(
      `insert into ledger (card_id, kind, amount_cents, audit_id)
         select card, 'expire', -cents, audit
           from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (card, cents, audit)`,
      [idsOf(cards), cards.map(({ balanceCents }) => balanceCents), auditIds],
    );
  },
});
