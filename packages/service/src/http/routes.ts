import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Log } from "../monitoring/log.js";
import { answerRefusal, type HttpAnswer, sendAnswer } from "./answer.js";
import { answerNoAddress } from "./broken-request.js";

/** A request, with its ids in the log. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly requestId: string;
  /** The trace id in the caller's `traceparent` header. */
  readonly traceId: string | undefined;
}

export type Answerer = (exchange: Exchange) => HttpAnswer | Promise<HttpAnswer>;

const REQUEST_ID_HEADER = "X-Request-Id";

/** A `traceparent` header of W3C's Trace Context. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
/** A Host header by RFC 3986: empty, or a name or address with an optional port. */
const HOST = /^$|^(?:[\w.~!$&'()*+,;=%-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;
/** A request target: a path, or a URL as sent to proxies. */
const TARGET = /^(?:\/|https?:\/\/)[^\\]*$/i;

/** The functions that answer, by method and path. */
export class Routes {
  readonly #answerers = new Map<string, Answerer>();

  /** @param method `*` for all methods without an answerer of their own */
  add(method: "GET" | "POST" | "*", path: string, answerer: Answerer): void {
    this.#answerers.set(`${method} ${path}`, answerer);
  }

  /**
   * Creates a listener that answers an unknown path with 404, and a failure with 500 and a line in the log.
   *
   * @param headers sent with every answer
   */
  listener(log: Log, headers: Readonly<Record<string, string>> = {}): RequestListener {
    return async (incoming, outgoing) => {
      const requestId = randomUUID();
      const traceId = TRACEPARENT.exec(String(incoming.headers.traceparent))?.[1];
      const fail = (error: unknown) => {
        log.failure({ requestId, traceId, error });
        return answerRefusal(undefined, "internal");
      };
      const answer = await this.#answer({ incoming, requestId, traceId }).catch(fail);
      Object.assign(answer.headers, headers, { [REQUEST_ID_HEADER]: requestId });
      await sendAnswer(outgoing, answer).catch((error) => {
        fail(error);
        outgoing.destroy();
      });
    };
  }

  async #answer(exchange: Exchange): Promise<HttpAnswer> {
    return this.#find(exchange.incoming)(exchange);
  }

  #find({ method, url = "", headersDistinct: { host = [] }, httpVersion }: IncomingMessage): Answerer {
    // HTTP/1.0, which simple health checks use, needs no Host header.
    const hasHost = host.length === 1 ? HOST.test(String(host[0])) : host.length === 0 && httpVersion === "1.0";
    if (!hasHost || !TARGET.test(url)) return answerNoAddress;
    // Node.js sends only the headers of the answer to HEAD.
    const asked = method === "HEAD" ? "GET" : method;
    const at = (path: string) => this.#answerers.get(`${asked} ${path}`) ?? this.#answerers.get(`* ${path}`);
    const known = at(url);
    if (known) return known;
    const path = pathOf(url);
    if (path === undefined) return answerNoAddress;
    return at(path) ?? (() => answerRefusal(undefined, "not_found"));
  }
}

/**
 * Returns the decoded path of a request's target, without its query; undefined for an invalid target. Keeps `..`, so that a
 * path that a proxy has judged leads nowhere else.
 */
function pathOf(target: string): string | undefined {
  if (!target.startsWith("/") && !URL.canParse(target)) return undefined;
  const path = target.replace(/^https?:\/\/[^/?#]*|[?#].*$/gis, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
