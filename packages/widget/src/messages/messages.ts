import type { ShopErrorCode } from "@giftcard-pay/checkout/storefront";

/**
 * An error's code: one of the shop's, or one of the widget's own. `offline`: the shop did not respond. `unfinished`: the
 * form was submitted while an entered card was not applied. `unsettled`: the form was submitted while a payment with a card was
 * not finished. `insufficient_inventory` and `payment_authorization_error` are
 * Medusa's: the order is sold out, or the remainder was declined.
 */
export type ErrorCode =
  | ShopErrorCode
  | "offline"
  | "unfinished"
  | "unsettled"
  | "insufficient_inventory"
  | "payment_authorization_error";

/**
 * All texts of the widget in one language. Words in braces are placeholders: `{amount}`, `{last4}` and so on. A language
 * that misses a text does not compile.
 */
export interface Messages {
  /** The name of the whole element for a screen reader. */
  title: string;
  cardNumber: string;
  pin: string;
  showPin: string;
  cardNumberMissing: string;
  pinMissing: string;
  /** The button of `<giftcard-balance>`. */
  check: string;
  /** The button of `<giftcard-pay>` that checks the card. */
  use: string;
  cancel: string;
  /** `{last4}` */
  cardEnding: string;
  balance: string;
  remainder: string;
  /** `{limit}`; shown if the limit per card keeps the order from using more of it. */
  limit: string;
  /** `{kept}`, without a full stop: the part of the balance that this order does not use. */
  kept: string;
  nothingTaken: string;
  /** `{date}` */
  validUntil: string;
  /** `{amount}` */
  apply: string;
  another: string;
  remove: string;
  /** `{last4}` */
  removeCard: string;
  expired: string;
  settling: string;
  /** Shown on a card that could not be charged; followed by the reason, one of `errors`. */
  notPlaced: string;
  /** The sum that all cards pay; also names their list for a screen reader. */
  covered: string;
  nothingLeft: string;
  /** `{count}` */
  maxCards: string;
  sandbox: string;
  retry: string;
  /** `{amount}`; the button that does without a card whose payment is not finished. */
  without: string;
  /** `{time}`, a rounded time such as "in 15 minutes" */
  wait: string;
  waitOver: string;
  /** Shown if a response is slow. */
  slow: string;
  /** `{before}`, `{total}`: why figures changed without the shopper doing anything. */
  changedOrder: string;
  /** `{last4}`: why figures changed without the shopper doing anything. */
  changedBalance: string;
  /** `{last4}`, `{balance}` */
  announceBalance: string;
  /** `{usable}`, `{remainder}`; follows `announceBalance`. */
  announceQuote: string;
  /** `{amount}`, `{last4}`, `{remainder}` */
  announceApplied: string;
  /** `{last4}`, `{remainder}` */
  announceRemoved: string;
  /** `{covered}`, `{remainder}`; follows the reason why they changed. */
  announceChanged: string;
  errors: Record<ErrorCode, string>;
}

/** A page's own texts, which override some or all of the built-in ones. */
export type MessageOverrides = Partial<Omit<Messages, "errors">> & { errors?: Partial<Messages["errors"]> };
