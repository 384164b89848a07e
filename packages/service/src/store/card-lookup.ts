import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import { TODAY } from "./days.js";
import { noCardOfId } from "./filters.js";

/** A card by its number, or by the id that reports and the audit log show. */
export type CardReference = { readonly cardNumber: Secret } | { readonly cardId: number };

/** A card as an operator sees it. The status is computed when the card is read. */
export interface Card {
  readonly id: number;
  readonly balanceCents: Cents;
  readonly cardStatus: string;
  readonly expiryDate: string;
  readonly isPastExpiry: boolean;
  readonly lastFour: string;
  readonly isBlocked: boolean;
  /** The amount that activation puts on the card; null once it is active. */
  readonly inactiveCents: Cents | null;
  /** The card that replaced this one. */
  readonly reissuedAs: number | null;
  readonly batchId: number | null;
}

/** SQL: the columns of {@link Card}, from the table `cards`. */
export const CARD_COLUMNS = `cards.id, balance_cents as "balanceCents", card_status(cards) as "cardStatus",
  expiry_date as "expiryDate", expiry_date < ${TODAY} as "isPastExpiry", last_four as "lastFour", blocked as "isBlocked",
  inactive_cents as "inactiveCents", reissued_as as "reissuedAs", batch_id as "batchId"`;

export const noCardOfNumber = () => new OperatorError("There is no card with this number.", exitCodes.notFound);

/**
 * Finds a card for an operator, without its PIN.
 *
 * @param locking whether to lock the card's row until the transaction ends
 * @throws {OperatorError} if there is no such card
 */
export async function findCard(
  db: Queryable,
  keys: Keyring,
  reference: CardReference,
  locking: "" | "for no key update" = "",
): Promise<Card> {
  const [condition, value] =
    "cardId" in reference
      ? ["id = $1", reference.cardId]
      : ["number_hash = any($1)", keys.cardNumbers(reference.cardNumber)];
  const { rows } = await db.query<Card>(`select ${CARD_COLUMNS} from cards where ${condition} ${locking}`, [value]);
  if (rows[0]) return rows[0];
  throw "cardId" in reference ? noCardOfId() : noCardOfNumber();
}

export type MovementKind = "issue" | "devalue" | "cancel" | "adjust" | "expire" | "move";

/** One movement of money on a card, by printed names. */
export interface Movement {
  readonly at: Date;
  readonly kind: MovementKind;
  readonly amount: Cents;
  readonly company_id: number | null;
  /** The balance after the movement. */
  readonly balance: Cents;
  /** The entry in the audit log, if a person made the movement. */
  readonly audit: number | null;
  /** The other card of a move. */
  readonly other_card: number | null;
}

/** Lists a card's movements, oldest first. */
export async function listMovements(db: Queryable, cardId: number): Promise<Movement[]> {
  const { rows } = await db.query<Movement>(
    `select l.created_at as at, l.kind, l.amount_cents as amount, l.company_id,
       (sum(l.amount_cents) over (order by l.id))::bigint as balance, l.audit_id as audit,
       coalesce(l.moved_from_card, i.card_id) as other_card
     from ledger l left join ledger i on l.kind = 'move' and i.moved_from = l.id
     where l.card_id = $1 order by l.id`,
    [cardId],
  );
  return rows;
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
