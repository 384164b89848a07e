import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database.js";
import type { Keyring } from "../keyring.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";

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
  const what = "cardId" in reference ? "id" : "number";
  throw new OperatorError(`There is no card of this ${what}.`, exitCodes.notFound);
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
