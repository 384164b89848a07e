import type pg from "pg";
import { Rollback, retrying, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "../store/audit.js";
import {
  type EventFeed,
  type FeedAddress,
  type FeedValidators,
  findFeed,
  publicPartOf,
  recordFailure,
  recordPull,
} from "../store/event-feeds.js";
import { applyFeed, type FeedChanges, type FeedRow } from "../store/feed-changes.js";
import { listProviders } from "../store/providers.js";
import { FeedFailure } from "./feed-failure.js";
import { fetchFeed } from "./fetch-feed.js";
import { isPrivateOrPublic, isPublicAddress } from "./public-address.js";
import { readFeedBytes } from "./read-feed.js";

/** An order to pull a company's feed. */
export interface PullOrder {
  readonly companyId: number;
  /** The address. Default: that of the last pull. */
  readonly address?: FeedAddress | undefined;
  readonly timeoutMs: number;
  /** Whether a person has accepted a feed that lacks more than half of the events. */
  readonly acceptsShrink: boolean;
  /** Whether to roll everything back at the end. */
  readonly isDryRun: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number | undefined, what: string) => void) | undefined;
}

/** Maximum number of events that a company's feed may have created, past ones included: rows are never deleted. */
const MAX_KEPT_EVENTS = 100_000;

/** The result of a pull. */
export interface PullReport extends Pick<FeedChanges, "created" | "changed" | "withdrawn" | "unchanged"> {
  readonly companyId: number;
  readonly url: string;
  /** False if the server said that the feed has not changed; then its events are not counted. */
  readonly isModified: boolean;
}

/**
 * Fetches a company's feed and applies it to the company's events, in one transaction. Remembers the address and the
 * validators for the next pull.
 *
 * @throws {OperatorError} if there is no such company, it has no feed, or another pull finished meanwhile
 * @throws {FeedFailure} if the feed cannot be fetched, has faults, or is held for a person; the reason is recorded
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
      await recordFailure(retrying(pool), known, shorten(error)).catch(() => {
        // The feed's failure is more important than one of the database.
      });
    throw error;
  }
}

/** Shortens a failure's message to the first of its faults. */
const shorten = ({ message }: FeedFailure) =>
  message
    .split("\n", 2)
    .map((line) => line.trim())
    .join(" ");

interface Pull extends PullOrder {
  /** The company's feed when this pull began. */
  readonly known: EventFeed | undefined;
  readonly address: FeedAddress;
}

async function fetchAndApply(pool: pg.Pool, pull: Pull, act: Act): Promise<PullReport> {
  const { companyId, known, address, timeoutMs, signal, isDryRun, onProgress } = pull;
  const about = { companyId, url: address.url };
  const validators = known?.url === address.url ? known : undefined;
  const onBytes = (bytes: number) => onProgress?.(bytes, undefined, "bytes of the feed");
  const { url, allowsPrivate } = address;
  const allows = allowsPrivate ? isPrivateOrPublic : isPublicAddress;
  const connection = { url, allows, allowsHttp: allowsPrivate };
  const request = { ...connection, validators, timeoutMs, signal, onProgress: onBytes };
  const fetched = await fetchFeed(request);
  if (!fetched) {
    const unchanged = known && { ...known, ...address };
    if (unchanged && !isDryRun) await transaction(pool, (db) => recordPull(db, companyId, known, unchanged));
    return { ...about, isModified: false, created: [], changed: [], withdrawn: [], unchanged: 0 };
  }
  const providers = await listProviders(pool);
  const rows = readFeedBytes(fetched.bytes, new Set(providers.map(({ id }) => id)));
  const changes = await change(pool, pull, { rows, validators: fetched.validators }, act);
  return { ...about, isModified: true, ...reportOf(changes) };
}

function change(
  pool: pg.Pool,
  { companyId, known, address, acceptsShrink, isDryRun, onProgress }: Pull,
  { rows, validators }: { rows: readonly FeedRow[]; validators: FeedValidators },
  act: Act,
): Promise<FeedChanges> {
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    await recordPull(db, companyId, known, { ...address, ...validators });
    const changes = await applyFeed(db, companyId, rows, (done, total) => onProgress?.(done, total, "events"));
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
    if (isDryRun) throw new Rollback(changes);
    return changes;
  });
}

const reportOf = ({ created, changed, withdrawn, unchanged }: FeedChanges) => ({
  created,
  changed,
  withdrawn,
  unchanged,
});

const tooMany = ({ inserted, kept }: FeedChanges) =>
  new FeedFailure(
    `has ${inserted} new events. With all earlier ones that makes ${kept}, more than the ${MAX_KEPT_EVENTS} allowed. ` +
      "Ask the shop whether events keep their event_id",
  );

const held = (changes: FeedChanges) =>
  new FeedFailure(
    `lacks ${changes.missingToCome} of its ${changes.toCome} future events, so it is held for a person. If that is right, ` +
      "pull it with --accept-shrink and a --reason",
    { exitCode: exitCodes.held, details: reportOf(changes) },
  );
