import type { IncomingMessage } from "node:http";
import { type Endpoint, type EndpointName, type ErrorCode, endpoints } from "@giftcard-pay/client/contract";
import type { LimitName } from "../limits/limits.js";
import type { CallOutcome, EndedCall } from "../monitoring/log.js";
import { answerRefusal, type HttpAnswer } from "./answer.js";
import { OVERLOAD_RETRY_SECONDS, type RefusalDetails } from "./handler.js";
import type { Exchange } from "./routes.js";

/** The state of a call, shared by its steps and read by metrics and log. */
export class CallContext {
  readonly row: Endpoint;
  outcome: CallOutcome = "internal";
  /** The decoded parameters; undefined until they are validated. */
  request: unknown;
  /** Set if the operation takes one and it is well-formed. */
  idempotencyKey: string | undefined;
  companyId: number | undefined;
  keyId: number | undefined;
  limit: LimitName | undefined;
  movedCents = 0;

  constructor(
    readonly exchange: Exchange,
    readonly operation: EndpointName,
  ) {
    this.row = endpoints[operation];
  }

  /** Returns the record of the answered call, for metrics and log. */
  endedAs(status: number, durationMs: number): EndedCall {
    const { operation, outcome, limit, companyId, keyId, movedCents } = this;
    const { requestId, traceId } = this.exchange;
    const who = { requestId, traceId, companyId, keyId };
    return { ...who, operation, status, outcome, limit, movedCents, durationMs };
  }

  /** Builds the answer of a refusal, and records its code. */
  refuse(code: ErrorCode, details?: RefusalDetails): HttpAnswer {
    this.outcome = code;
    this.limit = details?.limit;
    return answerRefusal(this.row, code, details);
  }

  /** Refuses because of overload. */
  refuseOverload(details?: RefusalDetails): HttpAnswer {
    return this.refuse("overloaded", { ...details, retryAfterSeconds: OVERLOAD_RETRY_SECONDS });
  }
}

/** Returns a header as Node.js gives it. One of our own that is sent twice is joined by a comma, and is then malformed. */
export const headerOf = ({ headers }: IncomingMessage, name: string) =>
  headers[name.toLowerCase()] as string | undefined;

/** Returns whether an operation takes an Idempotency-Key. */
export const takesKey = (row: Endpoint) => row.errors.includes("idempotency_key_invalid");
