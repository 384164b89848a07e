import type {
  ApplyRequest,
  CardBalance,
  CardEntry,
  CartSummary,
  Quote,
} from "@giftcard-pay/checkout/storefront";
import { CallError } from "./call-errors.js";
import { hint } from "./hint.js";
import { isErrorCode } from "./messages/index.js";

/** How a call goes out: `fetch`, or anything of its shape. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** Where the shop's gift card routes are, and what goes along with each call. */
export interface ShopAddress {
  readonly endpoint: string;
  readonly publishableKey: string;
  readonly headers: Record<string, string>;
  readonly transport: Transport | undefined;
}

/** How long one call may take before it counts as lost. */
const timeoutMs = 20_000;

const figures = ["totalCents", "coveredCents", "remainderCents", "maxPerCardCents", "maxCards", "cards"];

/** Speaks to a shop's gift card routes. Every method throws {@link CallError}. */
export class ShopApi {
  /** @param address read anew for each call */
  constructor(private readonly address: ShopAddress) {}

  /** The cart with its applied cards. */
  summary(cart: string, signal: AbortSignal): Promise<CartSummary> {
    return this.#call(signal, figures, "GET", pathOf(cart));
  }

  /** What a card holds, and what this order would use of it. Takes nothing. */
  quote(cart: string, entry: CardEntry, signal: AbortSignal): Promise<Quote> {
    const needed = ["balanceCents", "usableCents", "remainderCents"];
    return this.#call(signal, needed, "POST", `${pathOf(cart)}/quote`, entry);
  }

  /** What a card holds. */
  balance(entry: CardEntry, signal: AbortSignal): Promise<CardBalance> {
    return this.#call(signal, ["balanceCents"], "POST", "/balance", entry);
  }

  /** Applies a quoted card to the cart. Takes nothing until the order is placed. */
  apply(cart: string, quoteId: string, signal: AbortSignal): Promise<CartSummary> {
    return this.#call(signal, figures, "POST", `${pathOf(cart)}/cards`, { quoteId });
  }

  /** Takes a card off the cart; one that is gone already counts as taken off. */
  async remove(cart: string, id: string, signal: AbortSignal): Promise<CartSummary> {
    try {
      return await this.#call(signal, figures, "DELETE", `${pathOf(cart)}/cards/${encodeURIComponent(id)}`);
    } catch (error) {
      if ((error as CallError).code === "applied_card_not_found") return this.summary(cart, signal);
      throw error;
    }
  }

  /** @param needed what has to stand in the answer: amounts, or the list of cards */
  async #call<Answer>(
    signal: AbortSignal,
    needed: readonly string[],
    method: string,
    path: string,
    body?: ApplyRequest,
  ): Promise<Answer> {
    const { endpoint, publishableKey, headers, transport } = this.address;
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
        // Safari before 17.4 has no `any`, and ends a call by itself.
        signal: AbortSignal.any?.([signal, AbortSignal.timeout(timeoutMs)]) ?? signal,
      });
      const answer = parse(await response.text());
      if (!response.ok) throw refusal(response, answer);
      if (!needed.every((name) => Number.isSafeInteger(answer[name]) || Array.isArray(answer[name])))
        throw new CallError("internal");
      return answer as Answer;
    } catch (error) {
      // Whatever else was thrown may hold what was sent; it ends here.
      throw error instanceof CallError ? error : new CallError("offline");
    }
  }
}

/** What a developer has to look at, by the status of an answer without a code of ours. */
const misuse: Record<number, string> = {
  401: "the shop takes no call with this publishable key",
  404: "the endpoint has no gift card routes",
};

function pathOf(cart: string): string {
  return `/carts/${encodeURIComponent(cart)}`;
}

function refusal(
  { status, headers }: Response,
  { code, retryAfterSeconds }: Record<string, unknown>,
): CallError {
  const byStatus = status === 429 ? "too_many_attempts" : status >= 500 ? "service_unavailable" : "internal";
  const known = isErrorCode(code) ? code : byStatus;
  if (known === "internal" && misuse[status]) hint(`${misuse[status]} (${status}).`);
  if (known !== "too_many_attempts") return new CallError(known, undefined, status);
  const after = `${retryAfterSeconds ?? headers.get("retry-after")}`;
  const seconds = Number(after) || (Date.parse(after) - Date.now()) / 1000;
  // Without a usable wait the form stays shut for a moment only: the shop decides again at the next try.
  return new CallError(known, seconds > 0 ? Math.min(Math.ceil(seconds), 86_399) : 5, status);
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
