import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { OperatorError } from "../operator-error.js";
import {
  changedBlocks,
  findFaults,
  type LedgerFault,
  type RowRange,
  type Rules,
  rowRules,
  storeBlocks,
} from "./ledger-rules.js";

/** The number of rows that are verified in one transaction. */
const STEP = 500_000;
/** The number of verified blocks that are read again at once. */
const RECHECKED = 10;
/** The advisory lock of a run: an arbitrary number that must not change. */
const LOCK = 7_162_302;
const SETTLE_TRIES = 300;
const SETTLE_MS = 100;

/**
 * Verifies the rows that were added since the last run, in steps, until all are verified or the time is over. With the rest of
 * the time, it reads blocks of verified rows again, in rotation, and compares their digests. A step with faults is not recorded.
 *
 * @returns `through`: rows up to this id are verified. `isCurrent`: no row is left that was added before the run; only then were
 *   the balances compared. `recheckedThrough`: the last id of the compared blocks, where the next run goes on
 */
export async function resumeCheck(pool: pg.Pool, seconds: number, onProgress?: (newRows: number) => void) {
  const endsAtMs = performance.now() + seconds * 1000;
  const isOver = () => performance.now() >= endsAtMs;
  const newest = await settledRow(pool);
  let newRows = 0;
  let through: number;
  let faults: LedgerFault[];
  do {
    const step = await verifyStep(pool, newest);
    newRows += step.rows;
    onProgress?.(newRows);
    ({ through, faults } = step);
  } while (faults.length === 0 && through < newest && !isOver());
  const isCurrent = through >= newest;
  const started = await lastRechecked(pool);
  let rechecked = started;
  let hasWrapped = false;
  do {
    faults = [...faults, ...(await changedBlocks(pool, { after: rechecked, limit: RECHECKED }))];
    rechecked = await blockAfter(pool, rechecked);
    onProgress?.(newRows);
    hasWrapped ||= rechecked === 0;
  } while (!isOver() && !(hasWrapped && rechecked >= started));
  await pool.query("insert into check_runs (through, rechecked) values ($1, $2)", [through, rechecked]);
  return { newRows, through, isCurrent, recheckedThrough: rechecked, faults };
}

/**
 * Returns the newest row such that no transaction will commit an earlier one. A transaction that took an earlier id may still
 * run, so this waits until all transactions that run now have ended.
 */
async function settledRow(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ newest: number; running: string }>(
    "select coalesce(max(id), 0) as newest, pg_snapshot_xmax(pg_current_snapshot())::text as running from ledger",
  );
  const { newest, running } = rows[0] as (typeof rows)[number];
  for (let tries = 0; tries < SETTLE_TRIES; tries++) {
    const now = await db.query<{ settled: boolean }>(
      "select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as settled",
      [running],
    );
    if (now.rows[0]?.settled) return newest;
    await sleep(SETTLE_MS);
  }
  throw new OperatorError(
    "A transaction has been running for half a minute, such as an import of cards. Check again once it has ended.",
  );
}

/** Verifies the next rows, and records them. If they are the newest ones, compares the balances too. */
function verifyStep(pool: pg.Pool, newest: number): Promise<{ rows: number; through: number; faults: LedgerFault[] }> {
  return transaction(pool, async (db) => {
    // The lock is taken before the snapshot, which must show what another run has recorded.
    await db.query("set transaction isolation level read committed");
    await db.query("set local statement_timeout = 0");
    await db.query("select pg_advisory_xact_lock($1)", [LOCK]);
    const last = await db.query<{ through: number }>("select coalesce(max(through), 0) as through from checked_blocks");
    const before = last.rows[0]?.through ?? 0;
    const range = { first: before + 1, through: Math.max(before, Math.min(before + STEP, newest)) };
    const isLast = range.through >= newest;
    const rules = { ...rowRules(range), ...runningRule(range), ...(isLast && balanceRule(range)) };
    const faults = await findFaults(db, rules);
    if (faults.length > 0 || range.through === before) return { rows: 0, through: before, faults };
    await storeBlocks(db, range);
    const { rows } = await db.query<{ rows: number }>(
      `with sums as (select card_id, sum(amount_cents)::bigint as cents, count(*) as rows
           from ledger where id between $1 and $2 group by card_id),
         stored as (insert into checked_cards as c (card_id, cents) select card_id, cents from sums order by card_id
           on conflict (card_id) do update set cents = c.cents + excluded.cents)
       select coalesce(sum(rows), 0)::bigint as rows from sums`,
      [range.first, range.through],
    );
    return { rows: rows[0]?.rows ?? 0, through: range.through, faults };
  });
}

/** The rule that no row of a range overdraws its card, which starts with the sum of its verified rows. */
const runningRule = ({ first, through }: RowRange): Rules => ({
  never_below_zero: `
    select c.id, c.last_four, l.id, 0::bigint, l.running
      from (select r.id, r.card_id, (coalesce(k.cents, 0)
            + sum(r.amount_cents) over (partition by r.card_id order by r.id))::bigint as running
          from ledger r left join checked_cards k on k.card_id = r.card_id where r.id between ${first} and ${through}) l
        join cards c on c.id = l.card_id where l.running < 0 order by 1, 3`,
});

/** The rule that each balance is the sum of the card's verified rows and of those that follow. One statement is one snapshot. */
const balanceRule = ({ first }: RowRange): Rules => ({
  balance_is_ledger: `
    select c.id, c.last_four, null::bigint, coalesce(k.cents, 0) + coalesce(n.cents, 0), c.balance_cents
      from cards c left join checked_cards k on k.card_id = c.id
        left join (select card_id, sum(amount_cents)::bigint as cents from ledger where id >= ${first} group by card_id) n
          on n.card_id = c.id
      where c.balance_cents <> coalesce(k.cents, 0) + coalesce(n.cents, 0) order by 1`,
});

async function lastRechecked(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ rechecked: number }>("select rechecked from check_runs order by id desc limit 1");
  return rows[0]?.rechecked ?? 0;
}

/** Returns the last block of those that were read again, or 0 after the newest one: the rotation begins anew. */
async function blockAfter(db: Queryable, after: number): Promise<number> {
  const { rows } = await db.query<{ through: number; count: number }>(
    `select coalesce(max(through), 0) as through, count(*)::int as count
       from (select through from checked_blocks where through > $1 order by through limit ${RECHECKED}) b`,
    [after],
  );
  const { through = 0, count = 0 } = rows[0] ?? {};
  return count < RECHECKED ? 0 : through;
}
