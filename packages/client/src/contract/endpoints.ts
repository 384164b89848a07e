import * as z from "zod/mini";
import type { ErrorCode } from "./error-codes.js";
import { createdEvent, createdEventConcept, event, eventConcept, eventInput, provider } from "./event-shapes.js";
import { answeredText, field, id, money, object, secret, text, typedSecret } from "./fields.js";
import { MAX_DEDUCTION_CENTS } from "./money.js";

/** The base path of all operations. */
export const BASE_PATH = "/api/endpoint/v1/";

/** The header that makes a devalue or newevent safe to repeat (an extension of the interface). */
export const IDEMPOTENCY_KEY_HEADER = "Idempotency-Key";

/** The header that marks a response as the stored one of an earlier call (an extension of the interface). */
export const IDEMPOTENCY_REPLAYED_HEADER = "Idempotency-Replayed";

/** The header of each response that says whether the service moves money (`live`) or is for tests (`sandbox`). */
export const ENVIRONMENT_HEADER = "Giftcard-Environment";

/** The format of an Idempotency-Key: 1 to 255 visible ASCII characters. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

const DEFAULT_BODY_LIMIT_BYTES = 256 * 1024;
const MANY_EVENTS = "must be an array of 1 to 500 events";

const apiKey = () => field("apikey", typedSecret(255));
const companyId = () => field("company_id", id());
const cardNumber = () => field("cardnumber", typedSecret(64));
const pin = () => field("pin", typedSecret(64));
const success = () => field("success", z.literal(true));
const providerId = () => field("eventprovider_id", id());

/** One operation of the interface. */
export interface Endpoint {
  /** The path below `BASE_PATH`. */
  readonly path: string;
  readonly method: "GET" | "POST";
  /** The authentication: none, email and password, an API key, or an API key and its company's id. */
  readonly auth: "none" | "basic" | "key" | "company";
  /** The encoding of the client's body; null if the operation has none. The service accepts forms if `formAllowed`. */
  readonly encoding: "form" | "json" | null;
  readonly formAllowed: boolean;
  readonly bodyLimitBytes: number;
  /** Whether it changes nothing, so that the client may retry it. */
  readonly read: boolean;
  /** Whether it honours an Idempotency-Key. */
  readonly idempotent: boolean;
  /** The form of a refusal: `{ error }` or `{ success: false, error }`. */
  readonly refusal: "plain" | "flagged";
  /** The fields that a 422 lists under `required`; null if its `errors` also name missing fields. */
  readonly required: readonly string[] | null;
  readonly request: z.ZodMiniType;
  readonly response: z.ZodMiniType;
  /** If several have the same status and the response says no more, the client assumes the first. */
  readonly errors: readonly ErrorCode[];
  readonly summary: string;
}

const bodyErrors = ["invalid_request", "unreadable_body", "body_too_large", "unsupported_media_type"] as const;
const serverErrors = ["overloaded", "internal"] as const;
const keyErrors = ["unauthorized", "rate_limited"] as const;
const idempotencyErrors = ["idempotency_key_invalid", "idempotency_key_reused", "idempotency_key_spent"] as const;
const cardErrors = ["invalid_card", "card_locked"] as const;

const post = {
  method: "POST",
  formAllowed: true,
  bodyLimitBytes: DEFAULT_BODY_LIMIT_BYTES,
  idempotent: false,
  refusal: "plain",
  required: null,
} as const;

/** The nine operations. Routes, parsers, client methods, OpenAPI and contract tests are derived from this table. */
export const endpoints = {
  authenticate: {
    ...post,
    path: "authenticate/",
    auth: "basic",
    encoding: null,
    read: false,
    request: object({}),
    response: object({ apiKey: field("apikey", secret(255)) }),
    errors: ["invalid_credentials", "rate_limited", "body_too_large", ...serverErrors],
    summary: "Exchange email and password for a new API key",
  },
  listEvents: {
    ...post,
    path: "getallevents",
    auth: "key",
    encoding: "json",
    read: true,
    request: object({ apiKey: apiKey() }),
    response: z.array(event),
    errors: [...bodyErrors, ...keyErrors, ...serverErrors],
    summary: "List the company's events, oldest first",
  },
  createEventConcept: {
    ...post,
    path: "neweventconcept",
    auth: "key",
    encoding: "json",
    read: false,
    request: object({
      apiKey: field("apikey", typedSecret(60)),
      representative: field("representative", text(150)),
      register: field("register", text(150)),
      providerId: providerId(),
    }),
    response: createdEventConcept,
    errors: [...bodyErrors, ...keyErrors, ...serverErrors],
    summary: "Create an event concept, the container that groups an organiser's events",
  },
  listEventConcepts: {
    ...post,
    path: "geteventconcepts",
    auth: "key",
    encoding: "json",
    read: true,
    request: object({ apiKey: apiKey() }),
    response: z.array(eventConcept),
    errors: [...bodyErrors, ...keyErrors, ...serverErrors],
    summary: "List the company's event concepts, oldest first",
  },
  listProviders: {
    ...post,
    path: "get_providers",
    method: "GET",
    auth: "none",
    encoding: null,
    read: true,
    request: object({}),
    response: z.array(provider),
    errors: [...serverErrors],
    summary: "List the ticketing providers",
  },
  createEvents: {
    ...post,
    path: "newevent",
    auth: "key",
    encoding: "json",
    formAllowed: false,
    bodyLimitBytes: 1024 * 1024,
    read: false,
    idempotent: true,
    request: object({
      apiKey: apiKey(),
      events: field(
        "events",
        z.array(eventInput, MANY_EVENTS).check(z.minLength(1, MANY_EVENTS), z.maxLength(500, MANY_EVENTS)),
      ),
    }),
    response: z.array(createdEvent),
    errors: [...bodyErrors, ...idempotencyErrors, ...keyErrors, ...serverErrors],
    summary: "Create 1 to 500 events, all or none",
  },
  balance: {
    ...post,
    path: "balance",
    auth: "company",
    encoding: "form",
    read: true,
    required: ["cardnumber", "pin", "apikey", "company_id"],
    request: object({ apiKey: apiKey(), companyId: companyId(), cardNumber: cardNumber(), pin: pin() }),
    response: object({
      success: field("success", z.optional(z.literal(true))),
      balanceCents: field("balance", money(0, Number.MAX_SAFE_INTEGER)),
      currency: field("currency", z.string()),
      cardStatus: field("card_status", z.string()),
      expiryDate: field("expiry_date", answeredText()),
    }),
    errors: [...keyErrors, ...cardErrors, ...bodyErrors, ...serverErrors],
    summary: "Read a gift card's balance, status and expiry date",
  },
  devalue: {
    ...post,
    path: "devalue",
    auth: "company",
    encoding: "form",
    read: false,
    idempotent: true,
    refusal: "flagged",
    required: ["cardnumber", "pin", "amount", "apikey", "company_id"],
    request: object({
      apiKey: apiKey(),
      companyId: companyId(),
      cardNumber: cardNumber(),
      pin: pin(),
      amountCents: field("amount", money(1)),
    }),
    response: object({
      success: success(),
      deductedCents: field("amount_deducted", money(1, MAX_DEDUCTION_CENTS)),
      remainderCents: field("remaining_to_pay", money(0)),
      cancelToken: field("cancel_token", secret(2048)),
    }),
    errors: [
      ...keyErrors,
      ...cardErrors,
      "card_blocked",
      "card_expired",
      "card_no_balance",
      "card_not_active",
      ...bodyErrors,
      ...idempotencyErrors,
      "key_closed",
      ...serverErrors,
    ],
    summary: "Deduct the smallest of the amount, the card's balance and 50.00 euro",
  },
  cancelDevalue: {
    ...post,
    path: "canceldevalue",
    auth: "company",
    encoding: "form",
    read: false,
    refusal: "flagged",
    request: object({
      apiKey: apiKey(),
      companyId: companyId(),
      // Required by the interface. Left out only to resolve a devalue by its Idempotency-Key (our extension).
      cancelToken: field("cancel_token", z.optional(z.union([z.literal(""), secret(2048)]))),
    }),
    response: object({
      success: success(),
      refundedCents: field("amount_refunded", money(1, MAX_DEDUCTION_CENTS)),
      balanceCents: field("card_new_balance", money(0, Number.MAX_SAFE_INTEGER)),
    }),
    errors: [
      ...bodyErrors,
      "idempotency_key_invalid",
      ...keyErrors,
      "token_invalid",
      "devalue_not_done",
      "token_used",
      ...serverErrors,
    ],
    summary: "Reverse one deduction by its single-use cancel token",
  },
} as const satisfies Record<string, Endpoint>;

/** An operation's name, which is also the name of the client's method. */
export type EndpointName = keyof typeof endpoints;

/** An operation's decoded request. */
export type RequestOf<N extends EndpointName> = z.output<(typeof endpoints)[N]["request"]>;

/** An operation's decoded response. */
export type ResponseOf<N extends EndpointName> = z.output<(typeof endpoints)[N]["response"]>;

/** The codes that an operation may refuse with. */
export type ErrorOf<N extends EndpointName> = (typeof endpoints)[N]["errors"][number];
