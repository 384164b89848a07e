export { type Checkout, createCheckout } from "./checkout.js";
export type { CheckoutOptions } from "./checkout-options.js";
export { CheckoutError, RefundError, type RefundErrorCode } from "./errors.js";
export type { OrderLine } from "./flow/charge-layout.js";
export type { ChargeView } from "./flow/charge-view.js";
export type { CartView, Evidence, TenderChange } from "./flow/engine.js";
export type { Guesser, GuessLimits } from "./flow/guess-limits.js";
export type { OnFailure } from "./flow/observers.js";
export type { Order, PayResult } from "./flow/purchase-flow.js";
export type { OrderRefund, PaidBy } from "./flow/purchase-refunds.js";
export type { RefundRule, RefundShares } from "./flow/refund-plan.js";
export type { OrderRefundPlan, RefundRequest } from "./flow/refund-request.js";
export {
  type AuthorizeRemainder,
  type RemainderAnswer,
  RemainderFault,
  type RemainderMethod,
  type RemainderPart,
  type RemainderRequest,
} from "./flow/remainder.js";
export { createHandler, type HandlerOptions } from "./http/handler.js";
export type { ShopPayment } from "./operator/charge-groups.js";
export type { Difference, DifferenceKind } from "./operator/difference.js";
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
export { readSealingKeys, type SealingKey } from "./sealing/seal.js";
export type { CheckoutStore } from "./store/checkout-store.js";
export type { PgPool } from "./store/postgres/migrate.js";
export { createPostgresStore } from "./store/postgres/store.js";
export type { Purchase, PurchaseState } from "./store/purchase-store.js";
