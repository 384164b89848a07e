"use client";

import { createComponent, type EventName, type ReactWebComponent } from "@lit/react";
import * as React from "react";
import { GiftcardBalance as Balance, GiftcardPay as Pay } from "./define.js";
import type { GiftcardEventMap } from "./events.js";

const eventName = <Type extends keyof GiftcardEventMap>(type: Type): EventName<GiftcardEventMap[Type]> =>
  type as unknown as EventName<GiftcardEventMap[Type]>;

/** The event props of `<giftcard-pay>` in React. */
export type GiftcardPayEvents = {
  onReady: EventName<GiftcardEventMap["giftcard-ready"]>;
  onQuote: EventName<GiftcardEventMap["giftcard-quote"]>;
  onBeforeApply: EventName<GiftcardEventMap["giftcard-before-apply"]>;
  onApplied: EventName<GiftcardEventMap["giftcard-applied"]>;
  onRemoved: EventName<GiftcardEventMap["giftcard-removed"]>;
  onTotal: EventName<GiftcardEventMap["giftcard-total"]>;
  onError: EventName<GiftcardEventMap["giftcard-error"]>;
};

/** The event props of `<giftcard-balance>` in React. */
export type GiftcardBalanceEvents = {
  onBalance: EventName<GiftcardEventMap["giftcard-balance"]>;
  onError: EventName<GiftcardEventMap["giftcard-error"]>;
};

/** `<giftcard-pay>` for React 18 and 19: properties as props, events as callbacks, and a ref to the element. */
export const GiftcardPay: ReactWebComponent<Pay, GiftcardPayEvents> = createComponent<Pay, GiftcardPayEvents>({
  react: React,
  tagName: "giftcard-pay",
  elementClass: Pay,
  events: {
    onReady: eventName("giftcard-ready"),
    onQuote: eventName("giftcard-quote"),
    onBeforeApply: eventName("giftcard-before-apply"),
    onApplied: eventName("giftcard-applied"),
    onRemoved: eventName("giftcard-removed"),
    onTotal: eventName("giftcard-total"),
    onError: eventName("giftcard-error"),
  },
});

/** `<giftcard-balance>` for React. */
export const GiftcardBalance: ReactWebComponent<Balance, GiftcardBalanceEvents> = createComponent<
  Balance,
  GiftcardBalanceEvents
>({
  react: React,
  tagName: "giftcard-balance",
  elementClass: Balance,
  events: { onBalance: eventName("giftcard-balance"), onError: eventName("giftcard-error") },
});
