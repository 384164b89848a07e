import { formatCents, GiftcardError, RefusedError } from "@giftcard-pay/client";
import { recognizeCopies } from "@giftcard-pay/client/contract";
import type { ShopError, ShopErrorCode } from "../storefront.js";
import type { RefundShares } from "./refund-plan.js";

/** The HTTP status and the developer's text of every refusal. A page shows its own text for the code. */
const definitions: Record<ShopErrorCode, { status: number; message: string }> = {
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
    message: "A gift card can't pay for a gift card. Pay what is left by another method.",
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
      "The payment for the rest isn't there, or is for another amount. Start it again for what is left.",
  },
  cart_not_found: { status: 404, message: "There is no such cart." },
  cart_completed: { status: 409, message: "The cart is already an order." },
  currency_not_supported: { status: 400, message: "Gift cards pay in euro only." },
  giftcards_not_accepted: {
    status: 409,
    message: "The shop takes no gift card for this cart. Pay by another method.",
  },
  payment_in_progress: {
    status: 409,
    message: "A payment with this card is still being processed. Wait a moment, or pay by another method.",
  },
  outcome_unknown: {
    status: 503,
    message:
      "The gift card service did not answer. If the card was charged, it is reloaded by itself. Pay by another method, or try again later.",
  },
  service_unavailable: {
    status: 503,
    message: "The gift card service cannot be used now. Try again later, or pay by another method.",
  },
  internal: {
    status: 500,
    message: "The shop failed. See whether the order was placed before you try again.",
  },
};

/** A refusal of the money flow. It holds a code and figures only: no card, no token, no request. */
export class CheckoutError extends Error {
  override readonly name = "CheckoutError";
  readonly code: ShopErrorCode;
  /** The HTTP status that fits. */
  readonly status: number;
  /** Seconds to wait, with `too_many_attempts`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ShopErrorCode,
    options: { retryAfterSeconds?: number | undefined; message?: string | undefined } = {},
  ) {
    super(options.message ?? definitions[code].message);
    this.code = code;
    this.status = definitions[code].status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** What the shop's routes answer. */
  toJSON(): ShopError {
    const { code, message, retryAfterSeconds } = this;
    return retryAfterSeconds === undefined ? { code, message } : { code, message, retryAfterSeconds };
  }
}

/**
 * Why a refund is refused: it can't be made of whole charges, or more is asked for than is left (`refund_not_possible`); it
 * makes no sense for this order (`invalid_refund`); the order isn't paid (`order_not_paid`); it isn't decided yet whether it
 * is (`payment_in_progress`); or another refund of it is in work (`refund_in_progress`).
 */
export type RefundErrorCode =
  | "refund_not_possible"
  | "invalid_refund"
  | "order_not_paid"
  | "payment_in_progress"
  | "refund_in_progress";

/** A refund that is refused, in words for the shop's people. Nothing was refunded. */
export class RefundError extends Error {
  override readonly name = "RefundError";
  readonly code: RefundErrorCode;
  /** The HTTP status that fits. */
  readonly status: 400 | 409;
  /** With `refund_not_possible`: the nearest amounts that can be refunded, in cents, at most one below and one above. */
  readonly possibleCents: readonly number[];
  /** Where these would go, for a refund of an order; none for one of a card's payment alone. */
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

  /** What the shop's routes may answer its own people. */
  toJSON(): { code: RefundErrorCode; message: string } {
    return { code: this.code, message: this.message };
  }
}

recognizeCopies(CheckoutError, "@giftcard-pay/checkout: CheckoutError");
recognizeCopies(RefundError, "@giftcard-pay/checkout: RefundError");

/** A request that makes no sense for any order, or not for this one. */
export const invalidRefund = (message: string): RefundError => new RefundError("invalid_refund", message);

/**
 * An amount that can't go back.
 *
 * @param leftCents what is left of the order, or of the payment
 */
export function refundNotPossible(
  amountCents: number,
  leftCents: number,
  about: { possibleCents: readonly number[] } | { nearest: readonly RefundShares[] },
): RefundError {
  const whyNot = (): string => {
    if (leftCents === 0) return "Nothing is left to go back.";
    if (amountCents > leftCents)
      return `${formatCents(amountCents)} can't go back: ${formatCents(leftCents)} is left.`;
    const cents = "nearest" in about ? about.nearest.map((one) => one.amountCents) : about.possibleCents;
    const possible = cents.map((one) => formatCents(one)).join(" or ");
    return `${formatCents(amountCents)} can't go back to the card: what was charged at once goes back at once. What can is ${possible}.`;
  };
  return new RefundError("refund_not_possible", whyNot(), about);
}

/** The code is the one that callers know; the text says what they asked for. */
export const noSuchOrder = (): CheckoutError =>
  new CheckoutError("cart_not_found", { message: "There is no such order." });

/** What a failed call to the gift card service means for the shopper. Outcomes of a devalue are judged elsewhere. */
export function toCheckoutError(error: unknown): CheckoutError {
  if (error instanceof CheckoutError) return error;
  if (error instanceof RefusedError) {
    switch (error.code) {
      case "invalid_card":
      case "card_blocked":
      case "card_expired":
      case "card_no_balance":
      case "card_not_active":
        return new CheckoutError(error.code);
      case "card_locked":
      case "rate_limited":
        return new CheckoutError("too_many_attempts", { retryAfterSeconds: error.retryAfterSeconds });
      default:
        return new CheckoutError("service_unavailable");
    }
  }
  return new CheckoutError(error instanceof GiftcardError ? "service_unavailable" : "internal");
}
