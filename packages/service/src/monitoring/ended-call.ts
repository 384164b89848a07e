import type { EndpointName, ErrorCode } from "@giftcard-pay/client/contract";
import type { LimitName } from "../limits/limits.js";

/** How a call ended: a code of the contract, or one of the two ways in which it is well. */
export type CallOutcome = ErrorCode | "done" | "replayed";

/** What is known of a call when it has been answered: nothing in it is a secret. */
export interface EndedCall {
  readonly requestId: string;
  /** That of the caller's trace, as `traceparent` has it. */
  readonly traceId: string | undefined;
  /** Undefined where the path is none of the interface. */
  readonly operation: EndpointName | undefined;
  readonly status: number;
  readonly outcome: CallOutcome;
  readonly companyId: number | undefined;
  /** The id of its API key. */
  readonly keyId: number | undefined;
  /** The limit that refused it. */
  readonly limit: LimitName | undefined;
  /** What it moved: deducted by devalue, put back by canceldevalue. A repeated answer moves nothing. */
  readonly movedCents: number;
  readonly durationMs: number;
}

/** Who hears of calls. */
export interface CallObserver {
  begin(operation: EndpointName): void;
  end(call: EndedCall): void;
}
