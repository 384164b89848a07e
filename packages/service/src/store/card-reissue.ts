import type pg from "pg";
import { makeCardNumber, makePin } from "../secrets/card-number.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { type Card, type CardReference, changeCard, refuseInactive, refuseReplaced } from "./card-changes.js";
import { type IssuedCard, insertCards } from "./card-issue.js";

/**
 * Replaces a card by one with a new number and PIN. Moves the balance, and closes the old card for good. Cancel tokens of
 * the old card still work: their money goes to the new one.
 *
 * @param prefix the first digits of the new number
 * @returns the new card, whose number and PIN are shown only once, and the old card before the change
 * @throws {OperatorError} if there is no such card, it was already reissued, or it is not sold yet
 */
export async function reissueCard(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  prefix: string | undefined,
  act: Act,
): Promise<{ made: IssuedCard; old: Card }> {
  const { result } = await changeCard(pool, keys, reference, async (db, old) => {
    refuseReplaced(old);
    refuseInactive(old);
    const { expiryDate } = old;
    const [made] = await insertCards(db, keys, [{ cardNumber: makeCardNumber(prefix), pin: makePin(), expiryDate }]);
    if (!made) throw new Error("No card was made.");
    const auditId = await writeAudit(db, act, {
      action: "card reissue",
      cardId: old.id,
      details: { new_card: made.id, new_last_four: made.cardNumber.lastFour(), balance: old.balanceCents },
    });
    await db.query("update cards set reissued_as = $2 where id = $1", [old.id, made.id]);
    if (old.balanceCents > 0) {
      await db.query("select move_cents($1, $2, $3, $4)", [old.id, made.id, old.balanceCents, auditId]);
    }
    return { made, old };
  });
  return result;
}
