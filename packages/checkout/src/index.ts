export { cents } from "@giftcard-pay/client";
export { type Checkout, createCheckout } from "./checkout.js";
export type { CheckoutOptions } from "./checkout-options.js";
export type { CartView } from "./engine/engine.js";
export { CheckoutError, type CheckoutErrorCode, RefundError, type RefundErrorCode } from "./engine/errors.js";
export type { RefundShares } from "./engine/refund-plan.js";
export { createHandler, type HandlerOptions } from "./http/handler.js";
export type { OrderPayment } from "./purchase/order-payment.js";
export type { Order } from "./purchase/paying/pay.js";
export type { Recovered, RecoverOptions } from "./purchase/recovery.js";
export type {
  OrderRefund,
  OrderRefundPlan,
  PaidBy,
  RefundedPayment,
  RefundRequest,
} from "./purchase/refunding/refunds.js";
export type { OrderLine } from "./store/order-line.js";
export { createPostgresStore } from "./store/postgres/store.js";
export type { RefundRule } from "./store/purchase-store.js";
