import type { Endpoint, EndpointName, ErrorCode } from "@giftcard-pay/client/contract";
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import type { LimitName } from "../limits/limits.js";
import type { CallOutcome } from "../observation.js";
import type { Call, RefusalDetails } from "./handler.js";
import { OVERLOAD_RETRY_SECONDS } from "./overload.js";
import { answerRefusal } from "./refusal-answer.js";

/** What a call's steps leave for each other, and for those who count and log. */
interface CallContext {
  requestId: string;
  traceId: string | undefined;
  /** The operation; undefined where the path is none. */
  row: Endpoint | undefined;
  operation: EndpointName | undefined;
  outcome: CallOutcome;
  request: unknown;
  call: Call;
  companyId: number | undefined;
  keyId: number | undefined;
  limit: LimitName | undefined;
  movedCents: number;
  /** When the last page of a long list has left; undefined for every other answer. */
  ended: Promise<void> | undefined;
}
export type Environment = { Bindings: HttpBindings; Variables: CallContext };
/** One step on the way of a call. */
export type Step = MiddlewareHandler<Environment>;

/** Refuses, and writes down with what. */
export function no(c: Context<Environment>, code: ErrorCode, details?: RefusalDetails): Response {
  c.set("outcome", code);
  c.set("limit", details?.limit);
  return answerRefusal(c.get("row"), code, details);
}

/** What a refusal for want of room tells. */
export const overload = { retryAfterSeconds: OVERLOAD_RETRY_SECONDS };
export const overloaded = (c: Context<Environment>) => no(c, "overloaded", overload);

/** As Node has it: of most headers the first; one of our own that came twice is joined by a comma, and then misspelt. */
export const headerOf = (c: Context<Environment>, name: string) =>
  c.env.incoming.headers[name.toLowerCase()] as string | undefined;

/** Whether an operation takes an Idempotency-Key. */
export const honoursKey = (row: Endpoint) => row.errors.includes("idempotency_key_invalid");
