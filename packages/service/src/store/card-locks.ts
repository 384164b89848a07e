import type { Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { type Card, findCard } from "./card-lookup.js";

/** Returns until when wrong PINs have locked a card number: `infinity` until `card unlock`, and null if it is not locked. */
export async function lockedUntil(db: Queryable, keys: Keyring, cardNumber: Secret): Promise<Date | "infinity" | null> {
  const { rows } = await db.query<{ until: Date | number }>(
    "select locked_until as until from failed_attempts where subject = $1 and locked_until > now()",
    [keys.guessSubject(cardNumber)],
  );
  const until = rows[0]?.until ?? null;
  // The driver reads PostgreSQL's `infinity` as a number.
  return typeof until === "number" ? "infinity" : until;
}

/**
 * Removes the lock of a card number, and its count of wrong PINs.
 *
 * @throws {OperatorError} if there is no card with this number
 */
export function unlockCard(
  pool: pg.Pool,
  keys: Keyring,
  cardNumber: Secret,
  act: Act,
): Promise<{ card: Card; wasLocked: boolean }> {
  return transaction(pool, async (db) => {
    // Doesn't lock the card's row: a devalue locks the number first, then the row, so it would deadlock with this.
    const card = await findCard(db, keys, { cardNumber });
    const { rows } = await db.query<{ until: Date | null }>("select unlock_number($1) as until", [
      keys.guessSubject(cardNumber),
    ]);
    const wasLocked = rows[0]?.until != null;
    const details = { was_locked: wasLocked };
    await writeAudit(db, act, { action: "card unlock", cardId: card.id, details });
    return { card, wasLocked };
  });
}
