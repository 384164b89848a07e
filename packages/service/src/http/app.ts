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
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";
import type { KeyLimit } from "../limits/key-limit.js";
import { Turnstile } from "../limits/turnstile.js";
import type { Log } from "../log.js";
import type { CallObserver, CallOutcome } from "../observation.js";
import type { KeyHolder } from "../store/key-holders.js";
import { BodyRefusal, readParameters } from "./body.js";
import { callerAddress } from "./caller-address.js";
import { type Call, type Handlers, Refusal, type RefusalDetails, Replay } from "./handler.js";
import { type OperatorView, operatorRoutes } from "./operator-routes.js";
import { isOverload, OVERLOAD_RETRY_SECONDS } from "./overload.js";
import { answerRefusal } from "./refusal-answer.js";

export interface AppOptions {
  readonly handlers: Handlers;
  /** Finds the company of an API key. */
  readonly findCompany: (apiKey: Secret) => Promise<KeyHolder | undefined>;
  readonly keyLimit: KeyLimit;
  /** What is answered at once; more is refused at once. */
  readonly callsAtOnce: number;
  /** As {@link callerAddress} takes it. */
  readonly proxies: number;
  readonly operatorView: OperatorView;
  readonly observer: CallObserver;
  readonly log: Log;
}

const REQUEST_ID_HEADER = "X-Request-Id";
type Environment = { Bindings: HttpBindings; Variables: { requestId: string } };
/** What a call's way through the checks leaves for those who count and log. */
interface CallNote {
  outcome: CallOutcome;
  companyId: number | undefined;
  movedCents: number;
}
type AnyHandler = (request: unknown, call: Call & { companyId?: number }) => Promise<unknown>;

/** The service's HTTP side: every row of the contract's table, joined with its handler. */
export function createApp(options: AppOptions): Hono<Environment> {
  const app = new Hono<Environment>();
  const entrance = new Turnstile(options.callsAtOnce);
  app.use(async (c, next) => {
    c.set("requestId", randomUUID());
    await next();
    c.res.headers.set(REQUEST_ID_HEADER, c.get("requestId"));
  });
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const row: Endpoint = endpoints[name];
    const handler = options.handlers[name] as AnyHandler;
    const path = BASE_PATH + row.path.replace(/\/$/, "");
    app.on(row.method, [path, `${path}/`], async (c) => {
      const header = (header: string) => c.env.incoming.headers[header.toLowerCase()] as string | undefined;
      const requestId = c.get("requestId");
      const note: CallNote = { outcome: "internal", companyId: undefined, movedCents: 0 };
      const startedAt = performance.now();
      options.observer.begin(name);
      let answer: Response;
      try {
        answer = await serve(row, handler, options, entrance, c.env.incoming, requestId, header, note);
      } catch (error) {
        options.log.failure({ requestId, endpoint: name, error });
        note.outcome = isOverload(error) ? "overloaded" : "internal";
        answer = answerRefusal(row, note.outcome, retryOf(note.outcome));
      }
      const durationMs = performance.now() - startedAt;
      options.observer.end({ requestId, operation: name, status: answer.status, durationMs, ...note });
      return echoKey(answer, row, header(IDEMPOTENCY_KEY_HEADER));
    });
    app.all(path, () => answerRefusal(row, "method_not_allowed"));
    app.all(`${path}/`, () => answerRefusal(row, "method_not_allowed"));
  }
  operatorRoutes(app, options.operatorView);
  app.notFound(() => answerRefusal(undefined, "not_found"));
  app.onError((error, c) => {
    options.log.failure({ requestId: c.get("requestId"), endpoint: undefined, error });
    return answerRefusal(undefined, "internal");
  });
  return app;
}

/** Takes one call through the checks, in the order that callers may rely on, to its handler. */
async function serve(
  row: Endpoint,
  handler: AnyHandler,
  options: AppOptions,
  entrance: Turnstile,
  incoming: HttpBindings["incoming"],
  requestId: string,
  header: (name: string) => string | undefined,
  note: CallNote,
): Promise<Response> {
  const no: Refuse = (code, details) => {
    note.outcome = code;
    return answerRefusal(row, code, details);
  };
  const parameters = await readParameters(incoming, row);
  if (parameters instanceof BodyRefusal) return no(parameters.code);
  const request = z.safeDecode(row.request, parameters as never);
  if (!request.success) return no("invalid_request", { faults: request.error.issues.map(faultOf) });

  const idempotencyKey = honoursKey(row) ? header(IDEMPOTENCY_KEY_HEADER) : undefined;
  if (idempotencyKey !== undefined && !idempotencyKeyPattern.test(idempotencyKey))
    return no("idempotency_key_invalid");
  const address = callerAddress(incoming, options.proxies);
  const call = { requestId, authorization: header("Authorization"), idempotencyKey, address };
  const answer = entrance.pass(() => judge(row, handler, options, request.data, call, note, no));
  return answer ?? no("overloaded", retryOf("overloaded"));
}

type Refuse = (code: Parameters<typeof answerRefusal>[1], details?: RefusalDetails) => Response;

/** What needs the database: whose key it is, how often it called, and the operation itself. */
async function judge(
  row: Endpoint,
  handler: AnyHandler,
  options: AppOptions,
  request: unknown,
  call: Call,
  note: CallNote,
  no: Refuse,
): Promise<Response> {
  let companyId: number | undefined;
  if (row.auth === "key" || row.auth === "company") {
    const shown = request as { apiKey: Secret; companyId?: number };
    const holder = await options.findCompany(shown.apiKey);
    if (holder === undefined) return no("unauthorized");
    if (row.auth === "company" && shown.companyId !== holder.companyId) return no("unauthorized");
    companyId = holder.companyId;
    note.companyId = companyId;
    const retryAfterSeconds = await options.keyLimit.take(holder.keyId);
    if (retryAfterSeconds !== undefined) return no("rate_limited", { retryAfterSeconds });
  }
  const answer = await handler(request, companyId === undefined ? call : { ...call, companyId });
  if (answer instanceof Refusal) return no(answer.code, answer.details);
  const replayed = answer instanceof Replay;
  note.outcome = replayed ? "replayed" : "done";
  if (!replayed) note.movedCents = movedBy(answer);
  const body = z.encode(row.response, (replayed ? answer.response : answer) as never);
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (replayed) headers[IDEMPOTENCY_REPLAYED_HEADER] = "true";
  return new Response(JSON.stringify(body), { headers });
}

const retryOf = (code: CallOutcome): RefusalDetails =>
  code === "overloaded" ? { retryAfterSeconds: OVERLOAD_RETRY_SECONDS } : {};

/** What devalue took or canceldevalue put back; 0 for every other answer. */
function movedBy(answer: unknown): number {
  const { deductedCents, refundedCents } = answer as { deductedCents?: number; refundedCents?: number };
  return deductedCents ?? refundedCents ?? 0;
}

const honoursKey = (row: Endpoint) => row.errors.includes("idempotency_key_invalid");

/** Tells the caller that this service honours the key. */
function echoKey(answer: Response, row: Endpoint, key: string | undefined): Response {
  if (key !== undefined && honoursKey(row) && idempotencyKeyPattern.test(key)) {
    answer.headers.set(IDEMPOTENCY_KEY_HEADER, key);
  }
  return answer;
}

const faultOf = (issue: z.core.$ZodIssue) => ({ path: issue.path.join("."), message: issue.message });
