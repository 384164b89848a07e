/**
 * What a shop's server and `<giftcard-pay>` say to each other, the same in Medusa and in any other shop.
 * Types only, so that a page that imports them carries nothing.
 *
 * Below the endpoint (Medusa: `/store/giftcard-pay`) stand:
 *
 * | Call | Body | Answer |
 * |---|---|---|
 * | `GET carts/{cart}` | | {@link CartSummary} |
 * | `POST carts/{cart}/quote` | {@link CardEntry} | {@link Quote} |
 * | `POST carts/{cart}/cards` | {@link ApplyRequest} | {@link CartSummary} |
 * | `DELETE carts/{cart}/cards/{id}` | | {@link CartSummary} |
 * | `POST balance` | {@link CardEntry} | {@link CardBalance} |
 *
 * Every refusal is a {@link ShopError} with a fitting HTTP status; a 429 also carries `Retry-After`.
 * Amounts are whole cents. Nothing here deducts: a card is charged when the order is placed.
 */

/** Card number and PIN as the shopper typed them; strings, since a number would lose zeros. */
export interface CardEntry {
  cardNumber: string;
  pin: string;
}

/** Applies a quoted card; with card number and PIN, quotes and applies it in one call. */
export type ApplyRequest = { quoteId: string } | CardEntry;

/**
 * Why an order uses no more of a card: all that cards may pay of it is covered, the balance ends, or the limit per card is
 * reached.
 */
export type LimitedBy = "order" | "balance" | "limit";

/** What a card holds and what this order would use of it. Nothing has been taken. */
export interface Quote {
  /** Apply the card with this. It lives for some minutes. */
  quoteId: string;
  lastFour: string;
  balanceCents: number;
  /** What this order would use of the card. */
  usableCents: number;
  limitedBy: LimitedBy;
  /** What another card or payment method would have to pay. */
  remainderCents: number;
  /** yyyy-mm-dd, or empty where the service gives none. */
  expiryDate: string;
}

/** What a card holds, for a page that only tells it. */
export interface CardBalance {
  lastFour: string;
  balanceCents: number;
  /** yyyy-mm-dd, or empty where the service gives none. */
  expiryDate: string;
}

/** A card that the shopper has applied to the cart. */
export interface AppliedCard {
  id: string;
  lastFour: string;
  /** What this order uses of the card, after the latest change of the cart. */
  amountCents: number;
  /** The balance when the card was quoted. */
  balanceCents: number;
  limitedBy: LimitedBy;
  /**
   * `applied`: will be charged when the order is placed. `expired`: its card details are gone, it counts for
   * nothing, and the shopper enters it again. `settling`: an earlier try is being ended; its money comes back.
   */
  state: "applied" | "expired" | "settling";
}

/** The cart as the gift cards see it. */
export interface CartSummary {
  cartId: string;
  currency: "EUR";
  totalCents: number;
  /** The sum that the applied cards pay. */
  coveredCents: number;
  /** What another card or payment method has to pay. */
  remainderCents: number;
  /** What of the remainder no card may pay, such as gift cards in the cart; left out where that is nothing. */
  notByCardCents?: number;
  /** The most that one card pays of one order. */
  maxPerCardCents: number;
  /** How many cards one order takes. */
  maxCards: number;
  cards: AppliedCard[];
  environment: "live" | "sandbox";
}

/** Everything that a shop's gift card routes, and a completion with gift cards, can refuse with. */
export type ShopErrorCode =
  | "invalid_request"
  | "invalid_card"
  | "card_blocked"
  | "card_expired"
  | "card_no_balance"
  | "card_not_active"
  | "card_already_applied"
  | "too_many_cards"
  | "too_many_attempts"
  | "nothing_to_pay"
  | "giftcard_not_payable"
  | "quote_expired"
  | "applied_card_not_found"
  | "applied_card_expired"
  | "balance_changed"
  | "amount_changed"
  | "cart_not_found"
  | "cart_completed"
  | "currency_not_supported"
  | "giftcards_not_accepted"
  | "payment_in_progress"
  | "outcome_unknown"
  | "service_unavailable"
  | "internal";

/** A refusal. `message` is English, for developers; a page shows its own text for the code. */
export interface ShopError {
  code: ShopErrorCode;
  message: string;
  /** With `too_many_attempts`: seconds until a new try makes sense. */
  retryAfterSeconds?: number;
}
