import type pg from "pg";
import { retrying, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "../store/audit.js";
import {
  type EventFeed,
  type FeedAddress,
  type FeedValidators,
  findFeed,
  noteFailure,
  publicPartOf,
  takePull,
} from "../store/event-feeds.js";
import { applyFeed, type FeedChanges, type FeedRow } from "../store/feed-changes.js";
import { listProviders } from "../store/providers.js";
import { FeedFailure } from "./feed-failure.js";
import { fetchFeed } from "./fetch-feed.js";
import { isNearbyOrPublic, isPublicAddress } from "./public-address.js";
import { readFeedBytes } from "./read-feed.js";

/** Which feed to pull, and how. */
export interface PullOrder {
  readonly companyId: number;
  /** Where it is; left out, where it was the last time. */
  readonly address?: FeedAddress | undefined;
  readonly timeoutMs: number;
  /** A person has looked at a feed that lacks more than half of the events. */
  readonly acceptsShrink: boolean;
  /** Does everything, and undoes it. */
  readonly isDryRun: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number | undefined, what: string) => void) | undefined;
}

/** So many events may a company's feed have made, those of the past included: each row is kept, for its id. */
const MAX_KEPT_EVENTS = 100_000;

/** What came of a pull. */
export interface PullReport extends Pick<FeedChanges, "created" | "changed" | "withdrawn" | "unchanged"> {
  readonly companyId: number;
  readonly url: string;
  /** False where the server said that the feed is as it was; then its events weren't counted. */
  readonly isModified: boolean;
}

/**
 * Fetches a company's feed and makes the company's events what it says, all or nothing. It is the company's feed from
 * then on, and the next pull asks its server whether anything has changed since.
 *
 * @throws {OperatorError} when there is no such company, or no feed, or another pull came between
 * @throws {FeedFailure} when the feed can't be had, has faults, or is held for a person; why is written down with the feed
 */
export async function pullFeed(pool: pg.Pool, order: PullOrder, act: Act): Promise<PullReport> {
  const known = await findFeed(pool, order.companyId);
  const address = order.address ?? known;
  if (!address)
    throw new OperatorError("This company has no feed yet. Give its address with --url.", exitCodes.notFound);
  const pull = { ...order, known, address: { url: address.url, allowsPrivate: address.allowsPrivate } };
  try {
    return await fetchAndApply(pool, pull, act);
  } catch (error) {
    if (error instanceof FeedFailure && known?.url === address.url && !order.isDryRun)
      await noteFailure(retrying(pool), known, shortOf(error)).catch(() => {
        // What is wrong with the feed counts; a database that is away is met again.
      });
    throw error;
  }
}

/** What failed, and the first fault where there are several. */
const shortOf = ({ message }: FeedFailure) =>
  message
    .split("\n", 2)
    .map((line) => line.trim())
    .join(" ");

interface Pull extends PullOrder {
  /** The company's feed as it was when this pull began. */
  readonly known: EventFeed | undefined;
  readonly address: FeedAddress;
}

async function fetchAndApply(pool: pg.Pool, pull: Pull, act: Act): Promise<PullReport> {
  const { companyId, known, address, timeoutMs, signal, isDryRun, onProgress } = pull;
  const about = { companyId, url: address.url };
  const validators = known?.url === address.url ? known : undefined;
  const onBytes = (bytes: number) => onProgress?.(bytes, undefined, "bytes of the feed");
  const { url, allowsPrivate } = address;
  const allows = allowsPrivate ? isNearbyOrPublic : isPublicAddress;
  const connection = { url, allows, allowsHttp: allowsPrivate };
  const request = { ...connection, validators, timeoutMs, signal, onProgress: onBytes };
  const fetched = await fetchFeed(request);
  if (!fetched) {
    const asBefore = known && { ...known, ...address };
    if (asBefore && !isDryRun) await transaction(pool, (db) => takePull(db, companyId, known, asBefore));
    return { ...about, isModified: false, created: [], changed: [], withdrawn: [], unchanged: 0 };
  }
  const providers = await listProviders(pool);
  const rows = readFeedBytes(fetched.bytes, new Set(providers.map(({ id }) => id)));
  const changes = await change(pool, pull, { rows, validators: fetched.validators }, act);
  return { ...about, isModified: true, ...listedChanges(changes) };
}

/** Ends a transaction whose work is not wanted. */
class Undone extends Error {
  constructor(readonly changes: FeedChanges) {
    super("Nothing was changed.");
  }
}

async function change(
  pool: pg.Pool,
  { companyId, known, address, acceptsShrink, isDryRun, onProgress }: Pull,
  { rows, validators }: { rows: readonly FeedRow[]; validators: FeedValidators },
  act: Act,
): Promise<FeedChanges> {
  try {
    return await transaction(pool, async (db) => {
      await db.query("set local statement_timeout = 0");
      await takePull(db, companyId, known, { ...address, ...validators });
      const changes = await applyFeed(db, companyId, rows, (done, total) =>
        onProgress?.(done, total, "events"),
      );
      if (changes.inserted > 0 && changes.kept > MAX_KEPT_EVENTS) throw tooMany(changes);
      const isShrunk = 2 * changes.missingToCome > changes.toCome;
      if (isShrunk && !acceptsShrink) throw held(changes);
      const { created, changed, withdrawn } = changes;
      const counts = { created: created.length, changed: changed.length, withdrawn: withdrawn.length };
      const isNew = known?.url !== address.url;
      if (isNew || Object.values(counts).some((count) => count > 0)) {
        const details = { url: publicPartOf(address.url), ...counts, accepted_shrink: isShrunk };
        await writeAudit(db, act, { action: "events pull", companyId, details });
      }
      if (isDryRun) throw new Undone(changes);
      return changes;
    });
  } catch (error) {
    if (error instanceof Undone) return error.changes;
    throw error;
  }
}

const listedChanges = ({ created, changed, withdrawn, unchanged }: FeedChanges) => ({
  created,
  changed,
  withdrawn,
  unchanged,
});

const tooMany = ({ inserted, kept }: FeedChanges) =>
  new FeedFailure(
    `has ${inserted} new events, and with all that it ever had they would be ${kept}: at most ${MAX_KEPT_EVENTS} are kept. ` +
      "Ask the shop whether an event keeps its event_id",
  );

const held = (changes: FeedChanges) =>
  new FeedFailure(
    `lacks ${changes.missingToCome} of its ${changes.toCome} events to come, so it is held for a person. Where that is right, ` +
      "pull it with --accept-shrink and a --reason",
    { exitCode: exitCodes.held, details: listedChanges(changes) },
  );
