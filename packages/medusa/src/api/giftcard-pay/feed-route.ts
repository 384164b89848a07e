import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { EventFormat } from "@giftcard-pay/events";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../../context/context.js";
import type { EventSettings } from "../../context/options.js";
import { nameOf } from "../../errors.js";
import { lookAtFeed, packedFeed } from "../../events/packed-feeds.js";

/** So long a reader may go by what it has. */
const CACHE_SECONDS = 60;

const { version } = require("@giftcard-pay/medusa/package.json") as { version: string };
/** Only a process that is started anew has another release, or other options: both may write the same events otherwise. */
const STARTED_AT = new Date();

/** What anybody's page may read: it is public, and no cookie goes with it. */
const openToAll = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "ETag, Last-Modified",
};

/** Answers what a browser asks before it sends `If-None-Match` from another site's page. */
export function OPTIONS(_req: MedusaRequest, res: MedusaResponse): void {
  res
    .set({ ...openToAll, "Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "*" })
    .status(204)
    .end();
}

/**
 * Whether the reader has what would be sent. Not Express's own look: for that one, a reader that says `no-cache` has
 * nothing, and each `fetch` that says `If-None-Match` says so too.
 */
function hasNewest({ headers }: MedusaRequest, tag: string, changedAt: Date | null): boolean {
  const { "if-none-match": tags, "if-modified-since": since } = headers;
  if (tags !== undefined) return tags.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${tag}"`);
  if (since === undefined || changedAt === null) return false;
  return Date.parse(since) >= Math.floor(changedAt.getTime() / 1000) * 1000;
}

/**
 * Makes the route of a feed, which anybody may fetch: an issuer, a calendar, a search engine. What isn't on sale any more is
 * withdrawn before it is written.
 *
 * @param formatOf makes the feed's format, for events of these time zones
 */
export function feedRoute(
  formatOf: (settings: EventSettings, timeZones: readonly string[]) => Promise<EventFormat>,
) {
  return async (req: MedusaRequest, res: MedusaResponse): Promise<void> => {
    const { settings } = contextOf(req.scope);
    if (!settings.events) throw new MedusaError(MedusaError.Types.NOT_FOUND, "This shop has no feed.");
    const { tag: events, changedAt: eventsAt, timeZones } = await lookAtFeed(req.scope);
    const format = await formatOf(settings.events, timeZones);
    const tag = createHash("sha256").update(`${version}\n${format.head}\n${events}`).digest("base64url");
    const changedAt = eventsAt && (eventsAt > STARTED_AT ? eventsAt : STARTED_AT);
    res.set({ ...openToAll, Vary: "Accept-Encoding", ETag: `W/"${tag}"` });
    res.set("Cache-Control", `public, max-age=${CACHE_SECONDS}`);
    if (changedAt) res.set("Last-Modified", changedAt.toUTCString());
    if (hasNewest(req, tag, changedAt)) return void res.status(304).end();
    res.set("Content-Type", format.mediaType);
    if (req.method === "HEAD") return void res.status(200).end();
    const feed = await packedFeed(req.scope, format, tag);
    const isTakenPacked = req.acceptsEncodings("gzip", "identity") === "gzip";
    if (isTakenPacked) res.set("Content-Encoding", "gzip");
    await pipeline([Readable.from(feed), ...(isTakenPacked ? [] : [createGunzip()]), res]).catch((error) => {
      // The answer has begun: all that is left is to end the connection, so that nobody takes it for whole.
      const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
      if (!req.closed) logger.error(`giftcard events: the feed broke off: ${nameOf(error)}`);
      res.destroy();
    });
  };
}
