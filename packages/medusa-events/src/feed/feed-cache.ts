import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type EventFormat, writeEvents } from "@giftcard-pay/events";
import type { EventsContext } from "../context.js";
import { refreshEvents } from "../shows/refresh.js";
import { findHidden } from "../shows/show-products.js";
import { eachPublicEvent, type FeedVersion, readFeedVersion } from "./public-events.js";

/** A feed, compressed by gzip: a feed of thousands of events then takes little memory. */
export type CompressedFeed = readonly Buffer[];

/** A process's cache. Feeds are public, so a thousand requests must cost no more than a single request. */
interface FeedCache {
  readonly readVersion: () => Promise<FeedVersion>;
  /** The newest feed of each format, by media type. */
  readonly feeds: Map<string, { readonly tag: string; readonly feed: Promise<CompressedFeed> }>;
}

const caches = new WeakMap<EventsContext, FeedCache>();

function cacheOf(context: EventsContext): FeedCache {
  const existing = caches.get(context);
  if (existing) return existing;
  const readVersion = async () => {
    await refreshEvents(context, await findHidden(context.sql));
    return readFeedVersion(context.sql);
  };
  const cache = { readVersion: shared(readVersion), feeds: new Map() };
  caches.set(context, cache);
  return cache;
}

/** Lets concurrent callers share one run. The run that a caller gets began after the call. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const current = work();
      running = current.catch(() => {});
      return current;
    });
    return next;
  };
}

/** Withdraws events that are no longer on sale, and returns the version of the feed. */
export const readCurrentVersion = (context: EventsContext): Promise<FeedVersion> => cacheOf(context).readVersion();

/** Returns a feed. Each version is written once, page by page. @param tag identifies the version and the format */
export function compressedFeed(context: EventsContext, format: EventFormat, tag: string): Promise<CompressedFeed> {
  const { feeds } = cacheOf(context);
  const cached = feeds.get(format.mediaType);
  if (cached?.tag === tag) return cached.feed;
  const feed = compress(writeEvents(eachPublicEvent(context.sql), format));
  feeds.set(format.mediaType, { tag, feed });
  // After a failure, the next request writes the feed again.
  feed.catch(() => feeds.get(format.mediaType)?.feed === feed && feeds.delete(format.mediaType));
  return feed;
}

async function compress(text: AsyncIterable<string>): Promise<CompressedFeed> {
  const compressed: Buffer[] = [];
  await pipeline(Readable.from(text), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) compressed.push(chunk);
  });
  return compressed;
}
