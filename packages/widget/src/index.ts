export type {
  AppliedCard,
  CardBalance,
  CartSummary,
  LimitedBy,
  ShopErrorCode,
} from "@giftcard-pay/checkout/storefront";
export {
  type Action,
  type BeforeApplyDetail,
  type CardDetail,
  type ErrorDetail,
  GiftcardEvent,
  type GiftcardEventMap,
  type QuoteDetail,
  type ReadyDetail,
  type TotalDetail,
} from "./events.js";
export { GiftcardBalance } from "./giftcard-balance.js";
export { GiftcardPay } from "./giftcard-pay.js";
export { en } from "./messages/en.js";
export {
  type ErrorCode,
  loadMessages as loadLanguage,
  type MessageOverrides,
  type Messages,
} from "./messages/index.js";
export type { Transport } from "./shop-api.js";
