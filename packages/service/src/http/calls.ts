import {
  type EndpointName,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  idempotencyKeyPattern,
  type Secret,
} from "@giftcard-pay/client/contract";
import * as z from "zod";
import type { CallLimit } from "../limits/call-limit.js";
import { Semaphore } from "../limits/semaphore.js";
import type { CallObserver, Log } from "../monitoring/log.js";
import { hashOf } from "../secrets/keyring.js";
import type { KeyHolder, KeyHolders } from "../store/key-holders.js";
import { type HttpAnswer, JSON_TYPE, jsonAnswer } from "./answer.js";
import { BodyRefusal, readParameters } from "./body.js";
import { BodyRoom } from "./body-room.js";
import { type CallContext, headerOf, takesKey } from "./call-context.js";
import { callerAddresses } from "./caller-address.js";
import { type Call, type CompanyCall, type Handlers, Pages, Refusal, Replay } from "./handler.js";

export interface CallOptions {
  readonly handlers: Handlers;
  readonly keyHolders: KeyHolders;
  readonly keyLimit: CallLimit;
  readonly companyLimit: CallLimit;
  /** Number of concurrent calls. Further calls are refused. */
  readonly callsAtOnce: number;
  /** See {@link callerAddresses}. */
  readonly proxies: number;
  readonly observer: CallObserver;
  readonly log: Log;
}

type AnyHandler = (
  request: unknown,
  call: Call & { [Of in "companyId" | "apiKeyHash"]: CompanyCall[Of] | undefined },
) => Promise<unknown>;

/** Operations whose own statement rejects an inactive key. They start with a remembered owner of the key. */
const KEY_IN_STATEMENT: ReadonlySet<EndpointName> = new Set(["balance", "devalue"]);

/** Answers calls of every operation. Callers may rely on the order of the steps. */
export class Calls {
  readonly #options: CallOptions;
  readonly #semaphore: Semaphore;
  readonly #room = new BodyRoom();
  readonly #addressOf: ReturnType<typeof callerAddresses>;

  constructor(options: CallOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.callsAtOnce);
    this.#addressOf = callerAddresses(options.proxies, options.log);
  }

  /** Answers a call, and reports it to metrics and log. Echoes the Idempotency-Key. */
  async answer(call: CallContext): Promise<HttpAnswer> {
    const { observer } = this.#options;
    const startedAt = performance.now();
    observer.begin(call.operation);
    const answer = await this.#answerOrFail(call);
    const key = headerOf(call.exchange.incoming, IDEMPOTENCY_KEY_HEADER);
    if (key !== undefined && takesKey(call.row) && idempotencyKeyPattern.test(key))
      answer.headers[IDEMPOTENCY_KEY_HEADER] = key;
    const end = () => observer.end(call.endedAs(answer.status, performance.now() - startedAt));
    const { body } = answer;
    if (typeof body === "string" || Buffer.isBuffer(body)) {
      end();
      return answer;
    }
    const ended = () => {
      body.ended();
      end();
    };
    return { ...answer, body: { pieces: body.pieces, ended } };
  }

  async #answerOrFail(call: CallContext): Promise<HttpAnswer> {
    try {
      return await this.#read(call);
    } catch (error) {
      this.#logFailure(call, error);
      return isOverload(error) ? call.refuseOverload() : call.refuse("internal");
    }
  }

  /**
   * Reads and validates the body, whose share of the room is held until the call is answered. Limits the number of concurrent
   * calls from then on, since they need the database.
   */
  async #read(call: CallContext): Promise<HttpAnswer> {
    const { parameters, release } = await readParameters(call.exchange.incoming, call.row, this.#room);
    try {
      return (
        validateRequest(call, parameters) ??
        (await this.#semaphore.run(() => this.#perform(call))) ??
        call.refuseOverload()
      );
    } finally {
      release();
    }
  }

  async #perform(call: CallContext): Promise<HttpAnswer> {
    const { auth } = call.row;
    if (auth === "none" || auth === "basic") return this.#handle(call);
    const { apiKey } = call.request as { apiKey: Secret };
    return this.#performKeyed(call, hashOf(apiKey));
  }

  async #performKeyed(call: CallContext, apiKeyHash: Buffer): Promise<HttpAnswer> {
    const { keyHolders } = this.#options;
    const remembered = KEY_IN_STATEMENT.has(call.operation) ? keyHolders.recall(apiKeyHash) : undefined;
    const holder = remembered ?? (await keyHolders.find(apiKeyHash));
    const { companyId: claimed } = call.request as { companyId?: number };
    if (!mayCall(holder, call.operation) || (claimed !== undefined && claimed !== holder.companyId))
      return call.refuse("unauthorized");
    call.companyId = holder.companyId;
    call.keyId = holder.keyId;
    const answer = (await this.#limit(call)) ?? (await this.#handle(call, apiKeyHash));
    // An inactive key must get `unauthorized`, not a limit. If a limit refused a remembered key, no statement checked it.
    const isUnchecked = remembered !== undefined && call.outcome === "rate_limited";
    const isInactive =
      call.outcome === "unauthorized" || (isUnchecked && !mayCall(await keyHolders.find(apiKeyHash), call.operation));
    if (!isInactive) return answer;
    keyHolders.forget(apiKeyHash);
    call.companyId = undefined;
    call.keyId = undefined;
    return call.refuse("unauthorized");
  }

  /** Counts the call for its key and its company. @returns the refusal if it exceeds a limit */
  async #limit(call: CallContext): Promise<HttpAnswer | undefined> {
    const { keyLimit, companyLimit } = this.#options;
    const ofKey = await keyLimit.take(call.keyId as number);
    if (ofKey !== undefined) return call.refuse("rate_limited", { retryAfterSeconds: ofKey, limit: "key_calls" });
    const ofCompany = await companyLimit.take(call.companyId as number);
    if (ofCompany !== undefined)
      return call.refuse("rate_limited", { retryAfterSeconds: ofCompany, limit: "company_calls" });
    return undefined;
  }

  /** Runs the operation, and encodes its answer. */
  async #handle(call: CallContext, apiKeyHash?: Buffer): Promise<HttpAnswer> {
    const { exchange, operation, request, idempotencyKey, companyId } = call;
    const { incoming, requestId } = exchange;
    const answer = await (this.#options.handlers[operation] as AnyHandler)(request, {
      requestId,
      authorization: headerOf(incoming, "Authorization"),
      idempotencyKey,
      address: this.#addressOf(incoming),
      companyId,
      apiKeyHash,
    });
    if (answer instanceof Refusal) return call.refuse(answer.code, answer.details);
    if (answer instanceof Pages) return this.#list(call, answer);
    const replayed = answer instanceof Replay;
    const response = replayed ? answer.response : answer;
    const body = z.encode(call.row.response, response as never);
    call.outcome = replayed ? "replayed" : "done";
    // A replayed answer repeats the amount, but moves nothing.
    call.movedCents = replayed ? 0 : movedBy(response);
    return jsonAnswer(200, body, replayed ? { [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : {});
  }

  /** Answers with a long list. The call ends when the last page is sent or the caller disconnects. */
  #list(call: CallContext, list: Pages<unknown>): HttpAnswer {
    call.outcome = "done";
    const body = { pieces: this.#piecesOf(call, list), ended: list.release };
    return { status: 200, headers: { "Content-Type": JSON_TYPE }, body };
  }

  /** Encodes a long list as one JSON array. Reads each page when the caller has received the one before. */
  async *#piecesOf(call: CallContext, { pages }: Pages<unknown>): AsyncGenerator<string> {
    let separator = "[";
    try {
      for (;;) {
        const { done, value } = await pages.next();
        if (done) break;
        yield separator + JSON.stringify(z.encode(call.row.response, value as never)).slice(1, -1);
        separator = ",";
      }
    } catch (error) {
      // The answer has begun, so it cannot become a 500. Only closing the connection can tell the caller.
      call.outcome = "internal";
      this.#logFailure(call, error);
      throw error;
    }
    yield "]";
  }

  #logFailure({ exchange: { requestId, traceId }, operation: endpoint }: CallContext, error: unknown): void {
    this.#options.log.failure({ requestId, traceId, endpoint, error });
  }
}

/** Validates the parameters and stores them in the context. @returns the refusal if they are invalid */
function validateRequest(call: CallContext, parameters: unknown): HttpAnswer | undefined {
  const { row, exchange } = call;
  if (parameters instanceof BodyRefusal) {
    const { code, isUnread } = parameters;
    return code === "overloaded" ? call.refuseOverload({ isUnread }) : call.refuse(code, { isUnread });
  }
  const request = z.safeDecode(row.request, parameters as never);
  if (!request.success) {
    const { issues } = request.error;
    const named = row.required ? issues.filter(({ path: [field] }) => isGiven(parameters, field)) : issues;
    return call.refuse("invalid_request", { faults: named.map(faultOf) });
  }
  const idempotencyKey = takesKey(row) ? headerOf(exchange.incoming, IDEMPOTENCY_KEY_HEADER) : undefined;
  if (idempotencyKey !== undefined && !idempotencyKeyPattern.test(idempotencyKey))
    return call.refuse("idempotency_key_invalid");
  call.request = request.data;
  call.idempotencyKey = idempotencyKey;
  return undefined;
}

const isGiven = (parameters: unknown, field: PropertyKey | undefined) =>
  (Object(parameters) as Record<PropertyKey, unknown>)[field ?? ""] !== undefined;

const faultOf = (issue: z.core.$ZodIssue) => ({ path: issue.path.join("."), message: issue.message });

/**
 * Codes of a database that lacks connections, memory or disk space, is starting or stopping, takes no writes, canceled a
 * statement that waited too long, or rolled it back repeatedly because of conflicts.
 */
const BUSY_CODES = /^(53...|57P03|57014|55P03|40001|40P01|25006|ECONNREFUSED)$/;

/** Returns whether a failure means overload: nothing was done, and a later call may succeed. */
function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  // The pool's error if no connection became free in time has no code.
  return BUSY_CODES.test(String(code)) || error.message === "timeout exceeded when trying to connect";
}

/** Returns whether a key is active. The keys of a suspended company can only cancel: the money goes back to its card. */
const mayCall = (holder: KeyHolder | undefined, operation: EndpointName): holder is KeyHolder =>
  holder !== undefined && (!holder.isSuspended || operation === "cancelDevalue");

/** Returns the cents that devalue took, or that canceldevalue put back; 0 for every other answer. */
function movedBy(answer: unknown): number {
  const { deductedCents, refundedCents } = answer as Record<string, number | undefined>;
  return deductedCents ?? refundedCents ?? 0;
}
