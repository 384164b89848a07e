export type {
  AppliedCard,
  CartSummary,
  LimitedBy,
  ShopErrorCode,
} from "@giftcard-pay/checkout/storefront";
export {
  type Action,
  type CardDetail,
  type ErrorDetail,
  GiftcardEvent,
  type GiftcardEventMap,
  type TotalDetail,
} from "./events.js";
export { GiftcardPay } from "./giftcard-pay.js";
export { en } from "./messages/en.js";
export type { FaultCode, MessageOverrides, Messages } from "./messages/index.js";
export type { Transport } from "./shop-api.js";
