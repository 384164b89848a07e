import type { Queryable } from "../database/database.js";
import { TODAY } from "./days.js";
import { columnTypes, eventColumns, type eventRowOf } from "./events.js";

/** An event of a feed: listed, or taken back. */
export type FeedRow = ReturnType<typeof eventRowOf> & {
  readonly taken_back: "canceled" | "withdrawn" | null;
};

/** The changes that a feed made to a company's events, by event key. */
export interface FeedChanges {
  readonly created: readonly string[];
  /** Events whose content changed, or that are listed again. */
  readonly changed: readonly string[];
  /** Events that are no longer listed: taken back by the feed, or missing from it. */
  readonly withdrawn: readonly string[];
  /** Number of events in the feed that change nothing. */
  readonly unchanged: number;
  /** Number of new rows, and of all rows that the company's feeds have created: rows are never deleted. */
  readonly inserted: number;
  readonly kept: number;
  /** Number of future events that were listed, and how many of these the feed lacks now. */
  readonly toCome: number;
  readonly missingToCome: number;
}

const CHUNK_ROWS = 500;
const CONTENT = Object.keys(eventColumns).filter((column) => column !== "event_key");
const of = (table: string) => `(${CONTENT.map((column) => `${table}.${column}`).join(", ")})`;
const IS_TO_COME = `coalesce(e.end_date, e.start_date) >= ${TODAY}`;

/**
 * Applies a feed to a company's events, in the caller's transaction: creates and changes events, and unlists those that
 * the feed takes back or lacks. Rows stay, so that an event that returns keeps its id.
 *
 * If the feed has the key of an event of `newevent`, it takes the event over. Other events of `newevent` don't change.
 *
 * @param rows must have distinct keys
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
  // Inserts also events that were taken back before their first pull, which reserves their keys. Known events are filtered out,
  // since `on conflict` alone would use an id for each of them at each pull.
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
  const withdrawn = await unlist(db, companyId);
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

/** Copies the feed into a temporary table, in chunks. */
async function stage(
  db: Queryable,
  rows: readonly FeedRow[],
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const columns = `${columnTypes}, taken_back text, position int`;
  await db.query(`create temp table feed_rows (${columns}, primary key (event_key)) on commit drop`);
  for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
    const chunk = rows.slice(from, from + CHUNK_ROWS).map((row, index) => ({ ...row, position: from + index }));
    await db.query(`insert into feed_rows select * from jsonb_to_recordset($1) as row (${columns})`, [
      JSON.stringify(chunk),
    ]);
    onProgress(from + chunk.length, rows.length);
  }
  await db.query("analyze feed_rows");
}

/** Unlists the events that the feed takes back or lacks. */
async function unlist(db: Queryable, companyId: number) {
  const { rows } = await db.query<{ key: string; isMissing: boolean; isToCome: boolean }>(
    `update events e set taken_back = coalesce(r.taken_back, 'withdrawn'), updated_at = now()
       from events listed left join feed_rows r on r.event_key = listed.event_key
       where e.id = listed.id and listed.company_id = $1 and listed.from_feed and listed.taken_back is null
         and (r.event_key is null or r.taken_back is not null)
       returning e.event_key as key, r.event_key is null as "isMissing", ${IS_TO_COME} as "isToCome"`,
    [companyId],
  );
  // A withdrawn event may be canceled later, or the other way round.
  await db.query(
    `update events e set taken_back = r.taken_back from feed_rows r
       where e.company_id = $1 and e.event_key = r.event_key and e.taken_back <> r.taken_back`,
    [companyId],
  );
  return rows;
}
