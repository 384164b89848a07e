import { createComponent, type EventName, type ReactWebComponent } from "@lit/react";
import * as React from "react";
import { GiftcardBalance as Balance, GiftcardPay as Pay } from "./define.js";
import type { GiftcardEventMap } from "./events.js";

const named = <Type extends keyof GiftcardEventMap>(type: Type): EventName<GiftcardEventMap[Type]> =>
  type as unknown as EventName<GiftcardEventMap[Type]>;

/** The events of `<giftcard-pay>` as React spells them. */
export type GiftcardPayEvents = {
  onBeforeApply: EventName<GiftcardEventMap["giftcard-before-apply"]>;
  onApplied: EventName<GiftcardEventMap["giftcard-applied"]>;
  onRemoved: EventName<GiftcardEventMap["giftcard-removed"]>;
  onTotal: EventName<GiftcardEventMap["giftcard-total"]>;
  onError: EventName<GiftcardEventMap["giftcard-error"]>;
};

/** The events of `<giftcard-balance>` as React spells them. */
export type GiftcardBalanceEvents = {
  onBalance: EventName<GiftcardEventMap["giftcard-balance"]>;
  onError: EventName<GiftcardEventMap["giftcard-error"]>;
};

/** `<giftcard-pay>` for React 18 and 19: properties as props, events as callbacks, and a ref to the element. */
export const GiftcardPay: ReactWebComponent<Pay, GiftcardPayEvents> = createComponent<Pay, GiftcardPayEvents>(
  {
    react: React,
    tagName: "giftcard-pay",
    elementClass: Pay,
    events: {
      onBeforeApply: named("giftcard-before-apply"),
      onApplied: named("giftcard-applied"),
      onRemoved: named("giftcard-removed"),
      onTotal: named("giftcard-total"),
      onError: named("giftcard-error"),
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
  events: { onBalance: named("giftcard-balance"), onError: named("giftcard-error") },
});
