import { randomBytes, randomUUID } from "node:crypto";
import { type Cents, MAX_DEDUCTION_CENTS, type Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { makeCardNumber, makePin } from "../card-number.js";
import { type Queryable, transaction } from "../database.js";
import { hashOf, type Keyring } from "../keyring.js";

/** A card as it is: its status is worked out when it is asked for. */
export interface Card {
  readonly balanceCents: Cents;
  readonly cardStatus: string;
  readonly expiryDate: string;
  readonly lastFour: string;
}

const CARD_COLUMNS = `balance_cents as "balanceCents", card_status(cards) as "cardStatus",
  expiry_date as "expiryDate", last_four as "lastFour"`;

/** Finds the card of a number and PIN; a wrong PIN and an unknown number look the same, also in time. */
export async function findCard(
  db: Queryable,
  keys: Keyring,
  cardNumber: Secret,
  pin: Secret,
): Promise<Card | undefined> {
  const { rows } = await db.query<Card>({
    name: "find-card",
    text: `select ${CARD_COLUMNS} from cards where number_hash = $1 and pin_hash = $2`,
    values: [keys.cardNumber(cardNumber), keys.pin(cardNumber, pin)],
  });
  return rows[0];
}

/** What a devalue is asked to do. */
export interface DevalueOrder {
  readonly companyId: number;
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly amountCents: Cents;
  readonly idempotencyKey: string | undefined;
}

export type DevalueOutcome =
  | { outcome: "done" | "replayed"; deductedCents: Cents; cancelToken: Secret }
  | {
      outcome:
        | "invalid_card"
        | "card_blocked"
        | "card_expired"
        | "card_no_balance"
        | "key_closed"
        | "idempotency_key_reused"
        | "idempotency_key_spent";
    };

interface DevalueRow {
  outcome: DevalueOutcome["outcome"];
  deducted_cents: number;
  deduction_id: string;
  token_nonce: Buffer;
}

/** The one statement that takes money off a card; values as {@link devalueValues} gives them. */
export const DEVALUE_STATEMENT = "select * from devalue($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/** What {@link DEVALUE_STATEMENT} needs: hashes only, and a fresh deduction with its token's hash. */
export function devalueValues(keys: Keyring, order: DevalueOrder): unknown[] {
  const { companyId, cardNumber, pin, amountCents, idempotencyKey } = order;
  const deductionId = randomUUID();
  const nonce = randomBytes(16);
  const keyed = idempotencyKey !== undefined;
  return [
    companyId,
    keys.cardNumber(cardNumber),
    keys.pin(cardNumber, pin),
    amountCents,
    MAX_DEDUCTION_CENTS,
    deductionId,
    nonce,
    hashOf(keys.cancelToken(deductionId, nonce)),
    keyed ? keys.idempotencyKey(idempotencyKey) : null,
    keyed ? keys.parameters(cardNumber.reveal(), pin.reveal(), amountCents) : null,
  ];
}

/** Deducts the smallest of amount, balance and limit, or says why not. Whole or not at all. */
export async function devalue(db: Queryable, keys: Keyring, order: DevalueOrder): Promise<DevalueOutcome> {
  const { rows } = await db.query<DevalueRow>({
    name: "devalue",
    text: DEVALUE_STATEMENT,
    values: devalueValues(keys, order),
  });
  const row = rows[0] as DevalueRow;
  if (row.outcome !== "done" && row.outcome !== "replayed") return { outcome: row.outcome };
  const cancelToken = keys.cancelToken(row.deduction_id, row.token_nonce);
  return { outcome: row.outcome, deductedCents: row.deducted_cents as Cents, cancelToken };
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
      `insert into cards (number_hash, pin_hash, last_four, expiry_date)
         select number_hash, pin_hash, last_four, $4 from unnest($1::bytea[], $2::bytea[], $3::text[])
           as made (number_hash, pin_hash, last_four) returning id`,
      [
        made.map((card) => keys.cardNumber(card.cardNumber)),
        made.map((card) => keys.pin(card.cardNumber, card.pin)),
        made.map((card) => card.cardNumber.lastFour()),
        expiryDate,
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
  const { rows } = await db.query<Card>(`select ${CARD_COLUMNS} from cards where number_hash = $1`, [
    keys.cardNumber(cardNumber),
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
    `update cards set blocked = $2 where number_hash = $1 returning ${CARD_COLUMNS}`,
    [keys.cardNumber(cardNumber), blocked],
  );
  return rows[0];
}
