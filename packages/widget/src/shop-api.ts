import type {
  ApplyRequest,
  CardBalance,
  CardEntry,
  CartSummary,
  Quote,
} from "@giftcard-pay/checkout/storefront";
import { type FaultCode, isFaultCode } from "./messages/index.js";

/** How a call goes out: `fetch`, or anything of its shape. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** Where the shop's gift card routes are, and what goes along with each call. */
export interface ShopAddress {
  endpoint: string;
  /** Only the balance is asked for without one. */
  cart?: string;
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

const figures = ["totalCents", "coveredCents", "remainingCents", "maxPerCardCents", "maxCards", "cards"];

/** Speaks to a shop's gift card routes. Every method throws {@link ShopFault}. */
export class ShopApi {
  readonly #address: ShopAddress;

  constructor(address: ShopAddress) {
    this.#address = address;
  }

  /** The cart with its applied cards. */
  summary(signal: AbortSignal): Promise<CartSummary> {
    return this.#call(signal, figures, "GET", this.#cart);
  }

  /** What a card holds, and what this order would use of it. Takes nothing. */
  quote(entry: CardEntry, signal: AbortSignal): Promise<Quote> {
    const needed = ["balanceCents", "usableCents", "remainingCents"];
    return this.#call(signal, needed, "POST", `${this.#cart}/quote`, entry);
  }

  /** What a card holds. */
  balance(entry: CardEntry, signal: AbortSignal): Promise<CardBalance> {
    return this.#call(signal, ["balanceCents"], "POST", "/balance", entry);
  }

  /** Applies a quoted card to the cart. Takes nothing until the order is placed. */
  apply(quoteId: string, signal: AbortSignal): Promise<CartSummary> {
    return this.#call(signal, figures, "POST", `${this.#cart}/cards`, { quoteId });
  }

  /** Takes a card off the cart; one that is gone already counts as taken off. */
  async remove(id: string, signal: AbortSignal): Promise<CartSummary> {
    try {
      return await this.#call(signal, figures, "DELETE", `${this.#cart}/cards/${encodeURIComponent(id)}`);
    } catch (fault) {
      if ((fault as ShopFault).code === "applied_card_not_found") return this.summary(signal);
      throw fault;
    }
  }

  get #cart(): string {
    return `/carts/${encodeURIComponent(this.#address.cart ?? "")}`;
  }

  /** @param needed what has to stand in the answer: amounts, or the list of cards */
  async #call<Answer>(
    signal: AbortSignal,
    needed: readonly string[],
    method: string,
    path: string,
    body?: ApplyRequest,
  ): Promise<Answer> {
    const { endpoint, publishableKey, headers, transport, timeoutMs } = this.#address;
    const send: Transport = transport ?? ((url, init) => fetch(url, init));
    try {
      const response = await send(endpoint.replace(/\/+$/, "") + path, {
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
      });
      const answer = parse(await response.text());
      if (!response.ok) throw refusal(response, answer);
      if (!needed.every((name) => Number.isSafeInteger(answer[name]) || Array.isArray(answer[name])))
        throw new ShopFault("internal");
      return answer as Answer;
    } catch (error) {
      // Whatever else was thrown may hold what was sent; it ends here.
      throw error instanceof ShopFault ? error : new ShopFault("offline");
    }
  }
}

function refusal(
  { status, headers }: Response,
  { code, retryAfterSeconds }: Record<string, unknown>,
): ShopFault {
  const byStatus = status === 429 ? "too_many_attempts" : status >= 500 ? "service_unavailable" : "internal";
  const known = isFaultCode(code) ? code : byStatus;
  if (known !== "too_many_attempts") return new ShopFault(known);
  const seconds = Number(retryAfterSeconds ?? headers.get("retry-after"));
  // Without a usable wait the form stays shut for a moment only: the shop decides again at the next try.
  return new ShopFault(known, seconds > 0 ? Math.min(Math.ceil(seconds), 86_399) : 5);
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
