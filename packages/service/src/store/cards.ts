import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { makeCardNumber, makePin } from "../card-number.js";
import { type Queryable, transaction } from "../database.js";
import { hashOf, type Keyring } from "../keyring.js";
import { type LockoutRule, ruleText } from "../limits/limits.js";

/** A card as it is: its status is worked out when it is asked for. */
export interface Card {
  readonly balanceCents: Cents;
  readonly cardStatus: string;
  readonly expiryDate: string;
  readonly lastFour: string;
}

const CARD_COLUMNS = `balance_cents as "balanceCents", card_status(cards) as "cardStatus",
  expiry_date as "expiryDate", last_four as "lastFour"`;

/** A number and PIN that were refused, or can't be judged now. */
export type CardRefusal = { outcome: "invalid_card" } | { outcome: "card_locked"; retryAfterSeconds: number };

interface ReadRow {
  outcome: "done" | CardRefusal["outcome"] | "stale";
  balance_cents: Cents;
  card_status: string;
  expiry_date: string;
  retry_after_seconds: number;
}

/** Reads the card of a number and PIN; a wrong PIN and an unknown number look the same, also in time. */
export async function readCard(
  db: Queryable,
  keys: Keyring,
  rule: LockoutRule,
  { cardNumber, pin }: { cardNumber: Secret; pin: Secret },
): Promise<({ outcome: "done" } & Omit<Card, "lastFour">) | CardRefusal> {
  const row = await withFreshSecrets(keys, async () => {
    const { rows } = await db.query<ReadRow>({
      name: "read-card",
      text: "select * from read_card($1, $2, $3)",
      values: [keys.cardNumbers(cardNumber), keys.pins(cardNumber, pin), ruleText(rule)],
    });
    return rows[0] as ReadRow;
  });
  if (row.outcome !== "done") return refusalOf(row.outcome, row);
  const { balance_cents: balanceCents, card_status: cardStatus, expiry_date: expiryDate } = row;
  return { outcome: "done", balanceCents, cardStatus, expiryDate };
}

/** What a row of the database says to a number and PIN that were refused. */
export const refusalOf = (
  outcome: CardRefusal["outcome"],
  row: { retry_after_seconds: number },
): CardRefusal =>
  outcome === "card_locked" ? { outcome, retryAfterSeconds: row.retry_after_seconds } : { outcome };

/** Runs a statement that refuses the hashes of a process whose secrets are not the newest; once more with newer ones. */
export async function withFreshSecrets<Row extends { outcome: string }>(
  keys: Keyring,
  run: () => Promise<Row>,
): Promise<Row & { outcome: Exclude<Row["outcome"], "stale"> }> {
  let row = await run();
  if (row.outcome === "stale") {
    await keys.refresh();
    row = await run();
  }
  if (row.outcome === "stale") throw new Error("The secrets were rotated and could not be read again.");
  return row as Row & { outcome: Exclude<Row["outcome"], "stale"> };
}

export type CancelOutcome =
  | { outcome: "done"; refundedCents: Cents; balanceCents: Cents }
  | { outcome: "token_invalid" | "token_used" | "devalue_not_done" };

interface CancelRow {
  outcome: CancelOutcome["outcome"];
  refunded_cents: number;
  balance_cents: number;
}

/** Reverses a deduction by its token, once. */
export const cancelByToken = (db: Queryable, companyId: number, cancelToken: Secret) =>
  cancel(db, "select * from cancel_by_token($1, $2)", [companyId, hashOf(cancelToken)]);

/** Ends a devalue by its key: it is reversed, or will never be. */
export const cancelByKey = (db: Queryable, keys: Keyring, companyId: number, idempotencyKey: string) =>
  cancel(db, "select * from cancel_by_key($1, $2)", [companyId, keys.idempotencyKey(idempotencyKey)]);

async function cancel(db: Queryable, text: string, values: unknown[]): Promise<CancelOutcome> {
  const { rows } = await db.query<CancelRow>({ name: text, text, values });
  const row = rows[0] as CancelRow;
  return row.outcome === "done"
    ? {
        outcome: "done",
        refundedCents: row.refunded_cents as Cents,
        balanceCents: row.balance_cents as Cents,
      }
    : { outcome: row.outcome };
}

/** A card just made. Number and PIN are shown this once. */
export interface IssuedCard {
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly expiryDate: string;
}

/** Issues cards, all or none, each with a first row in the ledger where it holds money. */
export function issueCards(
  pool: pg.Pool,
  keys: Keyring,
  order: { count: number; balanceCents: Cents; expiryDate: string; prefix?: string | undefined },
): Promise<IssuedCard[]> {
  const { count, balanceCents, expiryDate, prefix } = order;
  const made = Array.from({ length: count }, () => ({
    cardNumber: makeCardNumber(prefix),
    pin: makePin(),
    expiryDate,
  }));
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number }>(
      `insert into cards (number_hash, pin_hash, last_four, expiry_date, generation)
         select number_hash, pin_hash, last_four, $4, $5 from unnest($1::bytea[], $2::bytea[], $3::text[])
           as made (number_hash, pin_hash, last_four) returning id`,
      [
        made.map((card) => keys.cardNumbers(card.cardNumber).at(-1)),
        made.map((card) => keys.pins(card.cardNumber, card.pin).at(-1)),
        made.map((card) => card.cardNumber.lastFour()),
        expiryDate,
        keys.newest,
      ],
    );
    if (balanceCents > 0) {
      await db.query(
        "insert into ledger (card_id, kind, amount_cents) select id, 'issue', $2 from unnest($1::bigint[]) id",
        [rows.map((row) => row.id), balanceCents],
      );
    }
    return made;
  });
}

/** Finds a card by its number alone, for the operator. */
export async function showCard(db: Queryable, keys: Keyring, cardNumber: Secret): Promise<Card | undefined> {
  const { rows } = await db.query<Card>(`select ${CARD_COLUMNS} from cards where number_hash = any($1)`, [
    keys.cardNumbers(cardNumber),
  ]);
  return rows[0];
}

/** Blocks or unblocks a card; undefined when there is none. Doing it twice is no fault. */
export async function setBlocked(
  db: Queryable,
  keys: Keyring,
  cardNumber: Secret,
  blocked: boolean,
): Promise<Card | undefined> {
  const { rows } = await db.query<Card>(
    `update cards set blocked = $2 where number_hash = any($1) returning ${CARD_COLUMNS}`,
    [keys.cardNumbers(cardNumber), blocked],
  );
  return rows[0];
}

/** One movement of money on a card. */
export interface Movement {
  readonly at: Date;
  readonly kind: "issue" | "devalue" | "cancel";
  readonly amountCents: Cents;
  readonly companyId: number | null;
  /** What the card held after it. */
  readonly balanceCents: Cents;
}

/** Lists what happened to a card's money, oldest first. */
export async function listMovements(db: Queryable, keys: Keyring, cardNumber: Secret): Promise<Movement[]> {
  const { rows } = await db.query<Movement>(
    `select l.created_at as at, l.kind, l.amount_cents as "amountCents", l.company_id as "companyId",
       (sum(l.amount_cents) over (order by l.id))::bigint as "balanceCents"
     from ledger l join cards c on c.id = l.card_id where c.number_hash = any($1) order by l.id`,
    [keys.cardNumbers(cardNumber)],
  );
  return rows;
}
