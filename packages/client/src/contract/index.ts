export { recognizeCopies } from "./copies.js";
export * from "./endpoints.js";
export * from "./error-codes.js";
export type {
  CreatedEvent,
  CreatedEventConcept,
  Event,
  EventConcept,
  EventInput,
  EventProvider,
} from "./event-shapes.js";
export { type Cents, cents, formatCents, MAX_AMOUNT_CENTS, MAX_DEDUCTION_CENTS } from "./money.js";
export { openApiDocument } from "./openapi.js";
export { type Fault, refusalBody } from "./refusal-body.js";
export { readRetryAfter } from "./retry-after.js";
export { Secret } from "./secret.js";
