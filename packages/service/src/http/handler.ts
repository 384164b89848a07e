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

/** What may go with a refusal. */
export interface RefusalDetails {
  readonly faults?: readonly Fault[];
  readonly retryAfterSeconds?: number;
  /** The limit that it met, for those who count. */
  readonly limit?: LimitName;
  /** The rest of the request is not read, so the connection can't be used again. */
  readonly isUnread?: boolean;
}

/** A handler's no, by a code of the contract. Make one with {@link refuse}. */
export class Refusal<Code extends ErrorCode = ErrorCode> {
  constructor(
    readonly code: Code,
    readonly details: RefusalDetails,
  ) {}
}

/** Refuses with a code; one that the operation's row does not list does not compile. */
export const refuse = <Code extends ErrorCode>(code: Code, details: RefusalDetails = {}) =>
  new Refusal(code, details);

/** A kept answer, given again. */
export class Replay<Response> {
  constructor(readonly response: Response) {}
}

/** A long list: its pages are read one after the other, each when its caller has taken the one before. */
export class Pages<Row> {
  constructor(
    readonly pages: { next(): Promise<IteratorResult<Row[], undefined>> },
    /** To be called once, when nobody reads on. */
    readonly release: () => void,
  ) {}
}

/** What a handler knows of a call besides its parameters. */
export interface Call {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** Where it comes from: an IP address. */
  readonly address: string;
  /** Only for operations that honour it, and well-formed. */
  readonly idempotencyKey: string | undefined;
}

/** A call whose key is known. */
export interface CompanyCall extends Call {
  readonly companyId: number;
  readonly apiKeyHash: Buffer;
}

type CallOf<N extends EndpointName> = (typeof endpoints)[N]["auth"] extends "key" | "company"
  ? CompanyCall
  : Call;

type PagesOf<Response> = Response extends (infer Row)[] ? Pages<Row> : never;

export type Answer<N extends EndpointName> =
  | ResponseOf<N>
  | PagesOf<ResponseOf<N>>
  | Replay<ResponseOf<N>>
  | Refusal<ErrorOf<N>>;

/** One for every row of the table; what it may be asked and may answer comes from the row. */
export type Handlers = {
  readonly [N in EndpointName]: (request: RequestOf<N>, call: CallOf<N>) => Promise<Answer<N>>;
};
