import { type Cents, formatCents, type Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { noCardOfId } from "./filters.js";

/** Which card an operator means: by its number, or by the id under which reports and the audit log name it. */
export type CardReference = { readonly cardNumber: Secret } | { readonly cardId: number };

/** A card as the operator sees it: its status is worked out when it is asked for. */
export interface Card {
  readonly id: number;
  readonly balanceCents: Cents;
  readonly cardStatus: string;
  readonly expiryDate: string;
  readonly lastFour: string;
  readonly isBlocked: boolean;
  /** Of a card that is not sold yet: what its activation puts on it. */
  readonly inactiveCents: Cents | null;
  /** The card that took this one's place. */
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
  const { rows } = await db.query<Card>(`select ${COLUMNS} from cards where ${condition} ${locking}`, [
    value,
  ]);
  if (rows[0]) return rows[0];
  if ("cardId" in reference) throw noCardOfId();
  throw new OperatorError("There is no card of this number.", exitCodes.notFound);
}

/**
 * Finds a card for the operator, who needs no PIN.
 *
 * @throws {OperatorError} when there is none
 */
export const showCard = (db: Queryable, keys: Keyring, reference: CardReference): Promise<Card> =>
  findCard(db, keys, reference, "");

/**
 * Has one card changed in one transaction: its row is locked for as long as it takes, so that devalues of it come before
 * or after. The change and its entry in the audit log are written both or neither.
 *
 * @param change gets the card as it is; throws an {@link OperatorError} where the card is in no state for it
 * @returns the card as it is then, and what `change` gave
 * @throws {OperatorError} when there is no such card
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

/** A card that was replaced is closed for good: what is meant for it goes to the one that took its place. */
export function refuseReplaced({ id, reissuedAs }: Card): void {
  if (reissuedAs === null) return;
  throw new OperatorError(
    `Card ${id} was reissued as card ${reissuedAs}, and is closed. Name that one: --card ${reissuedAs}.`,
    exitCodes.conflict,
  );
}

/**
 * Blocks or unblocks a card. Doing it twice is no fault, and is written down once.
 *
 * @throws {OperatorError} when there is none, or it was reissued
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
 * Lets a card work longer. The same day again is no fault.
 *
 * @param expiryDate the last day that it works
 * @throws {OperatorError} when there is none, it was reissued, or it works longer already
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
        `Card ${before.id} works until ${before.expiryDate} already. A shorter time is taken from nobody.`,
        exitCodes.conflict,
      );
    }
    await db.query("update cards set expiry_date = $2 where id = $1", [before.id, expiryDate]);
    const details = { from: before.expiryDate, to: expiryDate };
    await writeAudit(db, act, { action: "card extend", cardId: before.id, details });
  });
  return card;
}

/** What a card can hold at most, in cents. */
export const MAX_BALANCE_CENTS = 100_000_000;

/**
 * Puts cents onto a card or takes them off, as a row of the ledger, whatever the card's expiry or block.
 *
 * @param byCents below 0 takes them off
 * @throws {OperatorError} when there is none, it was reissued or isn't sold yet, or it would hold less than nothing
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
      const limit = afterCents < 0 ? "less than nothing" : `more than ${formatCents(MAX_BALANCE_CENTS)} EUR`;
      throw new OperatorError(`${holds}. It can't hold ${limit}: nothing was changed.`, exitCodes.conflict);
    }
    const details = { by: byCents };
    const auditId = await writeAudit(db, act, { action: "card adjust", cardId: before.id, details });
    await db.query(
      "insert into ledger (card_id, kind, amount_cents, audit_id) values ($1, 'adjust', $2, $3)",
      [before.id, byCents, auditId],
    );
  });
  return card;
}

/** A card that isn't sold yet holds nothing, and is worth what its activation puts on it. */
export function refuseInactive({ id, inactiveCents }: Card): void {
  if (inactiveCents === null) return;
  throw new OperatorError(`Card ${id} is not sold yet. Activate it first.`, exitCodes.conflict);
}

/** Until when wrong PINs have locked a card's number; null when they haven't. */
export async function lockedUntil(db: Queryable, keys: Keyring, cardNumber: Secret): Promise<Date | null> {
  const { rows } = await db.query<{ until: Date }>(
    "select locked_until as until from failed_attempts where subject = $1 and locked_until > now()",
    [keys.guessSubject(cardNumber)],
  );
  return rows[0]?.until ?? null;
}

/**
 * Forgets the wrong PINs of one number, and its lock.
 *
 * @throws {OperatorError} when there is no card of this number
 */
export function unlockCard(
  pool: pg.Pool,
  keys: Keyring,
  cardNumber: Secret,
  act: Act,
): Promise<{ card: Card; wasLocked: boolean }> {
  return transaction(pool, async (db) => {
    // Its row stays free: whoever guesses locks the number first, then the row.
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
