import * as z from "zod/mini";
import type { ErrorCode } from "./error-codes.js";
import {
  answeredText,
  answeredTextOrNull,
  date,
  field,
  id,
  integer,
  integerAsString,
  money,
  object,
  optionalKey,
  optionally,
  optionalText,
  optionalUrl,
  secret,
  text,
  time,
  typedSecret,
  url,
} from "./fields.js";
import { MAX_DEDUCTION_CENTS } from "./money.js";

/** All operations stand under this path (interface, "What the service does"). */
export const BASE_PATH = "/api/endpoint/v1/";

/** The header that makes a devalue or newevent safe to repeat (our extension). */
export const IDEMPOTENCY_KEY_HEADER = "Idempotency-Key";

/** The header that marks an answer as a repetition of an earlier one (our extension). */
export const IDEMPOTENCY_REPLAYED_HEADER = "Idempotency-Replayed";
/** Says on each answer whether money moves here (`live`), or everything is for trying out (`sandbox`). */
export const ENVIRONMENT_HEADER = "Giftcard-Environment";

/** What an Idempotency-Key may be: 1 to 255 visible ASCII characters. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

const DEFAULT_BODY_LIMIT_BYTES = 256 * 1024;
const MANY_EVENTS = "must be an array of 1 to 500 events";
const MAX_INT = 2_147_483_647;

const apiKey = () => field("apikey", typedSecret(255));
const companyId = () => field("company_id", id());
const cardNumber = () => field("cardnumber", typedSecret(64));
const pin = () => field("pin", typedSecret(64));
const success = () => field("success", z.literal(true));
const providerId = () => field("eventprovider_id", id());

const eventInput = object({
  providerId: field("eventprovider_id", integerAsString(1, MAX_INT)),
  name: field("event_name", text(255)),
  organiser: field("event_organiser", text(255)),
  startDate: field("event_start_date", date()),
  startTime: field("event_start_time", time()),
  ticketLink: field("ticket_link", url()),
  buildingName: field("building_name", optionalText(255)),
  streetName: field("streetname", optionalText(255)),
  streetNumber: field("streetnumber", optionalText(50)),
  zipCode: field("zipcode", optionalText(50)),
  city: field("city", optionalText(255)),
  country: field("country", optionalText(255)),
  posterUrl: field("poster_url", optionalUrl()),
  bannerUrl: field("banner_url", optionalUrl()),
  introductionText: field("event_introductiontext", optionalText(20_000)),
  genre: field("genre", optionalText(1000)),
  endDate: field("event_end_date", optionally(date())),
  endTime: field("event_end_time", optionally(time())),
  activated: field("activated", z.optional(integer(0, 1))),
  eventKey: field("event_key", optionalKey(255)),
  lineup: field("lineup", optionalText(5000)),
  minimumAge: field("minimumage", optionalText(50)),
  price: field("event_price", optionalText(50)),
  videoUrl: field("event_videourl", optionalUrl()),
  eventLink: field("event_link", optionalUrl()),
});

const event = object({
  id: field("id", integer(0, MAX_INT)),
  companyId: field("company_id", integer(0, MAX_INT)),
  bannerUrl: field("bannerpath", answeredText()),
  posterUrl: field("poster", answeredText()),
  title: field("title", answeredText()),
  description: field("description", answeredText()),
  organiser: field("organiser", answeredText()),
  date: field("date", answeredText()),
  time: field("time", answeredText()),
  endDate: field("end_date", answeredTextOrNull()),
  endTime: field("end_time", answeredTextOrNull()),
  location: field("location", answeredText()),
  ticketLink: field("ticket_link", answeredText()),
  createdAt: field("created_at", answeredText()),
  updatedAt: field("updated_at", answeredText()),
});

const eventConcept = object({
  id: field("id", integer(0, MAX_INT)),
  representative: field("representative", answeredText()),
  register: field("register", answeredText()),
  providerId: field("ticketprovider_id", integerAsString(0, MAX_INT)),
  createdAt: field("created_at", answeredText()),
  updatedAt: field("updated_at", answeredText()),
});

const provider = object({ id: field("id", integer(0, MAX_INT)), name: field("name", answeredText()) });

const createdEventConcept = object({
  id: field("eventconcept_id", integer(0, MAX_INT)),
  register: field("register", answeredText()),
  representative: field("representative", answeredText()),
  providerId: field("eventprovider_id", integerAsString(0, MAX_INT)),
});

const createdEvent = object({
  message: field("message", answeredText()),
  id: field("id", integer(0, MAX_INT)),
  title: field("title", answeredText()),
});

/** One operation of the interface. */
export interface Endpoint {
  /** Path below the base address. */
  readonly path: string;
  readonly method: "GET" | "POST";
  /** What the caller shows: nothing, email and password, an API key, or an API key and its company id. */
  readonly auth: "none" | "basic" | "key" | "company";
  /** The body that the client sends; null where the operation reads none. The service takes forms wherever `formAllowed`. */
  readonly encoding: "form" | "json" | null;
  readonly formAllowed: boolean;
  readonly bodyLimitBytes: number;
  /** True when calling it again changes nothing, so that the client may repeat it. */
  readonly read: boolean;
  /** True when it honours an Idempotency-Key. */
  readonly idempotent: boolean;
  /** How a refusal looks: `{ error }` or `{ success: false, error }`. */
  readonly refusal: "plain" | "flagged";
  /** The names that a 422 lists under `required`; null where its `errors` also name the fields that are missing. */
  readonly required: readonly string[] | null;
  readonly request: z.ZodMiniType;
  readonly response: z.ZodMiniType;
  /** Of several with one status, the first is what a caller takes it for who is told nothing more. */
  readonly errors: readonly ErrorCode[];
  readonly summary: string;
}

const bodyErrors = [
  "invalid_request",
  "unreadable_body",
  "body_too_large",
  "unsupported_media_type",
] as const;
const serverErrors = ["overloaded", "internal"] as const;
const keyErrors = ["unauthorized", "rate_limited"] as const;
const idempotencyErrors = [
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_key_spent",
] as const;
const cardErrors = ["invalid_card", "card_locked"] as const;

const post = {
  method: "POST",
  formAllowed: true,
  bodyLimitBytes: DEFAULT_BODY_LIMIT_BYTES,
  idempotent: false,
  refusal: "plain",
  required: null,
} as const;

/** The nine operations. Routing, parsing, client methods, OpenAPI and contract tests all come from this table. */
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
      // Required by the interface; left out only to end a devalue by its Idempotency-Key (our extension).
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

/** An operation's request, read from the wire. */
export type RequestOf<N extends EndpointName> = z.output<(typeof endpoints)[N]["request"]>;

/** An operation's answer, read from the wire. */
export type ResponseOf<N extends EndpointName> = z.output<(typeof endpoints)[N]["response"]>;

/** The codes that an operation may refuse with. */
export type ErrorOf<N extends EndpointName> = (typeof endpoints)[N]["errors"][number];

// Interfaces, so that a method's type shows their names and not what they are made of.
/** One event of `newevent`, under our names. */
export interface EventInput extends z.output<typeof eventInput> {}
/** What `newevent` says of one event that it created, in the order of the events. */
export interface CreatedEvent extends z.output<typeof createdEvent> {}
/** One event of `getallevents`, under our names. */
export interface Event extends z.output<typeof event> {}
/** One row of `geteventconcepts`, under our names. */
export interface EventConcept extends z.output<typeof eventConcept> {}
/** What `neweventconcept` answers. */
export interface CreatedEventConcept extends z.output<typeof createdEventConcept> {}
/** One ticketing provider of `get_providers`. */
export interface EventProvider extends z.output<typeof provider> {}
