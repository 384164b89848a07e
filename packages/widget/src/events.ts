import type { AppliedCard, CardBalance, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ErrorCode } from "./messages/index.js";

/** A shopper's step with a card. */
export type CardAction = "quote" | "apply" | "remove" | "balance";

/** The step that failed: a step with a card, loading the cart, or placing the order (which the page reports). */
export type Action = CardAction | "load" | "order";

/** Detail of `giftcard-ready`. */
export interface ReadyDetail {
  /** The cart; undefined if it could not be loaded. */
  summary: CartSummary | undefined;
}

/** Detail of `giftcard-quote`. */
export interface QuoteDetail extends ReadyDetail {
  /** The card's balance, and how much of it this order would use. Amounts in cents. */
  quote: Omit<Quote, "quoteId">;
}

/** Detail of `giftcard-before-apply`. */
export interface BeforeApplyDetail extends QuoteDetail {
  /**
   * Delays applying the card until a promise is fulfilled. With a text, the card is not applied and the shopper sees the
   * text; with `false` too, and the shopper sees that the card is not applied. If the promise rejects, the shopper can
   * try again.
   */
  waitUntil(promise: Promise<unknown>): void;
}

/** Detail of `giftcard-applied` and `giftcard-removed`. */
export interface CardDetail {
  card: AppliedCard;
  summary: CartSummary;
}

/** Detail of `giftcard-total`. Amounts in cents. */
export interface TotalDetail {
  totalCents: number;
  coveredCents: number;
  remainderCents: number;
  /** The cards pay the whole order, so the page can hide its other payment methods. */
  covered: boolean;
  /**
   * A payment with one of the cards is not finished, so the order must wait. The tag asks the shop again by itself. False if
   * the shopper has agreed to pay this remainder, without the card.
   */
  settling: boolean;
  summary: CartSummary;
}

/** Detail of `giftcard-error`. It never holds what the shopper typed. */
export interface ErrorDetail {
  code: ErrorCode;
  action: Action;
  retryAfterSeconds?: number;
  /** The HTTP status, if there was a response. */
  status?: number;
}

/** The events of both elements, by type. None carries a card number or a PIN. All bubble, even out of shadow roots. */
export interface GiftcardEventMap {
  "giftcard-ready": GiftcardEvent<ReadyDetail>;
  "giftcard-quote": GiftcardEvent<QuoteDetail>;
  "giftcard-before-apply": GiftcardEvent<BeforeApplyDetail>;
  "giftcard-applied": GiftcardEvent<CardDetail>;
  "giftcard-removed": GiftcardEvent<CardDetail>;
  "giftcard-total": GiftcardEvent<TotalDetail>;
  "giftcard-balance": GiftcardEvent<CardBalance>;
  "giftcard-error": GiftcardEvent<ErrorDetail>;
}

/** An event of the widget, with its data in `detail`. */
export class GiftcardEvent<Detail> extends CustomEvent<Detail> {
  constructor(type: keyof GiftcardEventMap, detail: Detail) {
    super(type, { detail, bubbles: true, composed: true, cancelable: type === "giftcard-before-apply" });
  }
}

/** Dispatches an event. Returns false if the page canceled it. */
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
