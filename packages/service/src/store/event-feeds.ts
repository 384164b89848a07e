import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";
import { noCompany } from "./filters.js";

/** The validators that a server sent with a feed. The next request sends them back. */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The address that sent the feed, possibly after redirects. */
  readonly answeredBy: string;
}

/** Thrown if another pull of the same feed finished during this one, or the feed was removed. */
export class PullOvertaken extends OperatorError {
  constructor() {
    super(
      "Another pull of this company finished meanwhile, or its feed was removed. Nothing was changed. Pull again.",
      exitCodes.conflict,
    );
    this.name = "PullOvertaken";
  }
}

/** The address of a company's feed. */
export interface FeedAddress {
  readonly url: string;
  /** Whether it may be on this machine or in a private network. */
  readonly allowsPrivate: boolean;
}

/** A company's feed, as of its last pull. */
export interface EventFeed extends FeedAddress, FeedValidators {
  readonly companyId: number;
  /** Number of finished pulls. */
  readonly pulls: number;
  readonly pulledAt: Date;
  /** The latest failure since `pulledAt`. */
  readonly failedAt: Date | null;
  readonly failure: string | null;
}

const COLUMNS = `company_id as "companyId", url, allows_private as "allowsPrivate", etag, last_modified as "lastModified",
  answered_by as "answeredBy", pulls, pulled_at as "pulledAt", failed_at as "failedAt", failure`;

/** SQL: no other pull has finished since. The time detects a feed that was removed and added again, which counts from 1. */
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
 * Finds a company's feed; undefined if none was pulled yet.
 *
 * @throws {OperatorError} if there is no such company, or it is closed
 */
export async function findFeed(db: Queryable, companyId: number): Promise<EventFeed | undefined> {
  const companies = await db.query("select closed_at from companies where id = $1", [companyId]);
  if (!companies.rows[0]) throw noCompany();
  if (companies.rows[0].closed_at) throw new OperatorError("This company is closed.", exitCodes.conflict);
  const { rows } = await db.query<EventFeed>(`select ${COLUMNS} from event_feeds where company_id = $1`, [companyId]);
  return rows[0];
}

/**
 * Records a pull, in the transaction that applies the feed. Concurrent pulls wait for that transaction.
 *
 * @param known the feed when this pull began; undefined if there was none
 * @throws {PullOvertaken} if another pull finished since, or the feed was removed
 */
export async function recordPull(
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

/** Records why a pull failed, unless another pull finished since. */
export async function recordFailure(db: Queryable, feed: EventFeed, failure: string): Promise<void> {
  await db.query(
    `update event_feeds set failed_at = now(), failure = $4 where company_id = $1 and ${isAsKnown("$2", "$3")}`,
    [feed.companyId, feed.pulls, feed.pulledAt, failure],
  );
}

/**
 * Removes a company's feed. Its events stay.
 *
 * @throws {OperatorError} if the company has no feed
 */
export function removeFeed(pool: pg.Pool, companyId: number, act: Act): Promise<EventFeed> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<EventFeed>(`delete from event_feeds where company_id = $1 returning ${COLUMNS}`, [
      companyId,
    ]);
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

/** Returns an address without its query, which may hold a key: the audit log keeps it for good. */
export function publicPartOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
