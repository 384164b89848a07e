import { createComponent, type EventName, type ReactWebComponent } from "@lit/react";
import * as React from "react";
import { GiftcardBalance as Balance, GiftcardPay as Pay } from "./define.js";
import type { GiftcardEventMap } from "./events.js";

const named = <Type extends keyof GiftcardEventMap>(type: Type): EventName<GiftcardEventMap[Type]> =>
  type as unknown as EventName<GiftcardEventMap[Type]>;

/** The events of `<giftcard-pay>` as React spells them. */
export type GiftcardPayEvents = {
  onBeforeApply: EventName<GiftcardEventMap["giftcard-pay:before-apply"]>;
  onApplied: EventName<GiftcardEventMap["giftcard-pay:applied"]>;
  onRemoved: EventName<GiftcardEventMap["giftcard-pay:removed"]>;
  onTotal: EventName<GiftcardEventMap["giftcard-pay:total"]>;
  onError: EventName<GiftcardEventMap["giftcard-pay:error"]>;
};

/** The events of `<giftcard-balance>` as React spells them. */
export type GiftcardBalanceEvents = {
  onBalance: EventName<GiftcardEventMap["giftcard-pay:balance"]>;
  onError: EventName<GiftcardEventMap["giftcard-pay:error"]>;
};

/** `<giftcard-pay>` for React 18 and 19: properties as props, events as callbacks, and a ref to the element. */
export const GiftcardPay: ReactWebComponent<Pay, GiftcardPayEvents> = createComponent<Pay, GiftcardPayEvents>(
  {
    react: React,
    tagName: "giftcard-pay",
    elementClass: Pay,
    events: {
      onBeforeApply: named("giftcard-pay:before-apply"),
      onApplied: named("giftcard-pay:applied"),
      onRemoved: named("giftcard-pay:removed"),
      onTotal: named("giftcard-pay:total"),
      onError: named("giftcard-pay:error"),
    },
  },
);

/** `<giftcard-balance>` for React. */
export const GiftcardBalance: ReactWebComponent<Balance, GiftcardBalanceEvents> = createComponent<
  Balance,
  GiftcardBalanceEvents
>({
  react: React,
  tagName: "giftcard-balance",
  elementClass: Balance,
  events: { onBalance: named("giftcard-pay:balance"), onError: named("giftcard-pay:error") },
});
