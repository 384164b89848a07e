import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { makeCardNumber, makePin } from "../secrets/card-number.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";

export interface IssueOrder {
  readonly count: number;
  readonly balanceCents: Cents;
  readonly expiryDate: string;
  readonly prefix?: string | undefined;
  /** Whether the cards are empty and unusable until they are activated. */
  readonly isInactive?: boolean | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

/** A new card. Number and PIN are shown only once. */
export interface IssuedCard {
  readonly id: number;
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly expiryDate: string;
}

/** A receiver of new cards. They are committed only after `end` has resolved. */
export interface CardSink<Made extends IssuedCard = IssuedCard> {
  /** Starts anew, without the cards of an earlier try: the transaction may be retried. */
  begin(batchId: number | null): Promise<void>;
  take(cards: readonly Made[]): Promise<void>;
  end(): Promise<void>;
}

/** Number of cards in memory at once. */
const CHUNK = 1000;

/**
 * Issues cards in one transaction, each with its first row in the ledger unless it is empty. Several cards form a batch.
 *
 * @returns the batch's id; null for a single card
 */
export function issueTo(
  sink: CardSink,
  pool: pg.Pool,
  keys: Keyring,
  order: IssueOrder,
  act: Act,
): Promise<number | null> {
  const { count, balanceCents, expiryDate, prefix, isInactive = false, onProgress } = order;
  return transaction(pool, async (db) => {
    const batchId = count > 1 ? await makeBatch(db, "issue") : null;
    await sink.begin(batchId);
    let entry: number | undefined;
    for (let left = count; left > 0; left -= CHUNK) {
      const made = Array.from({ length: Math.min(left, CHUNK) }, () => ({
        cardNumber: makeCardNumber(prefix),
        pin: makePin(),
        expiryDate,
      }));
      const inactiveCents = isInactive ? balanceCents : null;
      const cards = await insertCards(db, keys, made, { batchId, inactiveCents });
      entry ??= await writeAudit(db, act, {
        action: "card issue",
        ...(batchId === null ? { cardId: cards[0]?.id } : { batchId }),
        details: { cards: count, balance: balanceCents, expiry_date: expiryDate, inactive: isInactive },
      });
      if (!isInactive) {
        const auditId = entry;
        const money = cards.map(({ id }) => ({ id, cents: balanceCents, auditId }));
        await putFirstMoney(db, money);
      }
      await sink.take(cards);
      onProgress?.(count - left + cards.length, count);
    }
    await sink.end();
    return batchId;
  });
}

/** Issues cards and returns them. See {@link issueTo}. */
export async function issueCards(pool: pg.Pool, keys: Keyring, order: IssueOrder, act: Act): Promise<IssuedCard[]> {
  let issued: IssuedCard[] = [];
  const sink: CardSink = {
    begin: async () => void (issued = []),
    take: async (cards) => void issued.push(...cards),
    end: async () => {},
  };
  await issueTo(sink, pool, keys, order, act);
  return issued;
}

export async function makeBatch(db: Queryable, origin: "issue" | "import"): Promise<number> {
  const { rows } = await db.query<{ id: number }>("insert into card_batches (origin) values ($1) returning id", [
    origin,
  ]);
  return (rows[0] as { id: number }).id;
}

/** Inserts the first ledger row of each card. A card can have only one. */
export async function putFirstMoney(
  db: Queryable,
  cards: readonly { readonly id: number; readonly cents: number; readonly auditId: number }[],
): Promise<void> {
  await db.query(
    `insert into ledger (card_id, kind, amount_cents, audit_id)
       select card, 'issue', cents, audit from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (card, cents, audit)
         where cents > 0`,
    [cards.map(({ id }) => id), cards.map(({ cents }) => cents), cards.map(({ auditId }) => auditId)],
  );
}

/** Inserts empty cards, hashed under the newest secrets. */
export async function insertCards(
  db: Queryable,
  keys: Keyring,
  made: readonly Omit<IssuedCard, "id">[],
  { batchId = null, inactiveCents = null }: { batchId?: number | null; inactiveCents?: number | null } = {},
): Promise<IssuedCard[]> {
  const hashes = made.map((card) => keys.cardNumbers(card.cardNumber).at(-1) as Buffer);
  const { rows } = await db.query<{ id: number; hash: Buffer }>(
    `insert into cards (number_hash, pin_hash, last_four, expiry_date, generation, batch_id, inactive_cents)
       select number_hash, pin_hash, last_four, expiry_date, $5, $6, $7
         from unnest($1::bytea[], $2::bytea[], $3::text[], $4::date[])
           as made (number_hash, pin_hash, last_four, expiry_date)
       returning id, number_hash as hash`,
    [
      hashes,
      made.map((card) => keys.pins(card.cardNumber, card.pin).at(-1)),
      made.map((card) => card.cardNumber.lastFour()),
      made.map((card) => card.expiryDate),
      keys.newest,
      batchId,
      inactiveCents,
    ],
  );
  const ids = new Map(rows.map(({ id, hash }) => [hash.toString("latin1"), id]));
  return made.map((card, index) => ({
    ...card,
    id: ids.get((hashes[index] as Buffer).toString("latin1")) as number,
  }));
}

/** Cards that were issued or imported together, by their printed names. */
export interface CardBatch {
  readonly batch: number;
  readonly origin: "issue" | "import";
  readonly created_at: Date;
  readonly cards: number;
  readonly balance: Cents;
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. */
  readonly inactive_cards: number;
  readonly inactive_balance: Cents;
}

/** The statement that lists the batches, oldest first. */
export const batchesStatement = {
  text: `select b.id as batch, b.origin, b.created_at, count(c.id)::int as cards,
      coalesce(sum(c.balance_cents), 0)::bigint as balance, count(c.inactive_cents)::int as inactive_cards,
      coalesce(sum(c.inactive_cents), 0)::bigint as inactive_balance
    from card_batches b left join cards c on c.batch_id = b.id group by b.id order by b.id`,
  values: [],
};
