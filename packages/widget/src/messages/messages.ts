import type { ShopErrorCode } from "@giftcard-pay/checkout/storefront";

/**
 * What can go wrong: the shop's codes, and the widget's own: `offline` for an answer that never came, `unfinished`
 * for a form that was sent with a card in it that isn't applied.
 */
export type ErrorCode = ShopErrorCode | "offline" | "unfinished";

/**
 * Every text of the widget in one language. Words in braces are filled in: `{amount}`, `{last4}` and so on.
 * A code without a text doesn't compile.
 */
export interface Messages {
  /** Names the whole for a screen reader. */
  title: string;
  cardNumber: string;
  pin: string;
  showPin: string;
  cardNumberMissing: string;
  pinMissing: string;
  check: string;
  checking: string;
  cancel: string;
  /** `{last4}` */
  cardEnding: string;
  balance: string;
  usable: string;
  remainder: string;
  /** `{limit}`, `{kept}`; shown when the limit per card bites. */
  limit: string;
  /** Follows `limit` where another card fits. */
  limitAnother: string;
  nothingTaken: string;
  /** `{date}` */
  validUntil: string;
  /** `{amount}` */
  apply: string;
  applying: string;
  another: string;
  remove: string;
  /** `{last4}` */
  removeCard: string;
  expired: string;
  settling: string;
  covered: string;
  nothingLeft: string;
  /** `{count}` */
  maxCards: string;
  sandbox: string;
  retry: string;
  /** `{time}`, a rough duration such as "15 minutes" */
  wait: string;
  waitOver: string;
  /** Shown when an answer takes long. */
  slow: string;
  /** Shown when the page's form was sent while a call is under way. */
  sending: string;
  /** `{before}`, `{total}`: why figures changed by themselves. */
  changedOrder: string;
  /** `{last4}`: why figures changed by themselves. */
  changedBalance: string;
  /** `{last4}`, `{balance}` */
  announceBalance: string;
  /** `{usable}`, `{remainder}`; follows `announceBalance`. */
  announceQuote: string;
  /** `{amount}`, `{last4}`, `{remainder}` */
  announceApplied: string;
  /** `{last4}`, `{remainder}` */
  announceRemoved: string;
  /** `{covered}`, `{remainder}`; follows why they changed. */
  announceChanged: string;
  errors: Record<ErrorCode, string>;
}

/** Texts of a page's own: any of them, on top of the language that is built in. */
export type MessageOverrides = Partial<Omit<Messages, "errors">> & { errors?: Partial<Messages["errors"]> };
