import { type CallOptions, createCaller } from "./caller.js";
import {
  type Cents,
  type CreatedEvent,
  type CreatedEventConcept,
  type Endpoint,
  type Event,
  type EventConcept,
  type EventInput,
  type EventProvider,
  endpoints,
  Secret,
} from "./contract/index.js";
import { ProtocolError, RefusedError } from "./errors.js";
import type { Answer } from "./exchange.js";
import { readAnswer, refusalOf, unexpected } from "./judge.js";
import { type ClientOptions, type Environment, readOptions } from "./options.js";

export type { CallOptions } from "./caller.js";
export type { ClientOptions, Environment } from "./options.js";

/** A card as its holder knows it: strings, since a number would lose zeros. */
export interface CardCredentials {
  readonly cardNumber: string | Secret;
  readonly pin: string | Secret;
}

/**
 * One method per operation. Every method rejects with a {@link GiftcardError}: `RefusedError` (nothing happened),
 * `UnreachableError` or `ProtocolError` (the outcome of a call that changes something is unknown).
 */
export interface GiftcardClient {
  readonly environment: Environment | undefined;
  readonly baseUrl: string;
  readonly companyId: number | undefined;

  /** Exchanges the client's email and password for a new API key, which the client uses from then on. */
  authenticate(options?: CallOptions): Promise<{ apiKey: Secret }>;

  /** The company's events, oldest first: at most 32 MiB of them. */
  listEvents(options?: CallOptions): Promise<Event[]>;

  /**
   * The company's events, oldest first, one by one as they arrive: any number of them, and none is kept.
   *
   * @param options.timeoutMs the longest wait for the answer to begin, and then for each piece of it
   * @throws {UnreachableError} also in the middle: then the list is not whole, and what came of it is right
   */
  eachEvent(options?: CallOptions): AsyncIterable<Event>;

  /** The company's event concepts, oldest first: at most 32 MiB of them. */
  listEventConcepts(options?: CallOptions): Promise<EventConcept[]>;

  /** The company's event concepts, oldest first, as {@link GiftcardClient.eachEvent} gives events. */
  eachEventConcept(options?: CallOptions): AsyncIterable<EventConcept>;

  /** The ticketing providers. Needs no API key. */
  listProviders(options?: CallOptions): Promise<EventProvider[]>;

  /** Creates an event concept. */
  createEventConcept(
    concept: { representative: string; register: string; providerId: number },
    options?: CallOptions,
  ): Promise<CreatedEventConcept>;

  /**
   * Creates 1 to 500 events, all or none.
   *
   * @param options.reference sent as Idempotency-Key: a service that honours it never creates twice for one key
   */
  createEvents(
    events: readonly EventInput[],
    options?: CallOptions & { readonly reference?: string | undefined },
  ): Promise<CreatedEvent[]>;

  /** A card's balance in cents, its status and its expiry date (yyyy-mm-dd, or empty). Changes nothing. */
  balance(
    card: CardCredentials,
    options?: CallOptions,
  ): Promise<{ balanceCents: Cents; currency: string; cardStatus: string; expiryDate: string }>;

  /**
   * Deducts the smallest of `amountCents`, the card's balance and 50.00 euro. Sent exactly once, whatever happens.
   *
   * @param deduction.reference sent as Idempotency-Key, and what {@link GiftcardClient.resolveDevalue} takes later
   * @returns what was taken and what is left to pay, in cents; the token that reverses it; whether the service
   *   honours the key (`keyHonoured`), and whether this is its kept answer to an earlier call (`replayed`)
   * @throws {RefusedError} nothing was taken
   * @throws {UnreachableError | ProtocolError} unknown whether money was taken
   */
  devalue(
    deduction: CardCredentials & { readonly amountCents: Cents; readonly reference?: string | undefined },
    options?: CallOptions,
  ): Promise<{
    deductedCents: Cents;
    remainderCents: Cents;
    cancelToken: Secret;
    replayed: boolean;
    keyHonoured: boolean;
  }>;

  /**
   * Reverses one deduction by its single-use token. Sent exactly once; `token_used` means that it was reversed before.
   *
   * @returns what went back to the card and what the card holds now, in cents
   */
  cancelDevalue(
    reversal: { readonly cancelToken: string | Secret },
    options?: CallOptions,
  ): Promise<{ refundedCents: Cents; balanceCents: Cents }>;

  /**
   * Ends a devalue of unknown outcome by the reference that it carried (an extension of the interface): it is
   * reversed if it was done, and can never be done if it was not. Sent exactly once; repeating it is harmless.
   *
   * @throws {ProtocolError} `extension_not_supported` when the service doesn't echo the reference: nothing is known
   */
  resolveDevalue(
    reference: string,
    options?: CallOptions,
  ): Promise<
    | { outcome: "reversed"; refundedCents: Cents; balanceCents: Cents }
    | { outcome: "already_reversed" }
    | { outcome: "not_done" }
  >;
}

/** What a devalue did. All amounts in cents. */
type Deduction = Awaited<ReturnType<GiftcardClient["devalue"]>>;
/** How a devalue was ended. */
type End = Awaited<ReturnType<GiftcardClient["resolveDevalue"]>>;

/**
 * Makes a client of one service.
 *
 * @param options the address, the key or credentials, the company; see {@link ClientOptions}
 * @throws {TypeError} naming the option that is wrong
 */
export function createClient(options: ClientOptions): GiftcardClient {
  const settings = readOptions(options);
  const { call, each, authenticate } = createCaller(settings);
  const { environment, baseUrl, companyId } = settings;
  const client: GiftcardClient = {
    environment,
    baseUrl,
    companyId,
    authenticate: async (options) => ({ apiKey: await authenticate(options) }),
    listEvents: (options) => call("listEvents", {}, callOptions(options)),
    eachEvent: (options) => each("listEvents", callOptions(options)),
    listEventConcepts: (options) => call("listEventConcepts", {}, callOptions(options)),
    eachEventConcept: (options) => each("listEventConcepts", callOptions(options)),
    listProviders: (options) => call("listProviders", {}, callOptions(options)),
    createEventConcept: async ({ representative, register, providerId }, options) =>
      call("createEventConcept", { representative, register, providerId }, callOptions(options)),
    createEvents: async (events, options) =>
      call(
        "createEvents",
        { events: [...events] },
        { ...callOptions(options), reference: options?.reference },
      ),
    async balance({ cardNumber, pin }, options) {
      const card = { cardNumber: Secret.of(cardNumber), pin: Secret.of(pin) };
      const { balanceCents, currency, cardStatus, expiryDate } = await call(
        "balance",
        card,
        callOptions(options),
      );
      return { balanceCents, currency, cardStatus, expiryDate };
    },
    async devalue({ cardNumber, pin, amountCents, reference }, options) {
      const args = { cardNumber: Secret.of(cardNumber), pin: Secret.of(pin), amountCents };
      const judge = (answer: Answer) => readDeduction(answer, amountCents);
      return call("devalue", args, { ...callOptions(options), reference }, judge);
    },
    async cancelDevalue({ cancelToken }, options) {
      const args = { cancelToken: Secret.of(cancelToken) };
      const { refundedCents, balanceCents } = await call("cancelDevalue", args, callOptions(options));
      return { refundedCents, balanceCents };
    },
    // An empty reference would send no key at all, so it has to fail the pattern: hence String().
    resolveDevalue: (reference, options) =>
      call("cancelDevalue", {}, { ...callOptions(options), reference: String(reference ?? "") }, readEnd),
  };
  return Object.freeze(client);
}

/** Only what every call takes, so that nothing else that a caller's object holds gets through. */
function callOptions(options: CallOptions = {}): CallOptions {
  return { signal: options.signal, timeoutMs: options.timeoutMs };
}

/** A deduction counts as done only when its figures add up; the contract's row holds it to 50.00 euro. */
function readDeduction(answer: Answer, askedCents: Cents): Deduction {
  const { deductedCents, remainderCents, cancelToken } = readAnswer("devalue", answer);
  if (deductedCents > askedCents || remainderCents !== askedCents - deductedCents) throw unexpected(answer);
  return {
    deductedCents,
    remainderCents,
    cancelToken,
    replayed: answer.replayed,
    keyHonoured: answer.keyHonoured,
  };
}

function readEnd(answer: Answer): End {
  const row: Endpoint = endpoints.cancelDevalue;
  const { endpoint, status, requestId, keyHonoured } = answer;
  const refusal = status >= 400 ? refusalOf(row, answer) : undefined;
  // Answered before the service looked at the key: that tells nothing about support.
  if (refusal?.isBeforeTheCall) throw refusal;
  if (!keyHonoured) throw new ProtocolError("extension_not_supported", { endpoint, status, requestId });
  if (refusal instanceof RefusedError && status === 404) return { outcome: "not_done" };
  if (refusal instanceof RefusedError && status === 409) return { outcome: "already_reversed" };
  if (refusal) throw refusal;
  const { refundedCents, balanceCents } = readAnswer("cancelDevalue", answer);
  return { outcome: "reversed", refundedCents, balanceCents };
}
