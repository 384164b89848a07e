import type {
  EndpointName,
  ErrorCode,
  ErrorOf,
  endpoints,
  Fault,
  RequestOf,
  ResponseOf,
} from "@giftcard-pay/client/contract";
import type { LimitName } from "../limits/limits.js";

/** The Retry-After of a call that was refused because of overload. */
export const OVERLOAD_RETRY_SECONDS = 1;

export interface RefusalDetails {
  readonly faults?: readonly Fault[];
  readonly retryAfterSeconds?: number;
  /** The limit that the call exceeded, for metrics and log. */
  readonly limit?: LimitName;
  /** Whether a part of the request is not read, so that the connection must be closed. */
  readonly isUnread?: boolean;
}

/** A refusal by a handler, with a code of the contract. {@link refuse} creates one. */
export class Refusal<Code extends ErrorCode = ErrorCode> {
  constructor(
    readonly code: Code,
    readonly details: RefusalDetails,
  ) {}
}

/** Refuses with a code. A code that the operation does not list in the contract does not compile. */
export const refuse = <Code extends ErrorCode>(code: Code, details: RefusalDetails = {}) => new Refusal(code, details);

/** A stored answer that is sent again. */
export class Replay<Response> {
  constructor(readonly response: Response) {}
}

/** A long list. Each page is read when the caller has received the one before. */
export class Pages<Row> {
  constructor(
    readonly pages: { next(): Promise<IteratorResult<Row[], undefined>> },
    /** Must be called once, when no more pages are read. */
    readonly release: () => void,
  ) {}
}

/** The parts of a call besides its parameters. */
export interface Call {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** The IP address of its sender. */
  readonly address: string;
  /** Set if the operation takes one and it is well-formed. */
  readonly idempotencyKey: string | undefined;
}

/** A call with a known API key. */
export interface CompanyCall extends Call {
  readonly companyId: number;
  readonly apiKeyHash: Buffer;
}

type CallOf<N extends EndpointName> = (typeof endpoints)[N]["auth"] extends "key" | "company" ? CompanyCall : Call;

type PagesOf<Response> = Response extends (infer Row)[] ? Pages<Row> : never;

export type Answer<N extends EndpointName> =
  | ResponseOf<N>
  | PagesOf<ResponseOf<N>>
  | Replay<ResponseOf<N>>
  | Refusal<ErrorOf<N>>;

/** A handler for each operation, whose table defines its parameters and answers. */
export type Handlers = {
  readonly [N in EndpointName]: (request: RequestOf<N>, call: CallOf<N>) => Promise<Answer<N>>;
};
