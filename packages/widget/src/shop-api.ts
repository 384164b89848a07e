import type { ApplyRequest } from "@giftcard-pay/checkout/storefront";
import { CallError } from "./call-errors.js";
import { isUnclear } from "./entry-parser.js";
import { isErrorCode } from "./messages/index.js";

/** A function that sends a request: `fetch`, or one with the same signature. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** The URL of the shop's gift card routes, and the options of every call. Read again for every call: a page may set anything. */
export interface ShopAddress {
  readonly endpoint: string;
  readonly publishableKey: string;
  readonly headers: HeadersInit;
  readonly transport: Transport | undefined;
}

/** Returns what a page has set as a text, also if it can't be converted, such as a symbol. */
export const textOf = (value: unknown): string => {
  try {
    return `${value}`;
  } catch {
    return "";
  }
};

/** The timeout of a call. */
const timeoutMs = 20_000;

/**
 * Calls one of the shop's gift card routes.
 * @param needed names of required fields in the response: integers, or the list of cards
 * @param path begins with a slash
 * @throws {CallError} for a refusal, an unreadable response, no response, or a card that is unclear and was not sent
 */
export async function callShop<Answer>(
  { endpoint, publishableKey, headers, transport }: ShopAddress,
  signal: AbortSignal,
  needed: readonly string[],
  method: string,
  path: string,
  body?: ApplyRequest,
): Promise<Answer> {
  const send: Transport = transport ?? ((url, init) => fetch(url, init));
  try {
    if (body && "pin" in body && isUnclear(body)) throw new CallError("invalid_request");
    const response = await send(`${endpoint}`.replace(/\/+$/, "") + path, {
      method,
      headers: {
        accept: "application/json",
        ...(body && { "content-type": "application/json" }),
        ...(publishableKey && { "x-publishable-api-key": publishableKey }),
        ...Object.fromEntries(new Headers(headers ?? {})),
      },
      ...(body && { body: JSON.stringify(body) }),
      cache: "no-store",
      // A redirect would send card number and PIN to another address.
      redirect: "error",
      // Safari before 17.4 has no `any`. There the call has the browser's own timeout.
      signal: AbortSignal.any?.([signal, AbortSignal.timeout(timeoutMs)]) ?? signal,
    });
    const answer = parse(await response.text());
    if (!response.ok) throw refusal(response, answer);
    if (!needed.every((name) => Number.isSafeInteger(answer[name]) || Array.isArray(answer[name])))
      throw new CallError("internal");
    return answer as Answer;
  } catch (error) {
    // Any other error may contain the request's data, so it is not passed on.
    throw error instanceof CallError ? error : new CallError("offline");
  }
}

function refusal({ status, headers }: Response, { code, retryAfterSeconds }: Record<string, unknown>): CallError {
  const byStatus = status === 429 ? "too_many_attempts" : status >= 500 ? "service_unavailable" : "internal";
  const known = isErrorCode(code) ? code : byStatus;
  if (known !== "too_many_attempts") return new CallError(known, undefined, status);
  const after = `${retryAfterSeconds ?? headers.get("retry-after")}`;
  const seconds = Number(after) || (Date.parse(after) - Date.now()) / 1000;
  // Without a usable Retry-After, wait a few seconds and let the shop decide again.
  return new CallError(known, seconds > 0 ? Math.min(Math.ceil(seconds), 86_399) : 5, status);
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
