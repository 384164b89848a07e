import { randomUUID } from "node:crypto";
import {
  BASE_PATH,
  type Endpoint,
  type EndpointName,
  endpoints,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  idempotencyKeyPattern,
  type Secret,
} from "@giftcard-pay/client/contract";
import { type Context, Hono } from "hono";
import * as z from "zod";
import type { CallLimit } from "../limits/call-limit.js";
import { Semaphore } from "../limits/semaphore.js";
import type { Log } from "../log.js";
import type { CallObserver } from "../observation.js";
import type { KeyHolder } from "../store/key-holders.js";
import { BodyRoom } from "./body-room.js";
import { type Environment, headerOf, honoursKey, no, overloaded, type Step } from "./call-context.js";
import { callerAddresses } from "./caller-address.js";
import { type Call, type Handlers, Pages, Refusal, Replay } from "./handler.js";
import { listBody } from "./list-body.js";
import { type OperatorView, operatorRoutes } from "./operator-routes.js";
import { isOverload } from "./overload.js";
import { readRequest } from "./read-request.js";
import { answerRefusal } from "./refusal-answer.js";

export interface AppOptions {
  readonly handlers: Handlers;
  /** Finds the company of an API key. */
  readonly findCompany: (apiKey: Secret) => Promise<KeyHolder | undefined>;
  readonly keyLimit: CallLimit;
  readonly companyLimit: CallLimit;
  /** What is answered at once; more is refused at once. */
  readonly callsAtOnce: number;
  /** As {@link callerAddresses} takes it. */
  readonly proxies: number;
  readonly operatorView: OperatorView;
  readonly observer: CallObserver;
  readonly log: Log;
}

const REQUEST_ID_HEADER = "X-Request-Id";

/** The trace that a caller belongs to, as W3C's Trace Context says it. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const traceIdOf = (traceparent = "") => TRACEPARENT.exec(traceparent)?.[1];

type AnyHandler = (request: unknown, call: Call & { companyId?: number }) => Promise<unknown>;

/**
 * The service's HTTP side: every row of the contract's table, joined with its handler. A call's steps stand in the order
 * that callers may rely on.
 */
export function createApp(options: AppOptions): Hono<Environment> {
  const { observer, proxies, callsAtOnce, findCompany, log } = options;
  const app = new Hono<Environment>();
  const semaphore = new Semaphore(callsAtOnce);
  const room = new BodyRoom();
  const addressOf = callerAddresses(proxies, log);
  app.use(async (c, next) => {
    c.set("requestId", randomUUID());
    c.set("traceId", traceIdOf(c.req.header("traceparent")));
    await next();
    c.res.headers.set(REQUEST_ID_HEADER, c.get("requestId"));
  });
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const row: Endpoint = endpoints[name];
    const path = BASE_PATH + row.path.replace(/\/$/, "");
    app.on(
      row.method,
      [path, `${path}/`],
      observe(name, observer),
      readRequest(row, room, addressOf),
      admit(semaphore),
      ...(row.auth === "key" || row.auth === "company"
        ? [authorize(row, findCompany), limitCalls(options)]
        : []),
      handle(row, options.handlers[name] as AnyHandler, log),
    );
    app.all(path, () => answerRefusal(row, "method_not_allowed"));
    app.all(`${path}/`, () => answerRefusal(row, "method_not_allowed"));
  }
  operatorRoutes(app, options.operatorView);
  app.notFound(() => answerRefusal(undefined, "not_found"));
  app.onError((error, c) => {
    const { requestId, traceId, operation: endpoint } = c.var;
    log.failure({ requestId, traceId, endpoint, error });
    return isOverload(error) && c.get("row") ? overloaded(c) : no(c, "internal");
  });
  return app;
}

/** Counts and logs a call, whatever becomes of it, and tells its caller that the key is honoured. */
const observe =
  (operation: EndpointName, observer: CallObserver): Step =>
  async (c, next) => {
    const row: Endpoint = endpoints[operation];
    c.set("row", row);
    c.set("operation", operation);
    c.set("outcome", "internal");
    c.set("movedCents", 0);
    const startedAt = performance.now();
    observer.begin(operation);
    await next();
    const { status } = c.res;
    const end = () => {
      const { requestId, traceId, outcome, limit, companyId, keyId, movedCents } = c.var;
      const durationMs = performance.now() - startedAt;
      observer.end({
        requestId,
        traceId,
        operation,
        status,
        outcome,
        limit,
        companyId,
        keyId,
        movedCents,
        durationMs,
      });
    };
    if (c.var.ended) void c.var.ended.then(end);
    else end();
    const key = headerOf(c, IDEMPOTENCY_KEY_HEADER);
    if (key !== undefined && honoursKey(row) && idempotencyKeyPattern.test(key))
      c.res.headers.set(IDEMPOTENCY_KEY_HEADER, key);
  };

/** What comes after it needs the database: so many at once, and no more. */
const admit =
  (semaphore: Semaphore): Step =>
  async (c, next) => {
    const admitted = semaphore.run(next);
    return admitted ?? overloaded(c);
  };

/** Finds whose key it is. */
const authorize =
  (row: Endpoint, findCompany: AppOptions["findCompany"]): Step =>
  async (c, next) => {
    const shown = c.get("request") as { apiKey: Secret; companyId?: number };
    const holder = await findCompany(shown.apiKey);
    if (holder === undefined) return no(c, "unauthorized");
    if (row.auth === "company" && shown.companyId !== holder.companyId) return no(c, "unauthorized");
    c.set("companyId", holder.companyId);
    c.set("keyId", holder.keyId);
    return next();
  };

/** Counts the calls of the key, and of its company. */
const limitCalls =
  ({ keyLimit, companyLimit }: Pick<AppOptions, "keyLimit" | "companyLimit">): Step =>
  async (c, next) => {
    const { keyId, companyId } = c.var as { keyId: number; companyId: number };
    const ofKey = await keyLimit.take(keyId);
    if (ofKey !== undefined) return no(c, "rate_limited", { retryAfterSeconds: ofKey, limit: "key_calls" });
    const ofCompany = await companyLimit.take(companyId);
    if (ofCompany !== undefined)
      return no(c, "rate_limited", { retryAfterSeconds: ofCompany, limit: "company_calls" });
    return next();
  };

/** The operation itself, and its answer as the wire has it. */
const handle =
  (row: Endpoint, handler: AnyHandler, log: Log): Step =>
  async (c) => {
    const { request, call, companyId } = c.var;
    const answer = await handler(request, companyId === undefined ? call : { ...call, companyId });
    if (answer instanceof Refusal) return no(c, answer.code, answer.details);
    if (answer instanceof Pages) return sendList(c, row, answer, log);
    const replayed = answer instanceof Replay;
    const shown = replayed ? answer.response : answer;
    const body = z.encode(row.response, shown as never);
    c.set("outcome", replayed ? "replayed" : "done");
    // A repeated answer names the same cents once more, and moves none.
    c.set("movedCents", replayed ? 0 : movedBy(shown));
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (replayed) headers[IDEMPOTENCY_REPLAYED_HEADER] = "true";
    return new Response(JSON.stringify(body), { headers });
  };

/** A long list: the call has ended when its last page has left, or its caller has. */
function sendList(c: Context<Environment>, row: Endpoint, list: Pages<unknown>, log: Log): Response {
  const { requestId, traceId, operation: endpoint } = c.var;
  const { outgoing } = c.env;
  c.set("outcome", "done");
  let ended = () => {};
  c.set("ended", new Promise((resolve) => (ended = resolve)));
  const body = listBody(list, {
    encode: (rows) => JSON.stringify(z.encode(row.response, rows as never)),
    // No second answer can follow the one that has begun.
    failed(error) {
      c.set("outcome", "internal");
      log.failure({ requestId, traceId, endpoint, error });
      outgoing.destroy();
    },
    ended,
  });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

/** What devalue took or canceldevalue put back; 0 for every other answer. */
function movedBy(answer: unknown): number {
  const { deductedCents, refundedCents } = answer as { deductedCents?: number; refundedCents?: number };
  return deductedCents ?? refundedCents ?? 0;
}
