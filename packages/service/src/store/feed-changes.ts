import type { Queryable } from "../database/database.js";
import { columnTypes, eventColumns, type eventRowOf } from "./events.js";

/** An event as a feed has it: shown, or taken back. */
export type FeedRow = ReturnType<typeof eventRowOf> & {
  readonly taken_back: "canceled" | "withdrawn" | null;
};

/** What a feed changed in the list of a company's events, by their keys. */
export interface FeedChanges {
  readonly created: readonly string[];
  /** Those that say something else now, or are back. */
  readonly changed: readonly string[];
  /** Those that left the list: taken back by the feed, or not in it any more. */
  readonly withdrawn: readonly string[];
  /** Those in the feed for which the list stays as it was: shown as before, or still not shown. */
  readonly unchanged: number;
  /** Rows that are new, and all that the company's feeds have made so far: none is ever deleted. */
  readonly inserted: number;
  readonly kept: number;
  /** Of the feed's events that are to come, how many were listed, and how many of these aren't in it any more. */
  readonly toCome: number;
  readonly missingToCome: number;
}

const CHUNK_ROWS = 500;
const CONTENT = Object.keys(eventColumns).filter((column) => column !== "event_key");
const of = (table: string) => `(${CONTENT.map((column) => `${table}.${column}`).join(", ")})`;
const IS_TO_COME = "coalesce(e.end_date, e.start_date) >= (now() at time zone 'Europe/Amsterdam')::date";

/**
 * Makes a company's events what its feed says, in the caller's transaction: new ones are made, others changed, and what
 * the feed takes back or has no more leaves the list. A row stays, so an event that comes back has the id that it had.
 *
 * An event of `newevent` whose key the feed has is the feed's from then on; any other is left alone.
 *
 * @param rows each key once
 */
export async function applyFeed(
  db: Queryable,
  companyId: number,
  rows: readonly FeedRow[],
  onProgress: (done: number, total: number) => void,
): Promise<FeedChanges> {
  await stage(db, rows, onProgress);
  const before = await db.query<{ toCome: number }>(
    `select count(*)::int as "toCome" from events e
       where company_id = $1 and from_feed and taken_back is null and ${IS_TO_COME}`,
    [companyId],
  );
  // Also what was taken back before anybody saw it: so nothing else can take its key. A row that is offered takes an id, though
  // it conflicts: pulls that change nothing would use all ids up.
  const inserted = await db.query<Key & { isListed: boolean }>(
    `insert into events (company_id, from_feed, event_key, taken_back, ${CONTENT.join(", ")})
       select $1, true, event_key, taken_back, ${CONTENT.join(", ")} from feed_rows r
       where not exists (select 1 from events e where e.company_id = $1 and e.event_key = r.event_key) order by position
       on conflict (company_id, event_key) do nothing
       returning event_key as key, taken_back is null as "isListed"`,
    [companyId],
  );
  await db.query(
    `update events e set from_feed = true from feed_rows r
       where e.company_id = $1 and e.event_key = r.event_key and not e.from_feed`,
    [companyId],
  );
  const changed = await db.query<Key>(
    `update events e set (${CONTENT.join(", ")}) = ${of("r")}, taken_back = null, updated_at = now()
       from feed_rows r
       where e.company_id = $1 and e.event_key = r.event_key and r.taken_back is null
         and (${of("e")} is distinct from ${of("r")} or e.taken_back is not null)
       returning e.event_key as key`,
    [companyId],
  );
  const kept = await db.query<{ count: number }>(
    "select count(*)::int as count from events where company_id = $1 and from_feed",
    [companyId],
  );
  const created = inserted.rows.filter(({ isListed }) => isListed);
  const withdrawn = await withdraw(db, companyId);
  const missing = withdrawn.filter(({ isMissing }) => isMissing);
  return {
    created: keysOf(created),
    changed: keysOf(changed.rows),
    withdrawn: keysOf(withdrawn),
    unchanged: rows.length - created.length - changed.rows.length - (withdrawn.length - missing.length),
    inserted: inserted.rows.length,
    kept: kept.rows[0]?.count ?? 0,
    toCome: before.rows[0]?.toCome ?? 0,
    missingToCome: missing.filter(({ isToCome }) => isToCome).length,
  };
}

type Key = { key: string };
const keysOf = (rows: readonly Key[]) => rows.map(({ key }) => key);

/** Brings the feed into a table of the transaction's own, some rows at a time. */
async function stage(
  db: Queryable,
  rows: readonly FeedRow[],
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const columns = `${columnTypes}, taken_back text, position int`;
  await db.query(`create temp table feed_rows (${columns}, primary key (event_key)) on commit drop`);
  for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
    const chunk = rows
      .slice(from, from + CHUNK_ROWS)
      .map((row, index) => ({ ...row, position: from + index }));
    await db.query(`insert into feed_rows select * from jsonb_to_recordset($1) as row (${columns})`, [
      JSON.stringify(chunk),
    ]);
    onProgress(from + chunk.length, rows.length);
  }
  await db.query("analyze feed_rows");
}

/** Takes events off the list: those that the feed takes back, and those of it that it hasn't any more. */
async function withdraw(db: Queryable, companyId: number) {
  const { rows } = await db.query<{ key: string; isMissing: boolean; isToCome: boolean }>(
    `update events e set taken_back = coalesce(r.taken_back, 'withdrawn'), updated_at = now()
       from events listed left join feed_rows r on r.event_key = listed.event_key
       where e.id = listed.id and listed.company_id = $1 and listed.from_feed and listed.taken_back is null
         and (r.event_key is null or r.taken_back is not null)
       returning e.event_key as key, r.event_key is null as "isMissing", ${IS_TO_COME} as "isToCome"`,
    [companyId],
  );
  // A show that was withdrawn may be called off later, or the other way round.
  await db.query(
    `update events e set taken_back = r.taken_back from feed_rows r
       where e.company_id = $1 and e.event_key = r.event_key and e.taken_back <> r.taken_back`,
    [companyId],
  );
  return rows;
}
