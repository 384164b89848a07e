import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { type Card, type CardReference, changeCard } from "./card-changes.js";
import { putFirstMoney } from "./card-issue.js";
import { TODAY } from "./days.js";

const CHUNK = 5000;

/**
 * Activates a sold card: puts the amount on it that it was issued for.
 *
 * @throws {OperatorError} if there is no such card, or it is already active, blocked or expired
 */
export async function activateCard(pool: pg.Pool, keys: Keyring, reference: CardReference, act: Act): Promise<Card> {
  const { card } = await changeCard(pool, keys, reference, async (db, before) => {
    const { id, inactiveCents, isBlocked, expiryDate } = before;
    if (inactiveCents === null) {
      throw new OperatorError(`Card ${id} is already active. Nothing was changed.`, exitCodes.conflict);
    }
    const { rows } = await db.query<{ expired: boolean }>(`select $1::date < ${TODAY} as expired`, [expiryDate]);
    if (isBlocked || rows[0]?.expired) {
      const [is, first] = isBlocked ? ["is blocked", "Unblock"] : ["has expired", "Extend"];
      throw new OperatorError(`Card ${id} ${is}. ${first} it first.`, exitCodes.conflict);
    }
    const details = { cards: 1, balance: inactiveCents };
    const auditId = await writeAudit(db, act, { action: "card activate", cardId: id, details });
    await activate(db, [{ id, cents: inactiveCents }], auditId);
  });
  return card;
}

/** The result of activating a batch. */
export interface BatchActivation {
  readonly cards: number;
  readonly balanceCents: Cents;
  /** Number of cards that stay inactive because they are blocked or expired. */
  readonly skipped: number;
}

/**
 * Activates all inactive cards of a batch in one transaction, except for blocked and expired ones.
 *
 * @param onProgress called with the number of activated cards
 * @throws {OperatorError} if there is no such batch, or it has no card to activate
 */
export function activateBatch(
  pool: pg.Pool,
  batchId: number,
  act: Act,
  onProgress: (done: number, total: number) => void,
): Promise<BatchActivation> {
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    const known = await db.query("select from card_batches where id = $1", [batchId]);
    if (known.rowCount === 0)
      throw new OperatorError("There is no batch with this id. `card batches` lists the batches.", exitCodes.notFound);
    // Locks the cards before counting them, so that the audit entry has the number of activated cards.
    const { rows } = await db.query<{ cards: number; cents: Cents; skipped: number }>(
      `select count(*) filter (where usable)::int as cards,
         coalesce(sum(cents) filter (where usable), 0)::bigint as cents,
         count(*) filter (where not usable)::int as skipped
       from (select inactive_cents as cents, not blocked and expiry_date >= ${TODAY} as usable from cards
         where batch_id = $1 and inactive_cents is not null order by id for no key update) locked`,
      [batchId],
    );
    const { cards, cents: balanceCents, skipped } = rows[0] as (typeof rows)[number];
    if (cards === 0) {
      const why =
        skipped > 0
          ? `The ${skipped} inactive cards of batch ${batchId} are blocked or have expired`
          : `Batch ${batchId} has no inactive card`;
      throw new OperatorError(`${why}. Nothing was changed.`, exitCodes.conflict);
    }
    const details = { cards, balance: balanceCents, skipped };
    const auditId = await writeAudit(db, act, { action: "card activate", batchId, details });
    for (let done = 0; done < cards; ) {
      const { rows: chunk } = await db.query<{ id: number; cents: number }>(
        `select id, inactive_cents as cents from cards
           where batch_id = $1 and inactive_cents is not null and not blocked and expiry_date >= ${TODAY}
           order by id limit ${CHUNK}`,
        [batchId],
      );
      if (chunk.length === 0) throw new Error("Cards of the batch were changed although they are locked.");
      await activate(db, chunk, auditId);
      done += chunk.length;
      onProgress(done, cards);
    }
    return { cards, balanceCents, skipped };
  });
}

async function activate(
  db: Queryable,
  cards: readonly { readonly id: number; readonly cents: number }[],
  auditId: number,
): Promise<void> {
  await db.query("update cards set inactive_cents = null where id = any($1)", [cards.map(({ id }) => id)]);
  await putFirstMoney(db, cards, auditId);
}

/** Cards that were issued or imported together. */
export interface CardBatch {
  readonly id: number;
  readonly origin: "issue" | "import";
  readonly createdAt: Date;
  readonly cards: number;
  readonly balanceCents: Cents;
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. */
  readonly inactiveCards: number;
  readonly inactiveCents: Cents;
}

/** Creates the statement that lists the batches, oldest first. */
export const batchesStatement = () => ({
  text: `select b.id, b.origin, b.created_at as "createdAt", count(c.id)::int as cards,
      coalesce(sum(c.balance_cents), 0)::bigint as "balanceCents", count(c.inactive_cents)::int as "inactiveCards",
      coalesce(sum(c.inactive_cents), 0)::bigint as "inactiveCents"
    from card_batches b left join cards c on c.batch_id = b.id group by b.id order by b.id`,
  values: [],
});
