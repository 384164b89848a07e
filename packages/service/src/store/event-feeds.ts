import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";

/** What a server said of the feed that it gave, and is asked with the next time. */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The address that gave it, where a redirect may have led. */
  readonly answeredBy: string;
}

/** Another pull of the same feed was done while this one was under way, or the feed was removed. */
export class PullOvertaken extends OperatorError {
  constructor() {
    super(
      "Another pull of this company ended meanwhile, or its feed was removed. Nothing was changed; pull again.",
      exitCodes.conflict,
    );
    this.name = "PullOvertaken";
  }
}

/** Where a company's feed is. */
export interface FeedAddress {
  readonly url: string;
  /** Whether it may be on this machine, or in the network around it. */
  readonly allowsPrivate: boolean;
}

/** A company's feed, as it was pulled last. */
export interface EventFeed extends FeedAddress, FeedValidators {
  readonly companyId: number;
  /** Pulls that were done so far. */
  readonly pulls: number;
  readonly pulledAt: Date;
  /** The last failure since then. */
  readonly failedAt: Date | null;
  readonly failure: string | null;
}

const COLUMNS = `company_id as "companyId", url, allows_private as "allowsPrivate", etag, last_modified as "lastModified",
  answered_by as "answeredBy", pulls, pulled_at as "pulledAt", failed_at as "failedAt", failure`;

/** No other pull was done since. A feed that was removed and is there again counts from one: the time tells it apart. */
const isAsKnown = (pulls: string, pulledAt: string) =>
  `pulls = ${pulls} and date_trunc('milliseconds', pulled_at) = ${pulledAt}::timestamptz`;

/** Lists the feeds of companies that aren't closed. */
export async function listFeeds(db: Queryable): Promise<EventFeed[]> {
  const { rows } = await db.query<EventFeed>(
    `select ${COLUMNS} from event_feeds join companies on id = company_id where closed_at is null order by company_id`,
  );
  return rows;
}

/**
 * Finds a company's feed; undefined where none was pulled yet.
 *
 * @throws {OperatorError} when there is no such company, or it is closed
 */
export async function findFeed(db: Queryable, companyId: number): Promise<EventFeed | undefined> {
  const companies = await db.query("select closed_at from companies where id = $1", [companyId]);
  if (!companies.rows[0]) throw new OperatorError("There is no company of this id.", exitCodes.notFound);
  if (companies.rows[0].closed_at) throw new OperatorError("This company is closed.", exitCodes.conflict);
  const { rows } = await db.query<EventFeed>(`select ${COLUMNS} from event_feeds where company_id = $1`, [
    companyId,
  ]);
  return rows[0];
}

/**
 * Writes down that a feed was pulled, in the transaction that makes it so. Others that pull it wait until that ends.
 *
 * @param known the feed as it was when this pull began; undefined where there was none
 * @throws {PullOvertaken} when another pull was done since, or the feed was removed
 */
export async function takePull(
  db: Queryable,
  companyId: number,
  known: EventFeed | undefined,
  { url, allowsPrivate, etag, lastModified, answeredBy }: FeedAddress & FeedValidators,
): Promise<void> {
  const values = [companyId, url, allowsPrivate, etag, lastModified, answeredBy];
  const { rowCount } = known
    ? await db.query(
        `update event_feeds set url = $2, allows_private = $3, etag = $4, last_modified = $5, answered_by = $6,
           pulls = pulls + 1, pulled_at = now(), failed_at = null, failure = null
         where company_id = $1 and ${isAsKnown("$7", "$8")}`,
        [...values, known.pulls, known.pulledAt],
      )
    : await db.query(
        `insert into event_feeds (company_id, url, allows_private, etag, last_modified, answered_by)
           values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
        values,
      );
  if (rowCount === 0) throw new PullOvertaken();
}

/** Writes down why a pull failed, unless another was done since. */
export async function noteFailure(db: Queryable, feed: EventFeed, failure: string): Promise<void> {
  await db.query(
    `update event_feeds set failed_at = now(), failure = $4 where company_id = $1 and ${isAsKnown("$2", "$3")}`,
    [feed.companyId, feed.pulls, feed.pulledAt, failure],
  );
}

/**
 * Forgets a company's feed: it is pulled no more. Its events stay as they are.
 *
 * @throws {OperatorError} when it has none
 */
export function removeFeed(pool: pg.Pool, companyId: number, act: Act): Promise<EventFeed> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<EventFeed>(
      `delete from event_feeds where company_id = $1 returning ${COLUMNS}`,
      [companyId],
    );
    const feed = rows[0];
    if (!feed) throw new OperatorError("This company has no feed.", exitCodes.notFound);
    await writeAudit(db, act, {
      action: "events feed remove",
      companyId,
      details: { url: publicPartOf(feed.url) },
    });
    return feed;
  });
}

/** An address as far as it may be kept for good: whoever wrote it may have put a key behind the question mark. */
export function publicPartOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
