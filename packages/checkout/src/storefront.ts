/**
 * The requests and responses between a shop's server and `<giftcard-pay>`, the same in Medusa and in any other shop.
 * Types only, so that they add nothing to a page.
 *
 * The calls, below the endpoint (Medusa: `/store/giftcard-pay`):
 *
 * | Call | Body | Response |
 * |---|---|---|
 * | `GET carts/{cart}` | | {@link CartSummary} |
 * | `POST carts/{cart}/quote` | {@link CardEntry} | {@link Quote} |
 * | `POST carts/{cart}/cards` | {@link ApplyRequest} | {@link CartSummary} |
 * | `DELETE carts/{cart}/cards/{id}` | | {@link CartSummary} |
 * | `POST balance` | {@link CardEntry} | {@link CardBalance} |
 *
 * Every refusal is a {@link ShopError} with a matching HTTP status; a 429 also has `Retry-After`.
 * Amounts are whole cents. None of the calls takes money: a card is charged when the order is placed.
 */

/** Card number and PIN as the shopper typed them. Strings, because numbers would lose leading zeros. */
export interface CardEntry {
  cardNumber: string;
  pin: string;
}

/** The card to apply: a quote, or number and PIN to quote and apply a card in one call. */
export type ApplyRequest = { quoteId: string } | CardEntry;

/**
 * The reason why an order uses no more of a card. `order`: everything that cards may pay is covered. `balance`: the balance is
 * used up. `limit`: the maximum per card is reached.
 */
export type LimitedBy = "order" | "balance" | "limit";

/** A card's balance, and how much of it this order would use. No money has been taken. */
export interface Quote {
  /** The id to apply the card with. It expires after some minutes. */
  quoteId: string;
  lastFour: string;
  balanceCents: number;
  /** The amount that this order would use of the card. */
  usableCents: number;
  limitedBy: LimitedBy;
  /** The amount that another card or payment method would have to pay. */
  remainderCents: number;
  /** yyyy-mm-dd, or empty if the service gives none. */
  expiryDate: string;
}

/** A card's balance, for a page that only shows it. */
export interface CardBalance {
  lastFour: string;
  balanceCents: number;
  /** ISO 4217. */
  currency: string;
  /** yyyy-mm-dd, or empty if the service gives none. */
  expiryDate: string;
}

/** A card that the shopper has applied to the cart. */
export interface AppliedCard {
  id: string;
  lastFour: string;
  /** The amount that this order uses of the card, after the latest change of the cart. */
  amountCents: number;
  /** The balance when the card was quoted. */
  balanceCents: number;
  /** yyyy-mm-dd, or empty if the service gives none. */
  expiryDate: string;
  limitedBy: LimitedBy;
  /**
   * `applied`: the card will be charged when the order is placed. `expired`: its details are deleted, it pays nothing, and
   * the shopper has to enter it again. `settling`: a payment with it waits for its remainder, or is being reversed.
   */
  state: "applied" | "expired" | "settling";
  /** Why the last attempt to place the order could not charge this card; missing if it could, or if there was none. */
  refusal?: ShopErrorCode;
}

/** A cart with its gift cards. */
export interface CartSummary {
  cartId: string;
  /**
   * The total, the part of each card and the remainder, as a short text. The shop sends it when the order is paid: if the
   * amounts are no longer those that the page has shown, nothing is charged.
   */
  plan: string;
  /** Of all amounts; ISO 4217. */
  currency: string;
  totalCents: number;
  /** The sum that the applied cards pay. */
  coveredCents: number;
  /** The amount that another card or payment method has to pay. */
  remainderCents: number;
  /** The part of the remainder that no card may pay, such as gift cards in the cart; missing if that is 0. */
  notByCardCents?: number;
  /** The maximum that a card pays per order. */
  maxPerCardCents: number;
  /** The maximum number of cards per order. */
  maxCards: number;
  cards: AppliedCard[];
  environment: "live" | "sandbox";
}

/** The codes of refusals of a shop's gift card routes, and of a completion with gift cards. */
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

/** A refusal. `message` is in English, for developers; pages show their own text for the code. */
export interface ShopError {
  code: ShopErrorCode;
  message: string;
  /** With `too_many_attempts`: the seconds to wait. */
  retryAfterSeconds?: number;
}
