import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { makeCardNumber, makePin } from "../card-number.js";
import { type Queryable, transaction } from "../database.js";
import type { Keyring } from "../keyring.js";
import { type Act, writeAudit } from "./audit.js";

/** What cards are issued. */
export interface IssueOrder {
  readonly count: number;
  readonly balanceCents: Cents;
  readonly expiryDate: string;
  readonly prefix?: string | undefined;
}

/** A card just made. Number and PIN are shown this once. */
export interface IssuedCard {
  readonly id: number;
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly expiryDate: string;
}

/** Issues cards, all or none, each with a first row in the ledger where it holds money. */
export function issueCards(pool: pg.Pool, keys: Keyring, order: IssueOrder, act: Act): Promise<IssuedCard[]> {
  const { count, balanceCents, expiryDate, prefix } = order;
  return transaction(pool, async (db) => {
    const made = Array.from({ length: count }, () => ({
      cardNumber: makeCardNumber(prefix),
      pin: makePin(),
      expiryDate,
    }));
    const cards = await insertCards(db, keys, made);
    const auditId = await writeAudit(db, act, {
      action: "card issue",
      cardId: count === 1 ? cards[0]?.id : undefined,
      details: { cards: count, balance: balanceCents, expiry_date: expiryDate },
    });
    if (balanceCents > 0) {
      await db.query(
        `insert into ledger (card_id, kind, amount_cents, audit_id)
           select id, 'issue', $2, $3 from unnest($1::bigint[]) id`,
        [cards.map(({ id }) => id), balanceCents, auditId],
      );
    }
    return cards;
  });
}

/** Writes empty cards under the newest secrets. */
export async function insertCards(
  db: Queryable,
  keys: Keyring,
  made: readonly Omit<IssuedCard, "id">[],
): Promise<IssuedCard[]> {
  const hashes = made.map((card) => keys.cardNumbers(card.cardNumber).at(-1) as Buffer);
  const { rows } = await db.query<{ id: number; hash: Buffer }>(
    `insert into cards (number_hash, pin_hash, last_four, expiry_date, generation)
       select number_hash, pin_hash, last_four, expiry_date, $5
         from unnest($1::bytea[], $2::bytea[], $3::text[], $4::date[])
           as made (number_hash, pin_hash, last_four, expiry_date)
       returning id, number_hash as hash`,
    [
      hashes,
      made.map((card) => keys.pins(card.cardNumber, card.pin).at(-1)),
      made.map((card) => card.cardNumber.lastFour()),
      made.map((card) => card.expiryDate),
      keys.newest,
    ],
  );
  const ids = new Map(rows.map(({ id, hash }) => [hash.toString("latin1"), id]));
  return made.map((card, index) => ({
    ...card,
    id: ids.get((hashes[index] as Buffer).toString("latin1")) as number,
  }));
}
