import { type EndpointName, type ErrorCode, errorDefinitions, recognizeCopies } from "./contract/index.js";

/** Codes of an {@link UnreachableError}. After `not_connected` nothing was sent; after any other the outcome is unknown. */
export type UnreachableErrorCode =
  | "timeout"
  | "not_connected"
  | "connection_lost"
  | "aborted"
  | "server_error"
  | "overloaded";

/** Why no connection could be made. */
export type ConnectionFault = "certificate" | "name_not_found" | "refused" | "connect_timeout";

/** Codes of a {@link ProtocolError}. */
export type ProtocolErrorCode =
  | "unreadable_answer"
  | "unexpected_answer"
  | "redirected"
  | "wrong_environment"
  | "extension_not_supported";

/** Codes of a {@link RefusedError}: the contract's, or `refused` where the operation lists none that fits. */
export type RefusedErrorCode = Exclude<ErrorCode, "internal" | "overloaded"> | "refused";

/** Every code that a {@link GiftcardError} can have. */
export type GiftcardErrorCode = RefusedErrorCode | UnreachableErrorCode | ProtocolErrorCode;

/** One fault of a request: where, in the wire's spelling, and what. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** What is known of a failed call. Never the request, the answer, a header or an address. */
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
  timeout: "The service did not answer in time.",
  not_connected: "No connection to the service could be made. Nothing was sent.",
  connection_lost: "The connection to the service failed or was lost.",
  aborted: "The caller ended the call.",
  server_error: "The service failed.",
  overloaded: "The service is busy.",
  unreadable_answer: "The answer is not readable JSON of a sensible size.",
  unexpected_answer: "The answer is not what the operation promises.",
  redirected: "The service answered with a redirect, which is never followed.",
  wrong_environment:
    "The service is of the other environment (live or sandbox) than this client. Look at its address and key.",
  extension_not_supported: "The service does not end a devalue by its key.",
};

const reasons: Record<ConnectionFault, string> = {
  certificate:
    "its certificate isn't trusted; for one of your own, name its authority in NODE_EXTRA_CA_CERTS",
  name_not_found: "its name isn't known",
  refused: "nothing listens at its address",
  connect_timeout: "its address doesn't answer",
};

/** The message names some faults; `faults` holds all. */
const SHOWN_FAULTS = 5;

function messageOf(code: GiftcardErrorCode): string {
  return code in messages
    ? messages[code as keyof typeof messages]
    : errorDefinitions[code as ErrorCode].message;
}

/** Anything that a call can fail with. It holds no secret: no request, answer, header, address or cause. */
export abstract class GiftcardError extends Error {
  abstract readonly code: GiftcardErrorCode;
  /** The operation that failed; `authenticate` also where another call needed a key first. */
  readonly endpoint: EndpointName;
  /** The service's own mark of this call, for its log. */
  readonly requestId: string | undefined;
  /** The HTTP status, where an answer came. */
  readonly status: number | undefined;
  /** True when the same call may succeed later and repeating it can do no harm. */
  readonly retryable: boolean;
  /** How long the service asks to wait. */
  readonly retryAfterSeconds: number | undefined;
  /** The card's status, where the service names it. An open list. */
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
   * Whether the answer came from before the service looked at the call: 401 (the API key), 403 (something in front of the
   * service, such as a firewall) or 429 (a rate limit). It says nothing about the reference. As a `RefusedError`, nothing was
   * done.
   */
  get isBeforeTheCall(): boolean {
    return this.status === 401 || this.status === 403 || this.status === 429;
  }

  /** What a log may show: its properties and its message. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** The call was refused and changed nothing. Without a status, it was refused before it was sent. */
export class RefusedError extends GiftcardError {
  override readonly name = "RefusedError";
  readonly code: RefusedErrorCode;
  /** Every fault of the request, where they are known. */
  readonly faults: readonly Fault[];
  /** The call carried a reference, and the answer echoes it: the service honours it, and knows that it did nothing. */
  readonly keyHonoured: boolean;

  constructor(code: RefusedErrorCode, details: FailureDetails) {
    super(code, details);
    this.code = code;
    this.faults = details.faults ?? [];
    this.keyHonoured = details.keyHonoured ?? false;
  }
}

/** No usable answer came. Whether the service did its work is unknown. */
export class UnreachableError extends GiftcardError {
  override readonly name = "UnreachableError";
  readonly code: UnreachableErrorCode;
  /** Why there was no connection, where that is known. */
  readonly reason: ConnectionFault | undefined;

  constructor(code: UnreachableErrorCode, details: FailureDetails) {
    super(code, details);
    this.code = code;
    this.reason = details.reason;
  }
}

/** An answer came that this interface doesn't know. For a money call the outcome is unknown. */
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
