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
  MAX_DEDUCTION_CENTS,
  Secret,
} from "./contract/index.js";
import { ProtocolError, RefusedError } from "./errors.js";
import type { Answer } from "./exchange.js";
import { readAnswer, refusalOf, unexpected } from "./judge.js";
import { type ClientOptions, type Environment, readOptions } from "./options.js";

/** A card's number and PIN. They are strings, because numbers would lose leading zeros. */
export interface CardCredentials {
  readonly cardNumber: string | Secret;
  readonly pin: string | Secret;
}

/**
 * A client with one method for each operation. Every method rejects with a {@link GiftcardError}: `RefusedError` (nothing
 * happened), `UnreachableError` or `ProtocolError` (the outcome of a write is unknown).
 */
export interface GiftcardClient {
  readonly environment: Environment | undefined;
  readonly baseUrl: string;
  readonly companyId: number | undefined;
  /** The currency of all amounts: `EUR`. */
  readonly currency: "EUR";
  /** The maximum of one devalue, in cents: 50.00 euro. */
  readonly maxDeductionCents: number;

  /** Checks that the service can be reached and accepts the API key, by `geteventconcepts`. Changes nothing. */
  checkAccess(options?: CallOptions): Promise<void>;

  /** Exchanges email and password for a new API key. Make a client with it. */
  authenticate(
    login: { readonly email: string; readonly password: string | Secret },
    options?: CallOptions,
  ): Promise<{ apiKey: Secret }>;

  /** Lists the company's events, oldest first: at most 64 MiB. A long list needs a longer `timeoutMs`. */
  listEvents(options?: CallOptions): Promise<Event[]>;

  /** Lists the company's event concepts, oldest first. */
  listEventConcepts(options?: CallOptions): Promise<EventConcept[]>;

  /** Lists the ticketing providers. Needs no API key. */
  listProviders(options?: CallOptions): Promise<EventProvider[]>;

  /** Creates an event concept. */
  createEventConcept(
    concept: { representative: string; register: string; providerId: number },
    options?: CallOptions,
  ): Promise<CreatedEventConcept>;

  /**
   * Creates 1 to 500 events, all or none.
   *
   * @param options.reference sent as Idempotency-Key. A service that honours it creates the events of a key only once
   */
  createEvents(
    events: readonly EventInput[],
    options?: CallOptions & { readonly reference?: string | undefined },
  ): Promise<CreatedEvent[]>;

  /** Reads a card's balance in cents, its status and its expiry date (yyyy-mm-dd, or empty). */
  balance(
    card: CardCredentials,
    options?: CallOptions,
  ): Promise<{ balanceCents: Cents; currency: string; cardStatus: string; expiryDate: string }>;

  /**
   * Deducts the smallest of `amountCents`, the card's balance and 50.00 euro. Never retried.
   *
   * @param deduction.reference sent as Idempotency-Key. {@link GiftcardClient.resolveDevalue} takes it later
   * @returns the deducted cents and the cents left to pay; the token that reverses the deduction; whether the service
   *   honours the key (`keyHonoured`), and whether this is its stored response to an earlier call (`replayed`)
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
   * Reverses one deduction by its single-use token. Never retried. `token_used` means that it was reversed before.
   *
   * @returns the refunded cents and the card's new balance
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

/** The result of a devalue, in cents. */
type Deduction = Awaited<ReturnType<GiftcardClient["devalue"]>>;
/** How a devalue was ended. */
type End = Awaited<ReturnType<GiftcardClient["resolveDevalue"]>>;

/**
 * Creates a client of one service.
 *
 * @param options the address, the API key, the company; see {@link ClientOptions}
 * @throws {TypeError} that names the wrong option
 */
export function createClient(options: ClientOptions): GiftcardClient {
  const settings = readOptions(options);
  const call = createCaller(settings);
  const { environment, baseUrl, companyId } = settings;
  const client: GiftcardClient = {
    environment,
    baseUrl,
    companyId,
    currency: "EUR",
    maxDeductionCents: MAX_DEDUCTION_CENTS,
    checkAccess: async (options) => void (await client.listEventConcepts(options)),
    authenticate: async ({ email, password }, options) => {
      const bytes = new TextEncoder().encode(`${email}:${Secret.of(password).reveal()}`);
      const authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`;
      const { apiKey } = await call("authenticate", {}, options, { authorization });
      return { apiKey };
    },
    listEvents: (options) => call("listEvents", {}, options),
    listEventConcepts: (options) => call("listEventConcepts", {}, options),
    listProviders: (options) => call("listProviders", {}, options),
    createEventConcept: async ({ representative, register, providerId }, options) =>
      call("createEventConcept", { representative, register, providerId }, options),
    createEvents: async (events, options) =>
      call("createEvents", { events: [...events] }, options, { reference: options?.reference }),
    async balance({ cardNumber, pin }, options) {
      const card = { cardNumber: Secret.of(cardNumber), pin: Secret.of(pin) };
      const { balanceCents, currency, cardStatus, expiryDate } = await call("balance", card, options);
      return { balanceCents, currency, cardStatus, expiryDate };
    },
    async devalue({ cardNumber, pin, amountCents, reference }, options) {
      const args = { cardNumber: Secret.of(cardNumber), pin: Secret.of(pin), amountCents };
      return call("devalue", args, options, { reference, judge: (answer) => readDeduction(answer, amountCents) });
    },
    async cancelDevalue({ cancelToken }, options) {
      const args = { cancelToken: Secret.of(cancelToken) };
      const { refundedCents, balanceCents } = await call("cancelDevalue", args, options);
      return { refundedCents, balanceCents };
    },
    // An empty reference would send no key at all, so it has to fail the pattern: hence String().
    resolveDevalue: (reference, options) =>
      call("cancelDevalue", {}, options, { reference: String(reference ?? ""), judge: readEnd }),
  };
  return Object.freeze(client);
}

/** Reads a deduction. It succeeded only if its amounts add up. The contract limits it to 50.00 euro. */
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
  // The service did not process the key, so this says nothing about the extension.
  if (refusal?.isBeforeTheCall) throw refusal;
  if (!keyHonoured) throw new ProtocolError("extension_not_supported", { endpoint, status, requestId });
  if (refusal instanceof RefusedError && status === 404) return { outcome: "not_done" };
  if (refusal instanceof RefusedError && status === 409) return { outcome: "already_reversed" };
  if (refusal) throw refusal;
  const { refundedCents, balanceCents } = readAnswer("cancelDevalue", answer);
  return { outcome: "reversed", refundedCents, balanceCents };
}
