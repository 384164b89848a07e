import { type EndpointName, type ErrorCode, errorDefinitions, type Fault, recognizeCopies } from "./contract/index.js";

/** Codes of an {@link UnreachableError}. With `not_connected` nothing was sent; with any other, the outcome is unknown. */
export type UnreachableErrorCode =
  | "timeout"
  | "not_connected"
  | "connection_lost"
  | "aborted"
  | "server_error"
  | "overloaded";

/** Reasons why no connection could be made. */
export type ConnectionFault = "certificate" | "name_not_found" | "refused" | "connect_timeout";

/** Codes of a {@link ProtocolError}. */
export type ProtocolErrorCode =
  | "unreadable_answer"
  | "unexpected_answer"
  | "redirected"
  | "wrong_environment"
  | "extension_not_supported";

/** Codes of a {@link RefusedError}: the contract's, or `refused` if the operation lists none that fits. */
export type RefusedErrorCode = Exclude<ErrorCode, "internal" | "overloaded"> | "refused";

/** All codes of a {@link GiftcardError}. */
export type GiftcardErrorCode = RefusedErrorCode | UnreachableErrorCode | ProtocolErrorCode;

/** Details of a failed call. Never the request, the response, a header or an address. */
export interface FailureDetails {
  readonly endpoint: EndpointName;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cardStatus?: string | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly keyHonoured?: boolean | undefined;
  readonly reason?: ConnectionFault | undefined;
}

const messages: Record<Exclude<GiftcardErrorCode, Exclude<ErrorCode, "overloaded">>, string> = {
  refused: "The service refused the call.",
  timeout: "The service did not respond in time.",
  not_connected: "No connection to the service could be made. Nothing was sent.",
  connection_lost: "The connection to the service failed or was lost.",
  aborted: "The caller aborted the call.",
  server_error: "The service failed.",
  overloaded: "The service is busy.",
  unreadable_answer: "The response is not JSON, or too large.",
  unexpected_answer: "The response does not match the operation's contract.",
  redirected: "The service responded with a redirect. The client never follows redirects.",
  wrong_environment:
    "The service's environment (live or sandbox) differs from the client's. Check the address and the API key.",
  extension_not_supported: "The service can't resolve a devalue by its idempotency key.",
};

const reasons: Record<ConnectionFault, string> = {
  certificate: "its certificate is not trusted; for your own certificate authority, set NODE_EXTRA_CA_CERTS",
  name_not_found: "its host name does not exist",
  refused: "nothing listens at its address",
  connect_timeout: "its address does not respond",
};

/** The number of faults in a message. `faults` contains all. */
const SHOWN_FAULTS = 5;

function messageOf(code: GiftcardErrorCode): string {
  return code in messages ? messages[code as keyof typeof messages] : errorDefinitions[code as ErrorCode].message;
}

/** The error of a failed call. It contains no secret: no request, response, header, address or cause. */
export abstract class GiftcardError extends Error {
  abstract readonly code: GiftcardErrorCode;
  /** The operation that failed; `authenticate` if another call failed to get a key first. */
  readonly endpoint: EndpointName;
  /** The service's id of this call, to find it in the service's log. */
  readonly requestId: string | undefined;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later, and is safe to repeat. */
  readonly retryable: boolean;
  /** The wait that the service asks for. */
  readonly retryAfterSeconds: number | undefined;
  /** The card's status, if the service reports it. More values may be added. */
  readonly cardStatus: string | undefined;

  constructor(code: GiftcardErrorCode, details: FailureDetails) {
    const { faults: all = [] } = details;
    const shown = all.slice(0, SHOWN_FAULTS).map((fault) => `${fault.path}: ${fault.message}`);
    if (all.length > SHOWN_FAULTS) shown.push(`${all.length - SHOWN_FAULTS} more`);
    if (details.reason) shown.push(reasons[details.reason]);
    const faults = shown.join("; ");
    super(`${details.endpoint}: ${messageOf(code)}${faults ? ` (${faults})` : ""}`);
    this.endpoint = details.endpoint;
    this.requestId = details.requestId;
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.cardStatus = details.cardStatus;
  }

  /**
   * Whether the call was refused before the service processed it: 401 (the API key), 403 (something in front of the service,
   * such as a firewall) or 429 (a rate limit). It says nothing about the reference. As a `RefusedError`, nothing was done.
   */
  get isBeforeTheCall(): boolean {
    return this.status === 401 || this.status === 403 || this.status === 429;
  }

  /** Returns the properties and the message, which are safe to log. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** A refused call, which changed nothing. Without a status, the client refused it before sending. */
export class RefusedError extends GiftcardError {
  override readonly name = "RefusedError";
  readonly code: RefusedErrorCode;
  /** All faults of the request that are known. */
  readonly faults: readonly Fault[];
  /** Whether the response echoes the call's reference, so the service honours it and did nothing. */
  readonly keyHonoured: boolean;

  constructor(code: RefusedErrorCode, details: FailureDetails) {
    super(code, details);
    this.code = code;
    this.faults = details.faults ?? [];
    this.keyHonoured = details.keyHonoured ?? false;
  }
}

/** A call without a usable response. Unless the code is `not_connected`, the outcome is unknown. */
export class UnreachableError extends GiftcardError {
  override readonly name = "UnreachableError";
  readonly code: UnreachableErrorCode;
  /** Why there was no connection, if that is known. */
  readonly reason: ConnectionFault | undefined;

  constructor(code: UnreachableErrorCode, details: FailureDetails) {
    super(code, details);
    this.code = code;
    this.reason = details.reason;
  }
}

/** A response that does not match the contract. The outcome of a money call is unknown. */
export class ProtocolError extends GiftcardError {
  override readonly name = "ProtocolError";
  readonly code: ProtocolErrorCode;

  constructor(code: ProtocolErrorCode, details: FailureDetails) {
    super(code, details);
    this.code = code;
  }
}

recognizeCopies(GiftcardError, "@giftcard-pay/client: GiftcardError");
recognizeCopies(RefusedError, "@giftcard-pay/client: RefusedError");
recognizeCopies(UnreachableError, "@giftcard-pay/client: UnreachableError");
recognizeCopies(ProtocolError, "@giftcard-pay/client: ProtocolError");
