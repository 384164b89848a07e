import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type EventFormat, writeEvents } from "@giftcard-pay/events";
import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf, type GiftcardContext } from "../context/context.js";
import { findHidden } from "../medusa-tables/show-products.js";
import { eachPublicEvent, type FeedVersion, readFeedVersion } from "./public-events.js";
import { refreshEvents } from "./refresh.js";

/** A feed packed by gzip, so that one of thousands of shows takes little memory. */
export type PackedFeed = readonly Buffer[];

/** What a process keeps for whoever fetches feeds: nobody needs a key for that, so a thousand cost what one does. */
interface Kept {
  readonly look: () => Promise<FeedVersion>;
  /** The newest of each format, by its media type. */
  readonly feeds: Map<string, { readonly tag: string; readonly feed: Promise<PackedFeed> }>;
}

const keptOf = new WeakMap<GiftcardContext, Kept>();

function kept(container: MedusaContainer): Kept {
  const context = contextOf(container);
  const known = keptOf.get(context);
  if (known) return known;
  const look = async () => {
    await refreshEvents(container, await findHidden(context.sql));
    return readFeedVersion(context.sql);
  };
  const made = { look: sharing(look), feeds: new Map() };
  keptOf.set(context, made);
  return made;
}

/** Makes those who call at the same moment share a run. Each gets one that began after it called. */
function sharing<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const now = run();
      running = now.catch(() => {});
      return now;
    });
    return next;
  };
}

/** Withdraws what isn't on sale any more, and reads which state of the events a feed shows then. */
export const lookAtFeed = (container: MedusaContainer): Promise<FeedVersion> => kept(container).look();

/** Gives a feed. It is written once for each tag, page by page, for all who fetch it. @param tag another one for other text */
export function packedFeed(
  container: MedusaContainer,
  format: EventFormat,
  tag: string,
): Promise<PackedFeed> {
  const { feeds } = kept(container);
  const known = feeds.get(format.mediaType);
  if (known?.tag === tag) return known.feed;
  const feed = pack(writeEvents(eachPublicEvent(contextOf(container).sql), format));
  feeds.set(format.mediaType, { tag, feed });
  // One that failed is written anew by whoever comes next.
  feed.catch(() => feeds.get(format.mediaType)?.feed === feed && feeds.delete(format.mediaType));
  return feed;
}

async function pack(text: AsyncIterable<string>): Promise<PackedFeed> {
  const packed: Buffer[] = [];
  await pipeline(Readable.from(text), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) packed.push(chunk);
  });
  return packed;
}
