import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Log } from "../monitoring/log.js";
import { type HttpAnswer, sendAnswer } from "./answer.js";
import { answerNoAddress } from "./broken-request.js";
import { answerRefusal } from "./refusal-answer.js";

/** A request, and under what the log has it. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly requestId: string;
  /** That of the caller's trace, as `traceparent` has it. */
  readonly traceId: string | undefined;
}

export type Answerer = (exchange: Exchange) => HttpAnswer | Promise<HttpAnswer>;

const REQUEST_ID_HEADER = "X-Request-Id";

/** The trace that a caller belongs to, as W3C's Trace Context says it. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
/** Nothing, or a name or an address, and a port, as RFC 3986 spells them. */
const HOST = /^$|^(?:[\w.~!$&'()*+,;=%-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;
/** A path, or where a proxy is asked, the whole URL. */
const TARGET = /^(?:\/|https?:\/\/)[^\\]*$/i;

/** Who answers at which path. */
export class Routes {
  readonly #answerers = new Map<string, Answerer>();

  /** @param method `*` takes all that have no answerer of their own there */
  add(method: "GET" | "POST" | "*", path: string, answerer: Answerer): void {
    this.#answerers.set(`${method} ${path}`, answerer);
  }

  /**
   * Answers requests: with a 404 where nobody else does, with a 500 and a line in the log where an answerer fails.
   *
   * @param headers on every answer
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

  #find({ method, url = "", headers: { host }, httpVersion }: IncomingMessage): Answerer {
    // Whoever speaks HTTP/1.0, as simple health checks do, needs none.
    const hasHost = host === undefined ? httpVersion === "1.0" : HOST.test(host);
    if (!hasHost || !TARGET.test(url)) return answerNoAddress;
    // Node sends the head of it alone.
    const asked = method === "HEAD" ? "GET" : method;
    const at = (path: string) => this.#answerers.get(`${asked} ${path}`) ?? this.#answerers.get(`* ${path}`);
    const known = at(url);
    if (known) return known;
    const path = pathOf(url);
    if (path === undefined) return answerNoAddress;
    return at(path) ?? (() => answerRefusal(undefined, "not_found"));
  }
}

/** The path of a request's target, without its query and its escapes; undefined where the target is no address. */
function pathOf(target: string): string | undefined {
  const address = target.startsWith("/") ? `http://service${target}` : target;
  if (!URL.canParse(address)) return undefined;
  const { pathname } = new URL(address);
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}
