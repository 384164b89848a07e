export type {
  CallOptions,
  CardCredentials,
  ClientOptions,
  Environment,
  GiftcardClient,
} from "./client.js";
export { createClient } from "./client.js";
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
  formatCents,
  idempotencyKeyPattern,
  MAX_AMOUNT_CENTS,
  MAX_DEDUCTION_CENTS,
  type ResponseOf,
  Secret,
} from "./contract/index.js";
export {
  type ConnectionFault,
  type Fault,
  GiftcardError,
  type GiftcardErrorCode,
  ProtocolError,
  type ProtocolErrorCode,
  RefusedError,
  type RefusedErrorCode,
  UnreachableError,
  type UnreachableErrorCode,
} from "./errors.js";
export type { RequestInfo, RequestOutcome } from "./options.js";
