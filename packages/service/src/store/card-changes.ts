import { type Cents, formatCents, type Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { noCardOfId } from "./filters.js";

/** A card by its number, or by the id that reports and the audit log show. */
export type CardReference = { readonly cardNumber: Secret } | { readonly cardId: number };

/** A card as an operator sees it. The status is computed when the card is read. */
export interface Card {
  readonly id: number;
  readonly balanceCents: Cents;
  readonly cardStatus: string;
  readonly expiryDate: string;
  readonly lastFour: string;
  readonly isBlocked: boolean;
  /** The amount that activation puts on the card; null once it is active. */
  readonly inactiveCents: Cents | null;
  /** The card that replaced this one. */
  readonly reissuedAs: number | null;
  readonly batchId: number | null;
}

const COLUMNS = `id, balance_cents as "balanceCents", card_status(cards) as "cardStatus", expiry_date as "expiryDate",
  last_four as "lastFour", blocked as "isBlocked", inactive_cents as "inactiveCents", reissued_as as "reissuedAs",
  batch_id as "batchId"`;

async function findCard(
  db: Queryable,
  keys: Keyring,
  reference: CardReference,
  locking: "" | "for no key update",
): Promise<Card> {
  const [condition, value] =
    "cardId" in reference
      ? ["id = $1", reference.cardId]
      : ["number_hash = any($1)", keys.cardNumbers(reference.cardNumber)];
  const { rows } = await db.query<Card>(`select ${COLUMNS} from cards where ${condition} ${locking}`, [value]);
  if (rows[0]) return rows[0];
  if ("cardId" in reference) throw noCardOfId();
  throw new OperatorError("There is no card with this number.", exitCodes.notFound);
}

/**
 * Finds a card for an operator, without its PIN.
 *
 * @throws {OperatorError} if there is no such card
 */
export const showCard = (db: Queryable, keys: Keyring, reference: CardReference): Promise<Card> =>
  findCard(db, keys, reference, "");

/**
 * Changes one card in one transaction, which also writes the audit log. Locks the card's row, so that concurrent devalues
 * wait.
 *
 * @param change gets the card before the change; throws an {@link OperatorError} if the card's state forbids it
 * @returns the card after the change, and the result of `change`
 * @throws {OperatorError} if there is no such card
 */
export function changeCard<T>(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  change: (db: Queryable, card: Card) => Promise<T>,
): Promise<{ card: Card; result: T }> {
  return transaction(pool, async (db) => {
    const before = await findCard(db, keys, reference, "for no key update");
    const result = await change(db, before);
    return { card: await findCard(db, keys, { cardId: before.id }, ""), result };
  });
}

/** Refuses to change a card that was replaced: it is closed for good. */
export function refuseReplaced({ id, reissuedAs }: Card): void {
  if (reissuedAs === null) return;
  throw new OperatorError(
    `Card ${id} was reissued as card ${reissuedAs}, and is closed. Use --card ${reissuedAs}.`,
    exitCodes.conflict,
  );
}

/**
 * Blocks or unblocks a card. A repetition changes nothing.
 *
 * @throws {OperatorError} if there is no such card, or it was reissued
 */
export async function setBlocked(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  isBlocked: boolean,
  act: Act,
): Promise<Card> {
  const { card } = await changeCard(pool, keys, reference, async (db, before) => {
    refuseReplaced(before);
    if (before.isBlocked === isBlocked) return;
    await db.query("update cards set blocked = $2 where id = $1", [before.id, isBlocked]);
    await writeAudit(db, act, { action: isBlocked ? "card block" : "card unblock", cardId: before.id });
  });
  return card;
}

/**
 * Extends a card's validity. A repetition changes nothing.
 *
 * @param expiryDate the last day of validity
 * @throws {OperatorError} if there is no such card, it was reissued, or it is valid for longer
 */
export async function extendCard(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  expiryDate: string,
  act: Act,
): Promise<Card> {
  const { card } = await changeCard(pool, keys, reference, async (db, before) => {
    refuseReplaced(before);
    if (expiryDate === before.expiryDate) return;
    if (expiryDate < before.expiryDate) {
      throw new OperatorError(
        `Card ${before.id} is already valid until ${before.expiryDate}. A card's validity cannot be shortened.`,
        exitCodes.conflict,
      );
    }
    await db.query("update cards set expiry_date = $2 where id = $1", [before.id, expiryDate]);
    const details = { from: before.expiryDate, to: expiryDate };
    await writeAudit(db, act, { action: "card extend", cardId: before.id, details });
  });
  return card;
}

/** The maximum balance of a card, in cents. */
export const MAX_BALANCE_CENTS = 100_000_000;

/**
 * Adds cents to a card or takes them off, with a row in the ledger. Works on expired and blocked cards too.
 *
 * @param byCents negative to take cents off
 * @throws {OperatorError} if there is no such card, it was reissued or is not sold yet, or the balance would be out of range
 */
export async function adjustCard(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  byCents: Cents,
  act: Act,
): Promise<Card> {
  const { card } = await changeCard(pool, keys, reference, async (db, before) => {
    refuseReplaced(before);
    refuseInactive(before);
    const afterCents = before.balanceCents + byCents;
    if (afterCents < 0 || afterCents > MAX_BALANCE_CENTS) {
      const holds = `Card ${before.id} holds ${formatCents(before.balanceCents)} EUR`;
      const limit = afterCents < 0 ? "less than 0" : `more than ${formatCents(MAX_BALANCE_CENTS)} EUR`;
      throw new OperatorError(`${holds}. It can't hold ${limit}. Nothing was changed.`, exitCodes.conflict);
    }
    const details = { by: byCents };
    const auditId = await writeAudit(db, act, { action: "card adjust", cardId: before.id, details });
    await db.query("insert into ledger (card_id, kind, amount_cents, audit_id) values ($1, 'adjust', $2, $3)", [
      before.id,
      byCents,
      auditId,
    ]);
  });
  return card;
}

/** Refuses to change a card that is not sold yet. */
export function refuseInactive({ id, inactiveCents }: Card): void {
  if (inactiveCents === null) return;
  throw new OperatorError(`Card ${id} is not sold yet. Activate it first.`, exitCodes.conflict);
}

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
    const card = await findCard(db, keys, { cardNumber }, "");
    const { rows } = await db.query<{ until: Date | null }>("select unlock_number($1) as until", [
      keys.guessSubject(cardNumber),
    ]);
    const wasLocked = rows[0]?.until != null;
    const details = { was_locked: wasLocked };
    await writeAudit(db, act, { action: "card unlock", cardId: card.id, details });
    return { card, wasLocked };
  });
}
