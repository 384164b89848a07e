import { once } from "node:events";
import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import net from "node:net";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { readRetryAfter } from "@giftcard-pay/client/contract";
import type { FeedValidators } from "../store/event-feeds.js";
import { version } from "../version.js";
import { FeedFailure } from "./feed-failure.js";
import { type AddressRule, ForbiddenAddress, isPublicAddress, lookUpBy } from "./public-address.js";

/** A feed as it is once it is unpacked. 5,000 shows with a page of text each are half of it. */
export const MAX_FEED_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_URL_LENGTH = 2048;
const MAX_VALIDATOR_LENGTH = 1000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** A server that is asked again too soon says so by these. */
const LATER = new Set([429, 503]);

/** The connection ended, or what unpacks the feed met something else than the rest of it. */
const BROKE_OFF = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|Z_|ERR_BROTLI|ERR__ERROR)/;

/** What to fetch, and how long that may take. */
export interface FeedRequest {
  readonly url: string;
  /** Which addresses may be connected to, for it and wherever it is redirected to. */
  readonly allows: AddressRule;
  /** Whether it may come by `http` from what is not on the public Internet. */
  readonly allowsHttp: boolean;
  /** What its server said of it the last time. */
  readonly validators: FeedValidators | undefined;
  /** From the first look-up to the last byte, redirects included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** A feed that was fetched. */
export interface FetchedFeed {
  readonly bytes: Buffer;
  readonly validators: FeedValidators;
}

/**
 * Reads the address of a feed: `https`, and nothing in it that is secret.
 *
 * @param options.allowsHttp takes `http` too
 * @returns undefined where it is no such address
 */
export function feedUrlOf(
  text: string,
  { allowsHttp, base }: { allowsHttp: boolean; base?: URL },
): URL | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base);
  url.hash = "";
  const isTaken = url.protocol === "https:" || (allowsHttp && url.protocol === "http:");
  return isTaken && url.username === "" && url.password === "" ? url : undefined;
}

/**
 * Fetches a feed, unless it is as it was.
 *
 * @returns undefined where its server says that nothing has changed
 * @throws {FeedFailure} when it can't be had
 */
export async function fetchFeed(request: FeedRequest): Promise<FetchedFeed | undefined> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([deadline, ...(request.signal ? [request.signal] : [])]);
  const { allows, allowsHttp } = request;
  let url = feedUrlOf(request.url, { allowsHttp });
  try {
    for (let redirects = 0; url && redirects <= MAX_REDIRECTS; redirects++) {
      const conditions = conditionsOf(url, request.validators);
      const response = await ask(url, { allows, conditions, signal });
      const isAsBefore = response.statusCode === 304 && Object.keys(conditions).length > 0;
      if (!isAsBefore && !REDIRECTS.has(response.statusCode ?? 0))
        return await take(url, response, request.onProgress);
      response.destroy();
      if (isAsBefore) return undefined;
      url = feedUrlOf(response.headers.location ?? "", { allowsHttp, base: url });
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    if (deadline.aborted)
      throw new FeedFailure(`didn't come whole within ${request.timeoutMs / 1000} seconds`);
    throw explained(error, url, allowsHttp);
  }
  throw new FeedFailure(
    url
      ? `is redirected more than ${MAX_REDIRECTS} times`
      : "is redirected to no https address, or to one with a password",
  );
}

/** Asks one server, at an address that it may be asked at. */
async function ask(
  url: URL,
  { allows, conditions, signal }: { allows: AddressRule; conditions: object; signal: AbortSignal },
): Promise<IncomingMessage> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const isHttp = url.protocol === "http:";
  // What can be read and changed on its way doesn't cross the public Internet.
  const rule = isHttp ? (address: string) => allows(address) && !isPublicAddress(address) : allows;
  // What is an address already is never looked up.
  if (net.isIP(literal) && !rule(literal)) throw new ForbiddenAddress();
  const { get } = isHttp ? http : https;
  const sent = get(url, {
    agent: false,
    lookup: lookUpBy(rule),
    signal,
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "gzip, br",
      // A cache that has an older copy asks the shop first: what that copy says would undo newer changes.
      "Cache-Control": "no-cache",
      "User-Agent": `giftcard-pay-service/${version}`,
      ...conditions,
    },
  });
  // What comes after the answer has begun, whoever reads the answer meets too.
  sent.on("error", () => {});
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

/** What its server said of the feed goes to that very address alone: another one may say the same of something else. */
function conditionsOf(url: URL, validators: FeedValidators | undefined) {
  if (validators?.answeredBy !== url.href) return {};
  const { etag, lastModified } = validators;
  return {
    ...(etag !== null && { "If-None-Match": etag }),
    ...(lastModified !== null && { "If-Modified-Since": lastModified }),
  };
}

async function take(
  url: URL,
  response: IncomingMessage,
  onProgress: FeedRequest["onProgress"],
): Promise<FetchedFeed> {
  try {
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) {
      const retryAfterSeconds = LATER.has(statusCode) ? readRetryAfter(headers["retry-after"]) : undefined;
      throw new FeedFailure(`is answered with ${statusCode} by ${url.host}`, { retryAfterSeconds });
    }
    if (!/^application\/([\w.-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers["content-type"] ?? ""))
      throw new FeedFailure("must come as application/json, in UTF-8: its Content-Type says something else");
    return { bytes: await unpack(response, onProgress), validators: validatorsOf(url, headers) };
  } finally {
    response.destroy();
  }
}

/** Reads the body, and stops where it gets too long, however short it came. */
async function unpack(response: IncomingMessage, onProgress: FeedRequest["onProgress"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > MAX_FEED_BYTES) throw new FeedFailure(`is longer than ${MAX_FEED_BYTES / 1024 / 1024} MiB`);
      chunks.push(chunk);
      onProgress?.(bytes);
    }
  };
  const decoder = decoderOf(response.headers["content-encoding"]);
  if (decoder) await pipeline(response, decoder, collect);
  else await pipeline(response, collect);
  return Buffer.concat(chunks);
}

function decoderOf(encoding = "identity") {
  switch (encoding.trim().toLowerCase()) {
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      throw new FeedFailure("comes in a Content-Encoding that nobody asked for: gzip and br are");
  }
}

function validatorsOf(url: URL, headers: IncomingHttpHeaders): FeedValidators {
  const kept = (value: string | undefined) =>
    value !== undefined && /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_VALIDATOR_LENGTH
      ? value
      : null;
  return { etag: kept(headers.etag), lastModified: kept(headers["last-modified"]), answeredBy: url.href };
}

/** What an error of the connection means. Nothing that the other side wrote is repeated. */
function explained(error: unknown, url: URL | undefined, allowsHttp: boolean): FeedFailure {
  if (error instanceof FeedFailure) return error;
  const { code = "" } = error as { code?: string };
  const host = url?.host;
  if (error instanceof ForbiddenAddress) {
    if (url?.protocol === "http:")
      return new FeedFailure(`is at ${host}, from where no feed comes by http: give its https address`);
    return new FeedFailure(
      allowsHttp
        ? `is at ${host}, where no feed may be: machines are told their keys there`
        : `is at ${host}, which is not on the public Internet: --allow-private lets it be`,
    );
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new FeedFailure(`is at ${host}, a name that is not known (${code})`);
  if (/CERT|SIGNATURE|ALTNAME|SSL|EPROTO/.test(code))
    return new FeedFailure(`is at ${host}, whose certificate is not trusted (${code})`);
  if (BROKE_OFF.test(code)) return new FeedFailure("broke off, or is not packed as it says");
  return new FeedFailure(`can't be had from ${host}${code && ` (${code})`}`);
}
