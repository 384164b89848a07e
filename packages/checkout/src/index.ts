export { type Checkout, createCheckout } from "./checkout.js";
export type { CheckoutOptions } from "./checkout-options.js";
export type { ChargeView } from "./engine/charge-view.js";
export type { CartView, Evidence, TenderChange } from "./engine/engine.js";
export { CheckoutError, RefundError, type RefundErrorCode } from "./engine/errors.js";
export type { Guesser, GuessLimits } from "./engine/guess-limits.js";
export type { OnFailure } from "./engine/observers.js";
export type { RefundShares } from "./engine/refund-plan.js";
export { createHandler, type HandlerOptions } from "./http/handler.js";
export type { ExportOptions } from "./operator/charge-export.js";
export type { ShopPayment } from "./operator/charge-groups.js";
export type { CardSums, Difference, DifferenceKind, PaymentState } from "./operator/difference.js";
export type { Health } from "./operator/health.js";
export type { CheckoutHealth, Operator } from "./operator/operator.js";
export { type Days, dayOf, daysOfMonth } from "./operator/period.js";
export { type Reconciliation, reconciliationText } from "./operator/reconciliation.js";
export type { ReconcileOptions } from "./operator/reports.js";
export type { PaymentList, PaymentLister, PaymentQuery } from "./operator/shop-payments.js";
export {
  type Statement,
  type StatementLine,
  type StatementOptions,
  statementCsv,
  statementText,
} from "./operator/statement.js";
export type { Order } from "./purchase/order.js";
export type { PayResult } from "./purchase/pay.js";
export type { Recovered, RecoverOptions } from "./purchase/recovery.js";
export type { OrderRefundPlan, RefundRequest } from "./purchase/refund-request.js";
export type { OrderRefund, PaidBy } from "./purchase/refunds.js";
export {
  type Authorizing,
  type RemainderAnswer,
  type RemainderData,
  RemainderFault,
  type RemainderMethod,
  type RemainderNotice,
  type RemainderPart,
  type RemainderRequest,
} from "./purchase/remainder.js";
export { ForeignWebhook } from "./purchase/webhook.js";
export { readSealingKeys, type SealingKey } from "./sealing/seal.js";
export type { CheckoutStore } from "./store/checkout-store.js";
export type { OrderLine } from "./store/order-line.js";
export type { PgPool } from "./store/postgres/migrate.js";
export { createPostgresStore } from "./store/postgres/store.js";
export type { Purchase, PurchaseState, RefundRule } from "./store/purchase-store.js";
