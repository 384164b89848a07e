import type { AppliedCard, CardBalance, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ErrorCode } from "./messages/index.js";

/** What the shopper was doing with a card. */
export type CardAction = "quote" | "apply" | "remove" | "balance";

/** What was being done: a step with a card, reading the cart, or placing the order, which only the page knows of. */
export type Action = CardAction | "load" | "order";

/** Detail of `giftcard-pay:before-apply`. */
export interface BeforeApplyDetail {
  /** What the card holds, and what this order would use of it. Amounts in cents. */
  quote: Omit<Quote, "quoteId">;
  summary: CartSummary | undefined;
}

/** Detail of `giftcard-pay:applied` and `giftcard-pay:removed`. */
export interface CardDetail {
  card: AppliedCard;
  summary: CartSummary;
}

/** Detail of `giftcard-pay:total`. Amounts in cents. */
export interface TotalDetail {
  totalCents: number;
  coveredCents: number;
  remainderCents: number;
  /** The cards pay all of it: the page's other payment methods can be put away. */
  covered: boolean;
  summary: CartSummary;
}

/** Detail of `giftcard-pay:error`. It never holds what the shopper typed. */
export interface ErrorDetail {
  code: ErrorCode;
  action: Action;
  retryAfterSeconds?: number;
}

/** The events of both elements, by type. None carries a card number or a PIN. All bubble, also out of shadow roots. */
export interface GiftcardEventMap {
  "giftcard-pay:before-apply": GiftcardEvent<BeforeApplyDetail>;
  "giftcard-pay:applied": GiftcardEvent<CardDetail>;
  "giftcard-pay:removed": GiftcardEvent<CardDetail>;
  "giftcard-pay:total": GiftcardEvent<TotalDetail>;
  "giftcard-pay:balance": GiftcardEvent<CardBalance>;
  "giftcard-pay:error": GiftcardEvent<ErrorDetail>;
}

/** An event of the widget; what it tells stands in `detail`. */
export class GiftcardEvent<Detail> extends CustomEvent<Detail> {
  constructor(type: keyof GiftcardEventMap, detail: Detail) {
    super(type, { detail, bubbles: true, composed: true, cancelable: type === "giftcard-pay:before-apply" });
  }
}

/** Dispatches an event. Returns false if the page cancelled it. */
export function dispatch<Type extends keyof GiftcardEventMap>(
  from: EventTarget,
  type: Type,
  detail: GiftcardEventMap[Type]["detail"],
): boolean {
  return from.dispatchEvent(new GiftcardEvent(type, detail));
}

declare global {
  interface GlobalEventHandlersEventMap extends GiftcardEventMap {}
}
