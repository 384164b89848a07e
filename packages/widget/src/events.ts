import type { AppliedCard, CardBalance, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ErrorCode } from "./messages/index.js";

/** What the shopper was doing with a card. */
export type CardAction = "quote" | "apply" | "remove" | "balance";

/** What was being done: a step with a card, reading the cart, or placing the order, which only the page knows of. */
export type Action = CardAction | "load" | "order";

/** Detail of `giftcard-before-apply`. */
export interface BeforeApplyDetail {
  /** What the card holds, and what this order would use of it. Amounts in cents. */
  quote: Omit<Quote, "quoteId">;
  summary: CartSummary | undefined;
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
  /** The cards pay all of it: the page's other payment methods can be put away. */
  covered: boolean;
  summary: CartSummary;
}

/** Detail of `giftcard-error`. It never holds what the shopper typed. */
export interface ErrorDetail {
  code: ErrorCode;
  action: Action;
  retryAfterSeconds?: number;
  /** The HTTP status, where the shop refused. */
  status?: number;
}

/** The events of both elements, by type. None carries a card number or a PIN. All bubble, also out of shadow roots. */
export interface GiftcardEventMap {
  "giftcard-before-apply": GiftcardEvent<BeforeApplyDetail>;
  "giftcard-applied": GiftcardEvent<CardDetail>;
  "giftcard-removed": GiftcardEvent<CardDetail>;
  "giftcard-total": GiftcardEvent<TotalDetail>;
  "giftcard-balance": GiftcardEvent<CardBalance>;
  "giftcard-error": GiftcardEvent<ErrorDetail>;
}

/** The same events by the names with a colon that they had first; these go with 1.0. */
export type FormerEventMap = {
  [Type in keyof GiftcardEventMap as FormerName<Type>]: GiftcardEventMap[Type];
};

type FormerName<Type> = Type extends `giftcard-${infer Name}` ? `giftcard-pay:${Name}` : never;

/** An event of the widget; what it tells stands in `detail`. */
export class GiftcardEvent<Detail> extends CustomEvent<Detail> {
  constructor(type: keyof GiftcardEventMap | keyof FormerEventMap, detail: Detail) {
    super(type, { detail, bubbles: true, composed: true, cancelable: type.endsWith("before-apply") });
  }
}

/** Dispatches an event by both of its names. Returns false if the page canceled it by either. */
export function dispatch<Type extends keyof GiftcardEventMap>(
  from: EventTarget,
  type: Type,
  detail: GiftcardEventMap[Type]["detail"],
): boolean {
  const former = type.replace("-", "-pay:") as keyof FormerEventMap;
  const [goesOn, formerGoesOn] = [type, former].map((name) =>
    from.dispatchEvent(new GiftcardEvent(name, detail)),
  );
  return !!goesOn && !!formerGoesOn;
}

declare global {
  interface GlobalEventHandlersEventMap extends GiftcardEventMap, FormerEventMap {}
}
