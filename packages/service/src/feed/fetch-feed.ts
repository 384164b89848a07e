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

/** Maximum size of a feed, decompressed. 5,000 events with a page of text each need half of it. */
export const MAX_FEED_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_URL_LENGTH = 2048;
const MAX_VALIDATOR_LENGTH = 1000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses that may have a Retry-After. */
const RETRY_LATER = new Set([429, 503]);

/** Error codes of a lost connection, or of compressed data that is incomplete or invalid. */
const INCOMPLETE = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|Z_|ERR_BROTLI|ERR__ERROR)/;

/** A request for a feed. */
export interface FeedRequest {
  readonly url: string;
  /** The addresses that may be connected to, also after redirects. */
  readonly allows: AddressRule;
  /** Whether `http` is allowed, to addresses that are not on the public Internet. */
  readonly allowsHttp: boolean;
  /** The validators of the last pull. */
  readonly validators: FeedValidators | undefined;
  /** Time limit for everything, redirects included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** A fetched feed. */
export interface FetchedFeed {
  readonly bytes: Buffer;
  readonly validators: FeedValidators;
}

/**
 * Parses the address of a feed: `https`, without user and password.
 *
 * @param options.allowsHttp also accepts `http`
 * @returns undefined for any other address
 */
export function feedUrlOf(text: string, { allowsHttp, base }: { allowsHttp: boolean; base?: URL }): URL | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base);
  url.hash = "";
  const isTaken = url.protocol === "https:" || (allowsHttp && url.protocol === "http:");
  return isTaken && url.username === "" && url.password === "" ? url : undefined;
}

/**
 * Fetches a feed if it has changed.
 *
 * @returns undefined if the server says that it has not changed
 * @throws {FeedFailure} if it cannot be fetched
 */
export async function fetchFeed(request: FeedRequest): Promise<FetchedFeed | undefined> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([deadline, ...(request.signal ? [request.signal] : [])]);
  const { allows, allowsHttp } = request;
  let url = feedUrlOf(request.url, { allowsHttp });
  try {
    for (let redirects = 0; url && redirects <= MAX_REDIRECTS; redirects++) {
      const conditions = conditionsOf(url, request.validators);
      const response = await sendRequest(url, { allows, conditions, signal });
      const isUnchanged = response.statusCode === 304 && Object.keys(conditions).length > 0;
      if (!isUnchanged && !REDIRECTS.has(response.statusCode ?? 0))
        return await receive(url, response, request.onProgress);
      response.destroy();
      if (isUnchanged) return undefined;
      url = feedUrlOf(response.headers.location ?? "", { allowsHttp, base: url });
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    if (deadline.aborted) throw new FeedFailure(`did not arrive completely within ${request.timeoutMs / 1000} seconds`);
    throw explain(error, url, allowsHttp);
  }
  throw new FeedFailure(
    url
      ? `is redirected more than ${MAX_REDIRECTS} times`
      : "is redirected to an address without https, or with a password",
  );
}

/** Sends the request, if the rule allows the server's address. */
async function sendRequest(
  url: URL,
  { allows, conditions, signal }: { allows: AddressRule; conditions: object; signal: AbortSignal },
): Promise<IncomingMessage> {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const isHttp = url.protocol === "http:";
  // Without TLS a feed could be changed on its way, so `http` never crosses the public Internet.
  const rule = isHttp ? (address: string) => allows(address) && !isPublicAddress(address) : allows;
  // A literal address never reaches `lookup`.
  if (net.isIP(literal) && !rule(literal)) throw new ForbiddenAddress();
  const { get } = isHttp ? http : https;
  const request = get(url, {
    agent: false,
    lookup: lookUpBy(rule),
    signal,
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "gzip, br",
      // An older copy from a cache would undo newer changes.
      "Cache-Control": "no-cache",
      "User-Agent": `giftcard-pay-service/${version}`,
      ...conditions,
    },
  });
  // Errors after the answer has begun are also thrown to its reader.
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

/** Creates the conditional headers. The validators are only valid for the address that sent them. */
function conditionsOf(url: URL, validators: FeedValidators | undefined) {
  if (validators?.answeredBy !== url.href) return {};
  const { etag, lastModified } = validators;
  return {
    ...(etag !== null && { "If-None-Match": etag }),
    ...(lastModified !== null && { "If-Modified-Since": lastModified }),
  };
}

async function receive(
  url: URL,
  response: IncomingMessage,
  onProgress: FeedRequest["onProgress"],
): Promise<FetchedFeed> {
  try {
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) {
      const retryAfterSeconds = RETRY_LATER.has(statusCode) ? readRetryAfter(headers["retry-after"]) : undefined;
      throw new FeedFailure(`got the answer ${statusCode} from ${url.host}`, { retryAfterSeconds });
    }
    if (!/^application\/([\w.-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers["content-type"] ?? ""))
      throw new FeedFailure("must have the Content-Type application/json, in UTF-8");
    return { bytes: await decompress(response, onProgress), validators: validatorsOf(url, headers) };
  } finally {
    response.destroy();
  }
}

/** Reads and decompresses the body. Stops if the decompressed feed is too long. */
async function decompress(response: IncomingMessage, onProgress: FeedRequest["onProgress"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let tooLong: FeedFailure | undefined;
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > MAX_FEED_BYTES) {
        tooLong = new FeedFailure(`is larger than ${MAX_FEED_BYTES / 1024 / 1024} MiB`);
        throw tooLong;
      }
      chunks.push(chunk);
      onProgress?.(bytes);
    }
  };
  const decoder = decoderOf(response.headers["content-encoding"]);
  try {
    if (decoder) await pipeline(response, decoder, collect);
    else await pipeline(response, collect);
  } catch (error) {
    // Node.js 20 reports an abort instead of the reason.
    throw tooLong ?? error;
  }
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
      throw new FeedFailure("has a Content-Encoding that was not requested. Use gzip, br or none");
  }
}

function validatorsOf(url: URL, headers: IncomingHttpHeaders): FeedValidators {
  const valid = (value: string | undefined) =>
    value !== undefined && /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_VALIDATOR_LENGTH ? value : null;
  return { etag: valid(headers.etag), lastModified: valid(headers["last-modified"]), answeredBy: url.href };
}

/** Explains an error of the connection. Repeats nothing that the server wrote. */
function explain(error: unknown, url: URL | undefined, allowsHttp: boolean): FeedFailure {
  if (error instanceof FeedFailure) return error;
  const { code = "" } = error as { code?: string };
  const host = url?.host;
  if (error instanceof ForbiddenAddress) {
    if (url?.protocol === "http:")
      return new FeedFailure(`is at ${host}, from which no feed is fetched by http. Use its https address`);
    return new FeedFailure(
      allowsHttp
        ? `is at ${host}, an address at which clouds give machines their keys`
        : `is at ${host}, which is not on the public Internet. --allow-private allows it`,
    );
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return new FeedFailure(`is at ${host}, an unknown name (${code})`);
  if (/CERT|SIGNATURE|ALTNAME|SSL|EPROTO/.test(code))
    return new FeedFailure(`is at ${host}, whose certificate is not trusted (${code})`);
  if (INCOMPLETE.test(code)) return new FeedFailure("is incomplete, or is not compressed as its Content-Encoding says");
  return new FeedFailure(`could not be fetched from ${host}${code && ` (${code})`}`);
}
