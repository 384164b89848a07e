import type { ApplyRequest, CardEntry, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import { type FaultCode, isFaultCode } from "./messages/index.js";

/** How a call goes out: `fetch`, or anything of its shape. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** Where the shop's gift card routes are, and what goes along with each call. */
export interface ShopAddress {
  endpoint: string;
  cart: string;
  publishableKey?: string;
  headers?: Record<string, string>;
  transport?: Transport | undefined;
  timeoutMs: number;
}

/** Why a call gave nothing. It holds a code only: no server's text, no address, nothing that was sent. */
export class ShopFault extends Error {
  override readonly name = "ShopFault";

  constructor(
    readonly code: FaultCode,
    readonly retryAfterSeconds?: number,
  ) {
    super(code);
  }
}

/** Speaks to a shop's gift card routes for one cart. Every method throws {@link ShopFault}. */
export class ShopApi {
  readonly #address: ShopAddress;

  constructor(address: ShopAddress) {
    this.#address = address;
  }

  /** The cart with its applied cards. */
  summary(signal: AbortSignal): Promise<CartSummary> {
    return this.#call("GET", "", undefined, isSummary, signal);
  }

  /** What a card holds, and what this order would use of it. Takes nothing. */
  quote(entry: CardEntry, signal: AbortSignal): Promise<Quote> {
    return this.#call("POST", "/quote", entry, isQuote, signal);
  }

  /** Applies a quoted card to the cart. Takes nothing until the order is placed. */
  apply(quoteId: string, signal: AbortSignal): Promise<CartSummary> {
    return this.#call("POST", "/cards", { quoteId }, isSummary, signal);
  }

  /** Takes a card off the cart; one that is gone already counts as taken off. */
  async remove(id: string, signal: AbortSignal): Promise<CartSummary> {
    try {
      return await this.#call("DELETE", `/cards/${encodeURIComponent(id)}`, undefined, isSummary, signal);
    } catch (fault) {
      if (fault instanceof ShopFault && fault.code === "applied_card_not_found") return this.summary(signal);
      throw fault;
    }
  }

  async #call<Answer>(
    method: string,
    path: string,
    body: ApplyRequest | undefined,
    isAnswer: (value: unknown) => value is Answer,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { endpoint, cart, publishableKey, headers, transport, timeoutMs } = this.#address;
    const send: Transport = transport ?? ((url, init) => fetch(url, init));
    try {
      const response = await send(
        `${endpoint.replace(/\/+$/, "")}/carts/${encodeURIComponent(cart)}${path}`,
        {
          method,
          headers: {
            accept: "application/json",
            ...(body && { "content-type": "application/json" }),
            ...(publishableKey && { "x-publishable-api-key": publishableKey }),
            ...headers,
          },
          ...(body && { body: JSON.stringify(body) }),
          cache: "no-store",
          // A redirect would carry the card elsewhere.
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        },
      );
      const answer = parse(await response.text());
      if (!response.ok) throw refusal(response, answer);
      if (!isAnswer(answer)) throw new ShopFault("internal");
      return answer;
    } catch (error) {
      // Whatever else was thrown may hold what was sent; it ends here.
      throw error instanceof ShopFault ? error : new ShopFault("offline");
    }
  }
}

function refusal(response: Response, answer: unknown): ShopFault {
  const { code, retryAfterSeconds } = (answer ?? {}) as { code?: unknown; retryAfterSeconds?: unknown };
  const byStatus: FaultCode =
    response.status === 429
      ? "too_many_attempts"
      : response.status >= 500
        ? "service_unavailable"
        : "internal";
  const known = isFaultCode(code) ? code : byStatus;
  if (known !== "too_many_attempts") return new ShopFault(known);
  const seconds = Number(retryAfterSeconds ?? response.headers.get("retry-after"));
  // Without a usable wait the form stays shut for a moment only: the shop decides again at the next try.
  return new ShopFault(known, seconds > 0 && seconds < 1e7 ? Math.ceil(seconds) : 5);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const hasAmounts = (value: unknown, ...names: string[]): boolean =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => Number.isSafeInteger((value as Record<string, unknown>)[name]));

function isQuote(value: unknown): value is Quote {
  return (
    hasAmounts(value, "balanceCents", "usableCents", "remainingCents") &&
    typeof (value as Quote).quoteId === "string"
  );
}

function isSummary(value: unknown): value is CartSummary {
  return (
    hasAmounts(value, "totalCents", "coveredCents", "remainingCents", "maxPerCardCents", "maxCards") &&
    Array.isArray((value as CartSummary).cards) &&
    (value as CartSummary).cards.every(
      (card) => hasAmounts(card, "amountCents") && typeof card.id === "string",
    )
  );
}
