export type { CallOptions } from "./caller.js";
export { type CardCredentials, createClient, type GiftcardClient } from "./client.js";
export {
  type Cents,
  type CreatedEvent,
  type CreatedEventConcept,
  cents,
  type EndpointName,
  type ErrorCode,
  type Event,
  type EventConcept,
  type EventInput,
  type EventProvider,
  type Fault,
  formatCents,
  idempotencyKeyPattern,
  MAX_AMOUNT_CENTS,
  MAX_DEDUCTION_CENTS,
  type ResponseOf,
  Secret,
} from "./contract/index.js";
export {
  type ConnectionFault,
  GiftcardError,
  type GiftcardErrorCode,
  ProtocolError,
  type ProtocolErrorCode,
  RefusedError,
  type RefusedErrorCode,
  UnreachableError,
  type UnreachableErrorCode,
} from "./errors.js";
export type { ClientOptions, Environment, RequestInfo, RequestOutcome } from "./options.js";
