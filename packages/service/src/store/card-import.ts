import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, Rollback, transaction } from "../database/database.js";
import type { Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import type { LineFault } from "./bulk-change.js";
import { makeBatch, putFirstMoney } from "./card-issue.js";
import { TODAY } from "./days.js";
import { lockSecrets } from "./secret-generations.js";

export interface ImportRow {
  readonly line: number;
  readonly cardNumber: Secret;
  readonly pin: Secret;
  readonly balanceCents: Cents;
  readonly expiryDate: string;
}

/** The result of an import. If there are faults, nothing was imported. */
export interface ImportOutcome {
  readonly batchId: number | null;
  readonly cards: number;
  readonly balanceCents: Cents;
  readonly expired: number;
  /** Number of cards whose PIN is so short that it can be guessed. */
  readonly shortPins: number;
  readonly faults: readonly LineFault[];
}

export interface ImportOrder {
  /** Reads the file from its beginning, and reports faulty lines. A retry reads it again. */
  readonly read: (onFault: (fault: LineFault) => void) => AsyncIterable<readonly ImportRow[]>;
  readonly isInactive: boolean;
  /** Whether to roll everything back at the end. */
  readonly isDryRun: boolean;
  readonly onProgress: (done: number, total?: number) => void;
}

const CHUNK = 5000;
/** The shortest PIN without a warning. With 50 guesses a month at each card, one PIN of four digits in 200 is found. */
export const GOOD_PIN_LENGTH = 6;

/** Imports cards in one transaction. If any line is faulty, none is imported. */
export function importCards(pool: pg.Pool, keys: Keyring, order: ImportOrder, act: Act): Promise<ImportOutcome> {
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    await lockSecrets(db, keys);
    const unreadable: LineFault[] = [];
    const staged = await stage(db, keys, order, unreadable);
    const faults = [...unreadable, ...(await findTaken(db))].sort((one, other) => one.line - other.line);
    const none = { ...staged, batchId: null, faults };
    if (faults.length > 0) throw new Rollback(none);
    const batchId = await makeBatch(db, "import");
    const { cards, balanceCents } = staged;
    const details = { cards, balance: balanceCents, inactive: order.isInactive };
    const auditId = await writeAudit(db, act, { action: "card import", batchId, details });
    const taken = await insertStaged(db, { batchId, auditId, total: cards, generation: keys.newest }, order);
    if (taken.length > 0) throw new Rollback({ ...none, faults: taken });
    if (order.isDryRun) throw new Rollback(none);
    return { ...staged, batchId, faults: [] };
  });
}

/** Copies the file as hashes into temporary tables, in which the database finds repeated numbers. */
async function stage(
  db: Queryable,
  keys: Keyring,
  { read, onProgress }: ImportOrder,
  faults: LineFault[],
): Promise<Omit<ImportOutcome, "batchId" | "faults">> {
  await db.query(`create temp table import_rows (
      line integer primary key, number_hash bytea not null, pin_hash bytea not null, last_four text not null,
      balance_cents bigint not null, expiry_date date not null) on commit drop`);
  await db.query("create temp table import_hashes (line integer, number_hash bytea) on commit drop");
  let [cards, shortPins] = [0, 0];
  for await (const rows of read((fault) => faults.push(fault))) {
    const hashes = rows.map((row) => keys.cardNumbers(row.cardNumber));
    await db.query(
      `insert into import_rows select * from unnest($1::int[], $2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::date[])`,
      [
        rows.map(({ line }) => line),
        hashes.map((all) => all.at(-1)),
        rows.map(({ cardNumber, pin }) => keys.pins(cardNumber, pin).at(-1)),
        rows.map(({ cardNumber }) => cardNumber.lastFour()),
        rows.map(({ balanceCents }) => balanceCents),
        rows.map(({ expiryDate }) => expiryDate),
      ],
    );
    // An existing card may be hashed under older secrets.
    await db.query("insert into import_hashes select * from unnest($1::int[], $2::bytea[])", [
      hashes.flatMap((all, index) => all.map(() => rows[index]?.line)),
      hashes.flat(),
    ]);
    cards += rows.length;
    shortPins += rows.filter(({ pin }) => pin.reveal().length < GOOD_PIN_LENGTH).length;
    onProgress(cards);
  }
  await db.query("analyze import_rows");
  await db.query("analyze import_hashes");
  const { rows } = await db.query<{ cents: Cents; expired: number }>(
    `select coalesce(sum(balance_cents), 0)::bigint as cents,
       count(*) filter (where expiry_date < ${TODAY})::int as expired from import_rows`,
  );
  const { cents: balanceCents, expired } = rows[0] as (typeof rows)[number];
  return { cards, balanceCents, expired, shortPins };
}

/** Finds the lines with the number of an earlier line or of an existing card. */
async function findTaken(db: Queryable): Promise<LineFault[]> {
  const { rows } = await db.query<LineFault>(
    `select line, 'the number is also in line ' || first as fault
       from (select line, min(line) over (partition by number_hash) as first from import_rows) numbered
       where line <> first
     union all
     select distinct h.line, 'a card with this number already exists'
       from import_hashes h join cards c on c.number_hash = h.number_hash`,
  );
  return rows;
}

/** Inserts the cards and their first money. Returns the lines whose numbers were inserted concurrently. */
async function insertStaged(
  db: Queryable,
  { batchId, auditId, total, generation }: { batchId: number; auditId: number; total: number; generation: number },
  { isInactive, onProgress }: ImportOrder,
): Promise<LineFault[]> {
  for (let last = 0, done = 0; ; ) {
    const { rows } = await db.query<{ line: number; id: number | null; cents: number }>(
      `with chunk as materialized (select * from import_rows where line > $1 order by line limit ${CHUNK}),
         made as (
           insert into cards (number_hash, pin_hash, last_four, expiry_date, generation, batch_id, inactive_cents)
             select number_hash, pin_hash, last_four, expiry_date, $2, $3, case when $4 then balance_cents end
               from chunk order by line
             on conflict (number_hash) do nothing returning id, number_hash)
       select line, made.id, balance_cents as cents from chunk left join made using (number_hash) order by line`,
      [last, generation, batchId, isInactive],
    );
    const taken = rows.filter(({ id }) => id === null);
    if (taken.length > 0) return taken.map(({ line }) => ({ line, fault: "a card with this number already exists" }));
    const money = rows.map(({ id, cents }) => ({ id: id as number, cents, auditId }));
    if (!isInactive) await putFirstMoney(db, money);
    last = rows.at(-1)?.line ?? last;
    done += rows.length;
    onProgress(done, total);
    if (rows.length < CHUNK) return [];
  }
}
