import type { Cents } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, Rollback, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { Keyring } from "../secrets/keyring.js";
import type { Act } from "./audit.js";
import { type CardChange, writeChange } from "./card-changes.js";
import { CARD_COLUMNS, type Card, type CardReference, noCardOfNumber } from "./card-lookup.js";
import { isSince } from "./days.js";
import { noCardOfId } from "./filters.js";
import { lockSecrets } from "./secret-generations.js";

/** A fault of a line of a file. It never repeats the line's content. */
export interface LineFault {
  readonly line: number;
  readonly fault: string;
}

/** A card that a line of a file names. */
export interface CardLine {
  readonly line: number;
  readonly reference: CardReference;
}

/**
 * The cards of a change: a batch, those of a file, or the expired ones. `read` reads the file from its beginning; a retry
 * reads it again.
 */
export type CardSelection =
  | { readonly batchId: number }
  | { readonly expiredBefore: string }
  | { readonly read: (onFault: (fault: LineFault) => void) => AsyncIterable<readonly CardLine[]> };

export interface BulkOrder {
  readonly selection: CardSelection;
  readonly change: CardChange;
  /** Whether to judge each card, but to lock and change none. */
  readonly isDryRun: boolean;
  /** Whether to change the other cards if some can't be changed. Otherwise none is changed. */
  readonly skipsFailed: boolean;
  readonly onProgress: (done: number, total: number | undefined) => void;
}

export interface CardFailure {
  /** The line of the file; null for a card of a batch. */
  readonly line: number | null;
  /** The card's id; null if the line names no card. */
  readonly cardId: number | null;
  readonly reason: string;
}

export interface BulkOutcome {
  /** Number of cards of the batch, or of lines of the file. */
  readonly cards: number;
  readonly changed: number;
  /** Number of cards that were already as requested. */
  readonly unchanged: number;
  readonly failed: number;
  /** Whether every line of the file could be read. Otherwise nothing is changed. */
  readonly isReadable: boolean;
  /** The balances of the changed cards after the change. */
  readonly balanceCents: Cents;
  /** The first failures, in the order of lines or cards. */
  readonly failures: readonly CardFailure[];
  /** Whether the change was committed. */
  readonly isDone: boolean;
}

const CHUNK = 1000;
/** The number of failures that are kept in memory. */
const MAX_FAILURES = 10_000;

/** Counts failures, and keeps the first ones. */
class Failures {
  count = 0;
  isReadable = true;
  readonly #first: CardFailure[] = [];

  addUnreadable({ line, fault: reason }: LineFault): void {
    this.isReadable = false;
    this.add({ line, cardId: null, reason });
  }

  add(failure: CardFailure): void {
    this.count += 1;
    if (this.#first.length < MAX_FAILURES) this.#first.push(failure);
  }

  sorted(): CardFailure[] {
    return this.#first.sort(
      (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.cardId ?? 0) - (other.cardId ?? 0),
    );
  }
}

/**
 * Changes many cards in one transaction, with an audit entry for each. Locks the cards in the order of their ids, so that two
 * such changes can't deadlock. Concurrent devalues of these cards wait.
 *
 * @throws {OperatorError} if there is no such batch, or the file can't be read
 */
export function changeCards(pool: pg.Pool, keys: Keyring, order: BulkOrder, act: Act): Promise<BulkOutcome> {
  const { change, isDryRun, skipsFailed } = order;
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    await lockSecrets(db, keys);
    if (!isDryRun) await change.begin?.();
    const failures = new Failures();
    const staged = await stage(db, keys, order, failures);
    const { changed, unchanged, balanceCents } = await changeStaged(db, order, act, { total: staged, failures });
    const { isReadable } = failures;
    const isDone = !isDryRun && isReadable && (failures.count === 0 || skipsFailed);
    const counts = { cards: changed + unchanged + failures.count, changed, unchanged, failed: failures.count };
    const outcome: BulkOutcome = { ...counts, isReadable, balanceCents, failures: failures.sorted(), isDone };
    if (!isDone) throw new Rollback(outcome);
    await change.end?.();
    return outcome;
  });
}

/** Writes the ids of the cards into a temporary table. @returns their number */
async function stage(
  db: Queryable,
  keys: Keyring,
  { selection, isDryRun }: BulkOrder,
  failures: Failures,
): Promise<number> {
  await db.query("create temp table chosen_cards (card_id bigint not null, line integer) on commit drop");
  if ("batchId" in selection) await stageBatch(db, selection.batchId);
  else if ("expiredBefore" in selection) await stageExpired(db, selection.expiredBefore, isDryRun);
  else {
    for await (const lines of selection.read((fault) => failures.addUnreadable(fault)))
      await stageLines(db, keys, lines, failures);
    await failRepeated(db, failures);
  }
  await db.query("create index on chosen_cards (card_id)");
  await db.query("analyze chosen_cards");
  const { rows } = await db.query<{ cards: number }>("select count(*)::int as cards from chosen_cards");
  return rows[0]?.cards ?? 0;
}

async function stageBatch(db: Queryable, batchId: number): Promise<void> {
  const known = await db.query("select from card_batches where id = $1", [batchId]);
  if (known.rowCount === 0)
    throw new OperatorError("There is no batch with this id. `card batches` lists the batches.", exitCodes.notFound);
  await db.query("insert into chosen_cards (card_id) select id from cards where batch_id = $1", [batchId]);
}

/**
 * Chooses the cards whose money expired before a day. Money that arrived since then, such as a late refund, keeps the whole
 * card from being written off. Blocked cards are left for a person to decide.
 *
 * Looks for such money only after the cards are locked: a refund that was committed meanwhile would be written off at once.
 */
async function stageExpired(db: Queryable, before: string, isDryRun: boolean): Promise<void> {
  await db.query(
    `insert into chosen_cards (card_id)
       select id from cards where balance_cents > 0 and expiry_date < $1::date and not blocked
       order by id ${isDryRun ? "" : "for no key update"}`,
    [before],
  );
  await db.query(
    `delete from chosen_cards c where exists (select from ledger l
       where l.card_id = c.card_id and l.amount_cents > 0 and ${isSince("l.created_at", "$1")})`,
    [before],
  );
}

async function stageLines(db: Queryable, keys: Keyring, lines: readonly CardLine[], failures: Failures): Promise<void> {
  const found = new Set<number>();
  const insert = async (given: string, condition: string, values: readonly unknown[]) => {
    const { rows } = await db.query<{ line: number }>(
      `insert into chosen_cards (card_id, line)
         select id, line from ${given} join cards on ${condition} returning line`,
      [...values],
    );
    for (const { line } of rows) found.add(line);
  };
  // A card may be hashed under older secrets.
  const hashes = lines.flatMap(({ line, reference }) =>
    "cardNumber" in reference ? keys.cardNumbers(reference.cardNumber).map((hash) => ({ line, hash })) : [],
  );
  if (hashes.length > 0)
    await insert("unnest($1::int[], $2::bytea[]) as given (line, hash)", "number_hash = hash", [
      hashes.map(({ line }) => line),
      hashes.map(({ hash }) => hash),
    ]);
  const ids = lines.flatMap(({ line, reference }) => ("cardId" in reference ? [{ line, id: reference.cardId }] : []));
  if (ids.length > 0)
    await insert("unnest($1::int[], $2::bigint[]) as given (line, card)", "id = card", [
      ids.map(({ line }) => line),
      ids.map(({ id }) => id),
    ]);
  for (const { line, reference } of lines) {
    if (found.has(line)) continue;
    const { message } = "cardId" in reference ? noCardOfId() : noCardOfNumber();
    failures.add({ line, cardId: null, reason: message });
  }
}

/** Fails the lines whose card is in an earlier line: an adjustment would be made twice. */
async function failRepeated(db: Queryable, failures: Failures): Promise<void> {
  const { rows } = await db.query<{ line: number; cardId: number; first: number }>(
    `delete from chosen_cards c using (select card_id, min(line) as first from chosen_cards group by card_id) f
       where f.card_id = c.card_id and c.line > f.first returning line, c.card_id as "cardId", first`,
  );
  for (const { line, cardId, first } of rows)
    failures.add({ line, cardId, reason: `Card ${cardId} is also in line ${first}.` });
}

/** Locks and changes the staged cards chunk by chunk. After a failure, it only judges the remaining ones. */
async function changeStaged(
  db: Queryable,
  { selection, change, isDryRun, skipsFailed, onProgress }: BulkOrder,
  act: Act,
  { total, failures }: { total: number; failures: Failures },
): Promise<{ changed: number; unchanged: number; balanceCents: Cents }> {
  // In a batch, a card that is already as requested is no surprise. A line of a file names the card, as a command does.
  const refusesRepetition = "read" in selection;
  let [changed, unchanged, balanceCents] = [0, 0, 0];
  for (let last = 0, done = 0; done < total; ) {
    const { rows } = await db.query<Card & { line: number | null }>(
      `select line, ${CARD_COLUMNS} from chosen_cards join cards on cards.id = card_id
         where card_id > $1 order by card_id limit ${CHUNK} ${isDryRun ? "" : "for no key update of cards"}`,
      [last],
    );
    if (rows.length === 0) throw new Error("Cards disappeared during the change.");
    const needed = rows.filter(({ line, ...card }) => {
      try {
        const isNeeded = change.isNeeded(card);
        if (!isNeeded && refusesRepetition) change.refuseRepetition?.(card);
        if (!isNeeded) unchanged += 1;
        return isNeeded;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        failures.add({ line, cardId: card.id, reason: error.message });
        return false;
      }
    });
    changed += needed.length;
    balanceCents += needed.reduce((sum, card) => sum + change.balanceAfter(card), 0);
    const isWritten = !isDryRun && (skipsFailed || failures.count === 0);
    if (isWritten && needed.length > 0) await writeChange(db, change, needed, act);
    last = rows.at(-1)?.id ?? last;
    done += rows.length;
    onProgress(done, total);
  }
  return { changed, unchanged, balanceCents: balanceCents as Cents };
}
