import type { IncomingMessage } from "node:http";
import { type Endpoint, type EndpointName, type ErrorCode, endpoints } from "@giftcard-pay/client/contract";
import type { LimitName } from "../limits/limits.js";
import type { CallOutcome, EndedCall } from "../monitoring/ended-call.js";
import type { HttpAnswer } from "./answer.js";
import type { RefusalDetails } from "./handler.js";
import { OVERLOAD_RETRY_SECONDS } from "./overload.js";
import { answerRefusal } from "./refusal-answer.js";
import type { Exchange } from "./routes.js";

/** What a call's steps leave for each other, and for those who count and log. */
export class CallContext {
  readonly row: Endpoint;
  outcome: CallOutcome = "internal";
  /** Read from the wire; undefined until it has been judged. */
  request: unknown;
  /** Only where the operation honours it, and well-formed. */
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

  /** What is known of it when it has been answered. */
  endedAs(status: number, durationMs: number): EndedCall {
    const { operation, outcome, limit, companyId, keyId, movedCents } = this;
    const { requestId, traceId } = this.exchange;
    const who = { requestId, traceId, companyId, keyId };
    return { ...who, operation, status, outcome, limit, movedCents, durationMs };
  }

  /** Refuses, and writes down with what. */
  refuse(code: ErrorCode, details?: RefusalDetails): HttpAnswer {
    this.outcome = code;
    this.limit = details?.limit;
    return answerRefusal(this.row, code, details);
  }

  /** Refuses for want of room. */
  refuseOverload(details?: RefusalDetails): HttpAnswer {
    return this.refuse("overloaded", { ...details, retryAfterSeconds: OVERLOAD_RETRY_SECONDS });
  }
}

/** As Node has it: of most headers the first; one of our own that came twice is joined by a comma, and then misspelt. */
export const headerOf = ({ headers }: IncomingMessage, name: string) =>
  headers[name.toLowerCase()] as string | undefined;

/** Whether an operation takes an Idempotency-Key. */
export const honoursKey = (row: Endpoint) => row.errors.includes("idempotency_key_invalid");
