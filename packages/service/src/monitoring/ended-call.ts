import type { EndpointName, ErrorCode } from "@giftcard-pay/client/contract";
import type { LimitName } from "../limits/limits.js";

/** The outcome of a call: an error code of the contract, or success. */
export type CallOutcome = ErrorCode | "done" | "replayed";

/** The record of an answered call. It holds no secret. */
export interface EndedCall {
  readonly requestId: string;
  /** The trace id in the caller's `traceparent` header. */
  readonly traceId: string | undefined;
  /** Undefined if the path is unknown. */
  readonly operation: EndpointName | undefined;
  readonly status: number;
  readonly outcome: CallOutcome;
  readonly companyId: number | undefined;
  readonly keyId: number | undefined;
  readonly limit: LimitName | undefined;
  /** The cents that devalue took, or that canceldevalue put back. A replayed answer moves nothing. */
  readonly movedCents: number;
  readonly durationMs: number;
}

export interface CallObserver {
  begin(operation: EndpointName): void;
  end(call: EndedCall): void;
}
