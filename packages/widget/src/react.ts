"use client";

import { createComponent, type EventName } from "@lit/react";
import * as React from "react";
import { GiftcardBalance as Balance, GiftcardPay as Pay } from "./define.js";
import type { GiftcardEventMap } from "./events.js";

const eventName = <Type extends keyof GiftcardEventMap>(type: Type): EventName<GiftcardEventMap[Type]> =>
  type as unknown as EventName<GiftcardEventMap[Type]>;

const onError = eventName("giftcard-error");

const payEvents = {
  onReady: eventName("giftcard-ready"),
  onQuote: eventName("giftcard-quote"),
  onBeforeApply: eventName("giftcard-before-apply"),
  onApplied: eventName("giftcard-applied"),
  onRemoved: eventName("giftcard-removed"),
  onTotal: eventName("giftcard-total"),
  onError,
};
const balanceEvents = { onBalance: eventName("giftcard-balance"), onError };

/** The event props of `<giftcard-pay>` in React. */
export type GiftcardPayEvents = typeof payEvents;

/** The event props of `<giftcard-balance>` in React. */
export type GiftcardBalanceEvents = typeof balanceEvents;

/** `<giftcard-pay>` for React 18 and 19: properties as props, events as callbacks, and a ref to the element. */
export const GiftcardPay = createComponent({
  react: React,
  tagName: "giftcard-pay",
  elementClass: Pay,
  events: payEvents,
});

/** `<giftcard-balance>` for React. */
export const GiftcardBalance = createComponent({
  react: React,
  tagName: "giftcard-balance",
  elementClass: Balance,
  events: balanceEvents,
});
