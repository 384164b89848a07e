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
import type { CallObserver } from "../monitoring/ended-call.js";
import type { Log } from "../monitoring/log.js";
import { hashOf } from "../secrets/keyring.js";
import type { KeyHolders } from "../store/key-holders.js";
import { type HttpAnswer, JSON_TYPE, jsonAnswer } from "./answer.js";
import { readParameters } from "./body.js";
import { BodyRoom } from "./body-room.js";
import { type CallContext, headerOf, honoursKey } from "./call-context.js";
import { callerAddresses } from "./caller-address.js";
import { type Call, type CompanyCall, type Handlers, Pages, Refusal, Replay } from "./handler.js";
import { listBody } from "./list-body.js";
import { isOverload } from "./overload.js";
import { judgeRequest } from "./read-request.js";

export interface CallOptions {
  readonly handlers: Handlers;
  readonly keyHolders: KeyHolders;
  readonly keyLimit: CallLimit;
  readonly companyLimit: CallLimit;
  /** What is answered at once; more is refused at once. */
  readonly callsAtOnce: number;
  /** As {@link callerAddresses} takes it. */
  readonly proxies: number;
  readonly observer: CallObserver;
  readonly log: Log;
}

type AnyHandler = (
  request: unknown,
  call: Call & { [Of in "companyId" | "apiKeyHash"]: CompanyCall[Of] | undefined },
) => Promise<unknown>;

/** Operations whose own statement refuses a key that isn't living: whose it was is enough to begin. */
const KEY_IN_STATEMENT: ReadonlySet<EndpointName> = new Set(["devalue"]);

/** Answers calls of every operation. A call's steps stand here in the order that callers may rely on. */
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

  /** Counts and logs a call, whatever becomes of it, and tells its caller that the key is honoured. */
  async answer(call: CallContext): Promise<HttpAnswer> {
    const { observer } = this.#options;
    const startedAt = performance.now();
    observer.begin(call.operation);
    const answer = await this.#answerSurely(call);
    const key = headerOf(call.exchange.incoming, IDEMPOTENCY_KEY_HEADER);
    if (key !== undefined && honoursKey(call.row) && idempotencyKeyPattern.test(key))
      answer.headers[IDEMPOTENCY_KEY_HEADER] = key;
    const end = () => observer.end(call.endedAs(answer.status, performance.now() - startedAt));
    const { body } = answer;
    if (typeof body === "string") {
      end();
      return answer;
    }
    const ended = () => {
      body.ended();
      end();
    };
    return { ...answer, body: { pieces: body.pieces, ended } };
  }

  async #answerSurely(call: CallContext): Promise<HttpAnswer> {
    try {
      return await this.#read(call);
    } catch (error) {
      this.#logFailure(call, error);
      return isOverload(error) ? call.refuseOverload() : call.refuse("internal");
    }
  }

  /** What the caller sent takes its room until the call has been answered. */
  async #read(call: CallContext): Promise<HttpAnswer> {
    const { parameters, release } = await readParameters(call.exchange.incoming, call.row, this.#room);
    try {
      return judgeRequest(call, parameters) ?? (await this.#admit(call));
    } finally {
      release();
    }
  }

  /** What comes now needs the database: so many at once, and no more. */
  #admit(call: CallContext): Promise<HttpAnswer> | HttpAnswer {
    return this.#semaphore.run(() => this.#perform(call)) ?? call.refuseOverload();
  }

  async #perform(call: CallContext): Promise<HttpAnswer> {
    const { auth } = call.row;
    if (auth === "none" || auth === "basic") return this.#handle(call);
    return this.#performKeyed(call, hashOf((call.request as { apiKey: Secret }).apiKey));
  }

  async #performKeyed(call: CallContext, apiKeyHash: Buffer): Promise<HttpAnswer> {
    const { keyHolders } = this.#options;
    const remembered = KEY_IN_STATEMENT.has(call.operation) ? keyHolders.recall(apiKeyHash) : undefined;
    const holder = remembered ?? (await keyHolders.find(apiKeyHash));
    const { companyId: shown } = call.request as { companyId?: number };
    if (!holder || (shown !== undefined && shown !== holder.companyId)) return call.refuse("unauthorized");
    call.companyId = holder.companyId;
    call.keyId = holder.keyId;
    const answer = (await this.#limit(call)) ?? (await this.#handle(call, apiKeyHash));
    // No limit is told to a key that is gone: one that was only remembered, and came to no statement, is asked for now.
    const isUnasked = remembered !== undefined && call.outcome === "rate_limited";
    const isGone = call.outcome === "unauthorized" || (isUnasked && !(await keyHolders.find(apiKeyHash)));
    if (!isGone) return answer;
    keyHolders.forget(apiKeyHash);
    call.companyId = undefined;
    call.keyId = undefined;
    return call.refuse("unauthorized");
  }

  /** Counts the calls of the key, and of its company. */
  async #limit(call: CallContext): Promise<HttpAnswer | undefined> {
    const { keyLimit, companyLimit } = this.#options;
    const ofKey = await keyLimit.take(call.keyId as number);
    if (ofKey !== undefined)
      return call.refuse("rate_limited", { retryAfterSeconds: ofKey, limit: "key_calls" });
    const ofCompany = await companyLimit.take(call.companyId as number);
    if (ofCompany !== undefined)
      return call.refuse("rate_limited", { retryAfterSeconds: ofCompany, limit: "company_calls" });
    return undefined;
  }

  /** The operation itself, and its answer as the wire has it. */
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
    const shown = replayed ? answer.response : answer;
    const body = z.encode(call.row.response, shown as never);
    call.outcome = replayed ? "replayed" : "done";
    // A repeated answer names the same cents once more, and moves none.
    call.movedCents = replayed ? 0 : movedBy(shown);
    return jsonAnswer(200, body, replayed ? { [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : {});
  }

  /** A long list: the call has ended when its last page has left, or its caller has. */
  #list(call: CallContext, list: Pages<unknown>): HttpAnswer {
    call.outcome = "done";
    const body = listBody(list, {
      encode: (rows) => JSON.stringify(z.encode(call.row.response, rows as never)),
      // No second answer can follow the one that has begun.
      failed: (error) => {
        call.outcome = "internal";
        this.#logFailure(call, error);
      },
    });
    return { status: 200, headers: { "Content-Type": JSON_TYPE }, body };
  }

  #logFailure({ exchange: { requestId, traceId }, operation: endpoint }: CallContext, error: unknown): void {
    this.#options.log.failure({ requestId, traceId, endpoint, error });
  }
}

/** What devalue took or canceldevalue put back; 0 for every other answer. */
function movedBy(answer: unknown): number {
  const { deductedCents, refundedCents } = answer as { deductedCents?: number; refundedCents?: number };
  return deductedCents ?? refundedCents ?? 0;
}
