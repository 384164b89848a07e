import { type Cents, formatCents, type Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, type AuditDetails, writeAudit, writeCardAudits } from "./audit.js";
import { putFirstMoney } from "./card-issue.js";
import { type Card, type CardReference, findCard } from "./card-lookup.js";

/**
 * Writes an entry into the audit log for each card of a change.
 *
 * @param detailsOf returns the details of a card's entry. Default: none
 * @returns the entries' ids, in the order of the cards
 */
export type WriteAudits = (detailsOf?: (card: Card, index: number) => AuditDetails) => Promise<number[]>;

/** A change that an operator makes to one card, or to many. */
export interface CardChange {
  /** The command, such as "card adjust", for the audit log. */
  readonly action: string;
  /**
   * Returns whether the card has to be changed. False if it is already as requested.
   *
   * @throws {OperatorError} if the card's state forbids the change
   */
  isNeeded(card: Card): boolean;
  /** Refuses a repetition of the change for a single card. Without it, a repetition succeeds and changes nothing. */
  readonly refuseRepetition?: (card: Card) => never;
  /** Returns what the card will hold after the change; of a write-off, what it takes off. */
  balanceAfter(card: Card): Cents;
  /** Starts anew: the transaction may be retried. */
  begin?(): Promise<void>;
  /** Changes cards whose rows are locked, and writes one audit entry for each of them. */
  write(db: Queryable, cards: readonly Card[], audit: WriteAudits): Promise<void>;
  /** Runs before the commit. */
  end?(): Promise<void>;
}

export const writeChange = (db: Queryable, change: CardChange, cards: readonly Card[], act: Act): Promise<void> =>
  change.write(db, cards, (detailsOf = () => ({})) =>
    writeCardAudits(
      db,
      act,
      change.action,
      cards.map((card, index) => ({ cardId: card.id, details: detailsOf(card, index) })),
    ),
  );

/**
 * Changes one card in one transaction, which also writes the audit log. Locks the card's row, so that concurrent devalues
 * wait.
 *
 * @returns the card after the change
 * @throws {OperatorError} if there is no such card, or its state forbids the change
 */
export function changeCard(
  pool: pg.Pool,
  keys: Keyring,
  reference: CardReference,
  change: CardChange,
  act: Act,
): Promise<Card> {
  return transaction(pool, async (db) => {
    await change.begin?.();
    const before = await findCard(db, keys, reference, "for no key update");
    if (change.isNeeded(before)) await writeChange(db, change, [before], act);
    else change.refuseRepetition?.(before);
    await change.end?.();
    return findCard(db, keys, { cardId: before.id });
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

/** Refuses to change a card that is not sold yet. */
export function refuseInactive({ id, inactiveCents }: Card): void {
  if (inactiveCents === null) return;
  throw new OperatorError(`Card ${id} is not sold yet. Activate it first.`, exitCodes.conflict);
}

export const idsOf = (cards: readonly Card[]): number[] => cards.map(({ id }) => id);

/** Blocks or unblocks cards, unless they were reissued. */
export const blocking = (isBlocked: boolean): CardChange => ({
  action: isBlocked ? "card block" : "card unblock",
  isNeeded(card) {
    refuseReplaced(card);
    return card.isBlocked !== isBlocked;
  },
  balanceAfter: ({ balanceCents }) => balanceCents,
  async write(db, cards, audit) {
    await db.query("update cards set blocked = $2 where id = any($1)", [idsOf(cards), isBlocked]);
    await audit();
  },
});

/**
 * Extends the validity of cards, unless they were reissued or are valid for longer.
 *
 * @param expiryDate the last day of validity
 */
export const extending = (expiryDate: string): CardChange => ({
  action: "card extend",
  isNeeded(card) {
    refuseReplaced(card);
    if (expiryDate >= card.expiryDate) return expiryDate !== card.expiryDate;
    throw new OperatorError(
      `Card ${card.id} is already valid until ${card.expiryDate}. A card's validity cannot be shortened.`,
      exitCodes.conflict,
    );
  },
  balanceAfter: ({ balanceCents }) => balanceCents,
  async write(db, cards, audit) {
    await db.query("update cards set expiry_date = $2 where id = any($1)", [idsOf(cards), expiryDate]);
    await audit((before) => ({ from: before.expiryDate, to: expiryDate }));
  },
});

export const MAX_BALANCE_CENTS = 100_000_000;

/**
 * Adds cents to cards or takes them off, with a row in the ledger. Works on expired and blocked cards too. Refuses cards that
 * were reissued or are not sold yet, and a balance that would be out of range.
 *
 * @param byCents negative to take cents off
 */
export const adjusting = (byCents: Cents): CardChange => ({
  action: "card adjust",
  isNeeded(card) {
    refuseReplaced(card);
    refuseInactive(card);
    const afterCents = card.balanceCents + byCents;
    if (afterCents >= 0 && afterCents <= MAX_BALANCE_CENTS) return true;
    const holds = `Card ${card.id} holds ${formatCents(card.balanceCents)} EUR`;
    const limit = afterCents < 0 ? "less than 0" : `more than ${formatCents(MAX_BALANCE_CENTS)} EUR`;
    throw new OperatorError(`${holds}. It can't hold ${limit}.`, exitCodes.conflict);
  },
  balanceAfter: ({ balanceCents }) => (balanceCents + byCents) as Cents,
  async write(db, cards, audit) {
    const auditIds = await audit(() => ({ by: byCents }));
    await db.query(
      `insert into ledger (card_id, kind, amount_cents, audit_id)
         select card, 'adjust', $3, audit from unnest($1::bigint[], $2::bigint[]) as given (card, audit)`,
      [idsOf(cards), auditIds, byCents],
    );
  },
});

/** Activates sold cards, unless they are blocked or expired: puts the amount on each that it was issued for. */
export const activating: CardChange = {
  action: "card activate",
  isNeeded({ id, inactiveCents, isBlocked, isPastExpiry }) {
    if (inactiveCents === null) return false;
    if (!isBlocked && !isPastExpiry) return true;
    const [is, first] = isBlocked ? ["is blocked", "Unblock"] : ["has expired", "Extend"];
    throw new OperatorError(`Card ${id} ${is}. ${first} it first.`, exitCodes.conflict);
  },
  refuseRepetition({ id }) {
    throw new OperatorError(`Card ${id} is already active.`, exitCodes.conflict);
  },
  balanceAfter: ({ inactiveCents }) => inactiveCents as Cents,
  async write(db, cards, audit) {
    const auditIds = await audit(({ inactiveCents }) => ({ cards: 1, balance: inactiveCents }));
    await db.query("update cards set inactive_cents = null where id = any($1)", [idsOf(cards)]);
    const money = cards.map(({ id, inactiveCents }, index) => ({
      id,
      cents: inactiveCents as Cents,
      auditId: auditIds[index] as number,
    }));
    await putFirstMoney(db, money);
  },
};

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
    const auditIds = await audit((card) => ({ balance: card.balanceCents, expiry_date: card.expiryDate }));
    await db.query(
      `insert into ledger (card_id, kind, amount_cents, audit_id)
         select card, 'expire', -cents, audit
           from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (card, cents, audit)`,
      [idsOf(cards), cards.map(({ balanceCents }) => balanceCents), auditIds],
    );
  },
});

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
