import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { EventFormat } from "@giftcard-pay/events";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { contextOf } from "../../context.js";
import { compressedFeed, readCurrentVersion } from "../../feed/feed-cache.js";
import type { Settings } from "../../options.js";

const CACHE_SECONDS = 60;

const { version } = require("@giftcard-pay/medusa-events/package.json") as { version: string };
/** A restart may bring another release or other options, which can write the same events differently. */
const STARTED_AT = new Date();

/** Any site's page may read the feed: it is public, and no cookie comes with it. */
const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "ETag, Last-Modified",
};

/** Answers a browser's preflight request, which comes before `If-None-Match` from another site's page. */
export function OPTIONS(_req: MedusaRequest, res: MedusaResponse): void {
  res
    .set({ ...cors, "Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "*" })
    .status(204)
    .end();
}

/**
 * Returns whether the client has the newest version. Express's own check ignores `If-None-Match` if the client also sends
 * `no-cache`, as each `fetch` with `If-None-Match` does.
 */
function isFresh({ headers }: MedusaRequest, tag: string, changedAt: Date | null): boolean {
  const { "if-none-match": tags, "if-modified-since": since } = headers;
  if (tags !== undefined) return tags.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${tag}"`);
  if (since === undefined || changedAt === null) return false;
  return Date.parse(since) >= Math.floor(changedAt.getTime() / 1000) * 1000;
}

/**
 * Makes the route of a public feed. Before it is written, events that are no longer on sale are withdrawn.
 *
 * @param formatOf makes the feed's format for events in these time zones
 */
export function feedRoute(formatOf: (options: Settings, timeZones: readonly string[]) => Promise<EventFormat>) {
  return async (req: MedusaRequest, res: MedusaResponse): Promise<void> => {
    const context = contextOf(req.scope);
    const { tag: events, changedAt: eventsAt, timeZones } = await readCurrentVersion(context);
    const format = await formatOf(context.options, timeZones);
    const tag = createHash("sha256").update(`${version}\n${format.head}\n${events}`).digest("base64url");
    const changedAt = eventsAt && (eventsAt > STARTED_AT ? eventsAt : STARTED_AT);
    res.set({ ...cors, Vary: "Accept-Encoding", ETag: `W/"${tag}"` });
    res.set("Cache-Control", `public, max-age=${CACHE_SECONDS}`);
    if (changedAt) res.set("Last-Modified", changedAt.toUTCString());
    if (isFresh(req, tag, changedAt)) return void res.status(304).end();
    res.set("Content-Type", format.mediaType);
    if (req.method === "HEAD") return void res.status(200).end();
    const feed = await compressedFeed(context, format, tag);
    const acceptsGzip = req.acceptsEncodings("gzip", "identity") === "gzip";
    if (acceptsGzip) res.set("Content-Encoding", "gzip");
    await pipeline([Readable.from(feed), ...(acceptsGzip ? [] : [createGunzip()]), res]).catch((error) => {
      // The response has begun: close the connection, so that nobody takes it for complete.
      if (!req.closed) context.logger.error(`giftcard events: the feed broke off: ${error}`);
      res.destroy();
    });
  };
}
