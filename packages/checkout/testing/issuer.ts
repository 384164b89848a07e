import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import {
  BASE_PATH,
  cents,
  ENVIRONMENT_HEADER,
  type ErrorCode,
  endpoints,
  errorDefinition,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  idempotencyKeyPattern,
  MAX_DEDUCTION_CENTS,
  type RequestOf,
  type ResponseOf,
  refusalBody,
  Secret,
} from "@giftcard-pay/client/contract";
import * as z from "zod/mini";

const API_KEY = "a-key-for-tests";
const COMPANY_ID = 1;
const DAY_MS = 24 * 60 * 60_000;
/** Wrong PINs lock a number, as in the service's default settings. */
const PIN_FAILURES = 10;
const LOCK_MS = 15 * 60_000;

const operations = ["balance", "devalue", "cancelDevalue"] as const;
/** An operation that the issuer for tests has. `cancelDevalue` also resolves by a reference. */
export type TestOperation = (typeof operations)[number];

/**
 * How a call fails:
 * - `lose-request`: the issuer never gets it
 * - `lose-answer`: the issuer does it, and its answer is lost
 * - `garble-answer`: the issuer does it, and its answer can't be read
 * - `busy`: refused with 503, not done
 * - `unauthorized`: refused with 401, as if the API key was revoked
 * - `hang`: the issuer does it, and doesn't answer until the client's timeout
 */
export type TestFault = "lose-request" | "lose-answer" | "garble-answer" | "busy" | "unauthorized" | "hang";

/** A card of the issuer for tests. */
export interface TestCard {
  readonly cardNumber: string;
  readonly pin: string;
  balanceCents: number;
  isBlocked: boolean;
  /** The last day on which it can pay, yyyy-mm-dd. */
  expiryDate: string;
}

/** An issuer of gift cards in memory, for the tests of a shop. */
export interface TestIssuer {
  /** Its client, for `createCheckout`. */
  readonly client: GiftcardClient;
  /** Answers calls of the client, for a client with other options. The API key and the company don't matter. */
  readonly fetch: typeof fetch;
  /** Issues a card. Its properties may be changed at any time, such as `isBlocked`. */
  issueCard(balanceCents: number): TestCard;
  /** Makes the next calls of an operation fail. @param times how many. Default: one */
  fail(operation: TestOperation, fault: TestFault, times?: number): void;
}

/** A deduction that may be reversed. */
interface Deduction {
  readonly card: TestCard;
  readonly cents: number;
  readonly token: string;
  readonly parameters: string;
  readonly at: number;
  isReversed: boolean;
}

class Refusal extends Error {
  constructor(readonly code: ErrorCode) {
    super(code);
  }
}
const refuse = (code: ErrorCode): never => {
  throw new Refusal(code);
};

/**
 * Creates an issuer in memory that answers like the service: balance, devalue and canceldevalue of the interface, with
 * Idempotency-Keys. A suite of cases is run on it and on the service, so both stay alike.
 */
export function createTestIssuer(): TestIssuer {
  const books = new Books();
  const faults = new Map<TestOperation, { fault: TestFault; times: number }>();

  function takeFault(operation: TestOperation): TestFault | undefined {
    const next = faults.get(operation);
    if (!next || next.times === 0) return undefined;
    next.times -= 1;
    return next.fault;
  }

  const answer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    // `checkAccess` asks for these.
    if (new URL(request.url).pathname === BASE_PATH + endpoints.listEventConcepts.path) return respond(200, []);
    const operation = operations.find((name) => new URL(request.url).pathname === BASE_PATH + endpoints[name].path);
    if (!operation) return respond(404, { error: errorDefinition("not_found").message });
    const fault = takeFault(operation);
    const key = request.headers.get(IDEMPOTENCY_KEY_HEADER);
    const wire = Object.fromEntries(new URLSearchParams(await request.text()));
    if (fault === "lose-request") throw new TypeError("fetch failed");
    if (fault === "busy") return refused(operation, "overloaded", null);
    if (fault === "unauthorized") return refused(operation, "unauthorized", null);
    const response = books.answer(operation, wire, key);
    if (fault === "lose-answer") throw new TypeError("fetch failed");
    if (fault === "garble-answer") return new Response("<html>", { status: 200 });
    if (fault === "hang")
      await new Promise((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
      });
    return response;
  };

  return {
    client: createClient({
      baseUrl: "https://issuer.example",
      environment: "sandbox",
      apiKey: API_KEY,
      companyId: COMPANY_ID,
      fetch: answer,
    }),
    fetch: answer,
    issueCard: (balanceCents) => books.issue(balanceCents),
    fail: (operation, fault, times = 1) => void faults.set(operation, { fault, times }),
  };
}

const respond = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { [ENVIRONMENT_HEADER]: "sandbox", ...headers } });

const echo = (key: string | null): Record<string, string> => (key === null ? {} : { [IDEMPOTENCY_KEY_HEADER]: key });

function refused(operation: TestOperation, code: ErrorCode, key: string | null): Response {
  const { status } = errorDefinition(code);
  const wait: Record<string, string> = code === "card_locked" ? { "Retry-After": String(LOCK_MS / 1000) } : {};
  return respond(status, refusalBody(endpoints[operation], code), { ...echo(key), ...wait });
}

/** The cards, the deductions, and the keys that they carried. */
class Books {
  readonly #cards = new Map<string, TestCard>();
  readonly #deductions = new Map<string, Deduction>();
  /** The deductions by their Idempotency-Keys; null for a key that was closed without one. */
  readonly #keys = new Map<string, Deduction | null>();
  readonly #failures = new Map<string, number[]>();

  issue(balanceCents: number): TestCard {
    const digits = (count: number) =>
      Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => byte % 10).join("");
    const expiryDate = new Date(Date.now() + 365 * DAY_MS).toISOString().slice(0, 10);
    const card = { cardNumber: `606435${digits(13)}`, pin: digits(6), balanceCents, isBlocked: false, expiryDate };
    this.#cards.set(card.cardNumber, card);
    return card;
  }

  /** Does a call, and returns its response. */
  answer(operation: TestOperation, wire: Record<string, string>, key: string | null): Response {
    try {
      if (key !== null && !idempotencyKeyPattern.test(key)) refuse("idempotency_key_invalid");
      const request = z.safeDecode(endpoints[operation].request, wire as never);
      if (!request.success) return refused(operation, "invalid_request", key);
      if (operation === "balance") return this.#balance(request.data as RequestOf<"balance">);
      if (operation === "devalue") return this.#devalue(request.data as RequestOf<"devalue">, key);
      return this.#cancel(request.data as RequestOf<"cancelDevalue">, key);
    } catch (error) {
      if (error instanceof Refusal) return refused(operation, error.code, key);
      throw error;
    }
  }

  #balance(request: RequestOf<"balance">): Response {
    const { balanceCents, isBlocked, expiryDate } = this.#open(request);
    const cardStatus = isBlocked
      ? "Blocked"
      : isOver(expiryDate)
        ? "Expired"
        : balanceCents === 0
          ? "No balance"
          : "Active";
    const body = { balanceCents: cents(balanceCents), currency: "EUR", cardStatus, expiryDate, success: undefined };
    return done("balance", body, null);
  }

  #devalue(request: RequestOf<"devalue">, key: string | null): Response {
    const { cardNumber, pin, amountCents } = request;
    const parameters = JSON.stringify([cardNumber.reveal(), pin.reveal(), amountCents]);
    const known = key === null ? undefined : this.#keys.get(key);
    if (known === null) refuse("key_closed");
    if (known && known.parameters !== parameters) refuse("idempotency_key_reused");
    if (known && known.at < Date.now() - DAY_MS) refuse("idempotency_key_spent");
    const deduction = known ?? this.#deduct(this.#open(request), amountCents, parameters);
    if (key !== null) this.#keys.set(key, deduction);
    const body = {
      success: true as const,
      deductedCents: cents(deduction.cents),
      remainderCents: cents(amountCents - deduction.cents),
      cancelToken: new Secret(deduction.token),
    };
    return done("devalue", body, key, known ? { [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : {});
  }

  #deduct(card: TestCard, amountCents: number, parameters: string): Deduction {
    if (card.isBlocked) refuse("card_blocked");
    if (isOver(card.expiryDate)) refuse("card_expired");
    if (card.balanceCents === 0) refuse("card_no_balance");
    const taken = Math.min(amountCents, card.balanceCents, MAX_DEDUCTION_CENTS);
    card.balanceCents -= taken;
    const at = Date.now();
    const deduction = { card, cents: taken, token: crypto.randomUUID(), parameters, at, isReversed: false };
    this.#deductions.set(deduction.token, deduction);
    return deduction;
  }

  #cancel({ cancelToken }: RequestOf<"cancelDevalue">, key: string | null): Response {
    if (cancelToken) return this.#reverse(this.#deductions.get(cancelToken.reveal()) ?? refuse("token_invalid"), key);
    if (key === null) return refused("cancelDevalue", "invalid_request", key);
    const known = this.#keys.get(key);
    if (known) return this.#reverse(known, key);
    this.#keys.set(key, null);
    return refuse("devalue_not_done");
  }

  #reverse(deduction: Deduction, key: string | null): Response {
    const { card } = deduction;
    if (deduction.isReversed) refuse("token_used");
    deduction.isReversed = true;
    card.balanceCents += deduction.cents;
    const body = {
      refundedCents: cents(deduction.cents),
      balanceCents: cents(card.balanceCents),
      success: true as const,
    };
    return done("cancelDevalue", body, key);
  }

  /** Returns the card of a number and PIN. Counts wrong ones, also of unknown numbers. */
  #open({ cardNumber, pin }: RequestOf<"balance">): TestCard {
    const number = cardNumber.reveal();
    const recent = (this.#failures.get(number) ?? []).filter((at) => at > Date.now() - LOCK_MS);
    if (recent.length >= PIN_FAILURES) refuse("card_locked");
    const card = this.#cards.get(number);
    if (card?.pin === pin.reveal()) return card;
    this.#failures.set(number, [...recent, Date.now()]);
    return refuse("invalid_card");
  }
}

const isOver = (expiryDate: string) => expiryDate < new Date().toISOString().slice(0, 10);

const done = <N extends TestOperation>(
  operation: N,
  body: ResponseOf<N>,
  key: string | null,
  headers: Record<string, string> = {},
): Response =>
  respond(200, z.encode(endpoints[operation].response as z.ZodMiniType, body), { ...echo(key), ...headers });
