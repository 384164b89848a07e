import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import {
  BASE_PATH,
  ENVIRONMENT_HEADER,
  type ErrorCode,
  endpoints,
  errorDefinition,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  idempotencyKeyPattern,
  type RequestOf,
  type ResponseOf,
  refusalBody,
} from "@giftcard-pay/client/contract";
import * as z from "zod/mini";
import { IssuerBooks, LOCK_MS, Refusal, type TestCard } from "./issuer-books.js";

const API_KEY = "a-key-for-tests";
const COMPANY_ID = 1;

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

/**
 * Creates an issuer in memory that answers like the service: balance, devalue and canceldevalue of the interface, with
 * Idempotency-Keys. A suite of cases is run on it and on the service, so both stay alike.
 */
export function createTestIssuer(): TestIssuer {
  const books = new IssuerBooks();
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
    const response = answerOf(books, operation, wire, key);
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

/** Does a call, and returns its response. */
function answerOf(
  books: IssuerBooks,
  operation: TestOperation,
  wire: Record<string, string>,
  key: string | null,
): Response {
  try {
    if (key !== null && !idempotencyKeyPattern.test(key)) throw new Refusal("idempotency_key_invalid");
    const request = z.safeDecode(endpoints[operation].request, wire as never);
    if (!request.success) throw new Refusal("invalid_request");
    if (operation === "balance") return done("balance", books.balance(request.data as RequestOf<"balance">), null);
    if (operation === "cancelDevalue")
      return done("cancelDevalue", books.cancelDevalue(request.data as RequestOf<"cancelDevalue">, key), key);
    const { isReplay, ...body } = books.devalue(request.data as RequestOf<"devalue">, key);
    return done("devalue", body, key, isReplay ? { [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : {});
  } catch (error) {
    if (error instanceof Refusal) return refused(operation, error.code, key);
    throw error;
  }
}

const done = <N extends TestOperation>(
  operation: N,
  body: ResponseOf<N>,
  key: string | null,
  headers: Record<string, string> = {},
): Response =>
  respond(200, z.encode(endpoints[operation].response as z.ZodMiniType, body), { ...echo(key), ...headers });
