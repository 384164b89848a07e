import { formatCents, GiftcardError, RefusedError } from "@giftcard-pay/client";
import { recognizeCopies } from "@giftcard-pay/client/contract";
import { StoreError } from "../store/migrations.js";
import type { ShopError, ShopErrorCode } from "../storefront.js";
import type { RefundShares } from "./refund-plan.js";

/** The code of a refusal: one of the routes, or of a call about an order. */
export type CheckoutErrorCode = ShopErrorCode | "order_not_found";

/** The HTTP status and the developer's text of every refusal. Pages show their own texts for the codes. */
const definitions: Record<CheckoutErrorCode, { status: number; message: string }> = {
  invalid_request: {
    status: 400,
    message: "Send cardNumber and pin, or quoteId, as non-empty strings in a JSON object.",
  },
  invalid_card: { status: 400, message: "The card number or PIN is not valid." },
  card_blocked: { status: 400, message: "The card is blocked. Use another card, or ask the card's issuer." },
  card_expired: { status: 400, message: "The card has expired. Use another card." },
  card_no_balance: { status: 400, message: "The card has no balance. Use another card." },
  card_not_active: {
    status: 400,
    message: "The card is not active. Use another card, or ask the card's issuer.",
  },
  card_already_applied: { status: 409, message: "The card is already applied to this cart." },
  too_many_cards: {
    status: 409,
    message: "This cart has as many gift cards as one order takes. Remove one first.",
  },
  too_many_attempts: { status: 429, message: "Too many attempts. Try again later." },
  nothing_to_pay: {
    status: 409,
    message: "The cart is already covered: there is nothing left to pay with a card.",
  },
  giftcard_not_payable: {
    status: 409,
    message: "A gift card can't pay for a gift card. Pay the remainder by another method.",
  },
  quote_expired: { status: 409, message: "The quote is no longer valid. Enter the card again." },
  applied_card_not_found: { status: 404, message: "The cart has no such gift card." },
  applied_card_expired: {
    status: 409,
    message: "An applied card was entered too long ago. Enter it again, then place the order.",
  },
  balance_changed: {
    status: 409,
    message: "The card holds less than before. Check the new amounts and place the order again.",
  },
  amount_changed: {
    status: 409,
    message:
      "The amounts aren't those that the page has shown, or the summary's `plan` is missing. Show the current amounts, and start the payment again.",
  },
  cart_not_found: { status: 404, message: "There is no such cart." },
  order_not_found: { status: 404, message: "There is no such order." },
  cart_completed: { status: 409, message: "The cart is already an order." },
  currency_not_supported: { status: 400, message: "Gift cards pay in euro only." },
  giftcards_not_accepted: {
    status: 409,
    message: "The shop accepts no gift cards for this cart. Pay by another method.",
  },
  payment_in_progress: {
    status: 409,
    message: "A payment with this card is still being processed. Wait a moment, or pay by another method.",
  },
  outcome_unknown: {
    status: 503,
    message:
      "The gift card service did not respond. If the card was charged, the money is returned automatically. Don't pay again before that is done.",
  },
  service_unavailable: {
    status: 503,
    message: "The gift card service cannot be used now. Try again later, or pay by another method.",
  },
  internal: {
    status: 500,
    message: "The shop failed. Check whether the order was placed before you try again.",
  },
};

/** The codes of all refusals. */
export const shopErrorCodes = Object.keys(definitions).filter((code) => code !== "order_not_found");

/** A refusal of the money flow. It has a code and figures, but no card, token or request. */
export class CheckoutError extends Error {
  override readonly name = "CheckoutError";
  readonly code: CheckoutErrorCode;
  /** The matching HTTP status. */
  readonly status: number;
  /** Seconds to wait, with `too_many_attempts`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: CheckoutErrorCode,
    options: { retryAfterSeconds?: number | undefined; message?: string | undefined } = {},
  ) {
    super(options.message ?? definitions[code].message);
    this.code = code;
    this.status = definitions[code].status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Returns the body of the shop's response. */
  toJSON(): ShopError {
    const { message, retryAfterSeconds } = this;
    const code = this.code as ShopErrorCode;
    return retryAfterSeconds === undefined ? { code, message } : { code, message, retryAfterSeconds };
  }
}

/**
 * The reason of a refused refund:
 * - `refund_not_possible`: no set of charges adds up to the amount, or it exceeds the remaining amount
 * - `invalid_refund`: the request is invalid, or doesn't match the order
 * - `order_not_paid`: the order isn't paid
 * - `payment_in_progress`: the order's payment is not decided yet
 * - `refund_in_progress`: another refund of the order is being made
 */
export type RefundErrorCode =
  | "refund_not_possible"
  | "invalid_refund"
  | "order_not_paid"
  | "payment_in_progress"
  | "refund_in_progress";

/** A refused refund, with a message for the shop's staff. Nothing was refunded. */
export class RefundError extends Error {
  override readonly name = "RefundError";
  readonly code: RefundErrorCode;
  /** The matching HTTP status. */
  readonly status: 400 | 409;
  /** With `refund_not_possible`: the nearest amounts that can be refunded, in cents; at most one below and one above. */
  readonly possibleCents: readonly number[];
  /** The shares of these amounts, for a refund of an order; empty for a refund of a single payment. */
  readonly nearest: readonly RefundShares[];

  constructor(
    code: RefundErrorCode,
    message: string,
    about: { possibleCents?: readonly number[]; nearest?: readonly RefundShares[] } = {},
  ) {
    super(message);
    const { nearest = [], possibleCents = nearest.map(({ amountCents }) => amountCents) } = about;
    this.code = code;
    this.status = code === "invalid_refund" ? 400 : 409;
    this.possibleCents = possibleCents;
    this.nearest = nearest;
  }

  /** Returns the body of a response to the shop's staff. */
  toJSON(): { code: RefundErrorCode; message: string } {
    return { code: this.code, message: this.message };
  }
}

recognizeCopies(CheckoutError, "@giftcard-pay/checkout: CheckoutError");
recognizeCopies(RefundError, "@giftcard-pay/checkout: RefundError");

/** Makes the error of an invalid request for a refund. */
export const invalidRefund = (message: string): RefundError => new RefundError("invalid_refund", message);

/**
 * Makes the error of an amount that can't be refunded.
 *
 * @param leftCents the amount that is left of the order or the payment
 */
export function refundNotPossible(
  amountCents: number,
  leftCents: number,
  about: { possibleCents: readonly number[] } | { nearest: readonly RefundShares[] },
): RefundError {
  const whyNot = (): string => {
    if (leftCents === 0) return "Nothing is left to refund.";
    if (amountCents > leftCents)
      return `${formatCents(amountCents)} can't be refunded: only ${formatCents(leftCents)} is left.`;
    const cents =
      "nearest" in about ? about.nearest.map(({ amountCents: nearCents }) => nearCents) : about.possibleCents;
    const possible = cents.map((each) => formatCents(each)).join(" or ");
    return `${formatCents(amountCents)} can't be refunded: a charge goes back to its card only as a whole. Possible: ${possible}.`;
  };
  return new RefundError("refund_not_possible", whyNot(), about);
}

/** The codes with which a service refuses a card, and those that the shopper gets. */
export const cardRefusals: Readonly<Record<string, ShopErrorCode>> = {
  invalid_card: "invalid_card",
  card_blocked: "card_blocked",
  card_expired: "card_expired",
  card_no_balance: "card_no_balance",
  card_not_active: "card_not_active",
  card_locked: "too_many_attempts",
  rate_limited: "too_many_attempts",
};

const UNREACHABLE = "The shop's database can't be reached now. Try again later.";

/** Converts an error of the issuer, or of the store, to a refusal for the shopper. Not for outcomes of a devalue. */
export function toCheckoutError(error: unknown): CheckoutError {
  if (error instanceof CheckoutError) return error;
  if (error instanceof StoreError && error.code === "connection_lost")
    return new CheckoutError("service_unavailable", { message: UNREACHABLE });
  if (error instanceof RefusedError) {
    const code = cardRefusals[error.code] ?? "service_unavailable";
    const isWait = code === "too_many_attempts";
    return new CheckoutError(code, isWait ? { retryAfterSeconds: error.retryAfterSeconds } : {});
  }
  return new CheckoutError(error instanceof GiftcardError ? "service_unavailable" : "internal");
}
