// What a shop uses.

export { type Checkout, createCheckout } from "./checkout.js";
export type { CheckoutOptions } from "./checkout-options.js";
export { CheckoutError, RefundError, type RefundErrorCode } from "./errors.js";
export type { ChargeView } from "./flow/charge-view.js";
export type { CartView, Evidence, TenderChange } from "./flow/engine.js";
export type { Guesser, GuessLimits } from "./flow/guess-limits.js";
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
export type * from "./http/storefront.js";
export type { ShopPayment } from "./operator/charge-groups.js";
export type { Difference, DifferenceKind } from "./operator/difference.js";
export type { Health } from "./operator/health.js";
export type { CheckoutHealth, Operator } from "./operator/operator.js";
export { type Days, DEFAULT_TIME_ZONE, dayOf, daysOfMonth } from "./operator/period.js";
export { type Reconciliation, reconciliationText } from "./operator/reconciliation.js";
export type { ReconcileOptions } from "./operator/reports.js";
export { ReportError } from "./operator/service-report.js";
export type { PaymentList, PaymentLister, PaymentQuery } from "./operator/shop-payments.js";
export {
  type Statement,
  type StatementLine,
  type StatementOptions,
  statementCsv,
  statementText,
} from "./operator/statement.js";
export { readSealingKeys, SealError, type SealingKey } from "./sealing/seal.js";
export type { CheckoutStore } from "./store/checkout-store.js";
export { StoreError } from "./store/migrations.js";
export type { PgPool } from "./store/postgres/migrate.js";
export { createPostgresStore } from "./store/postgres/store.js";

// What a store of one's own keeps; `@giftcard-pay/checkout/conformance` tries it.

export {
  chargedStates,
  chargeStates,
  chargingStates,
  heldStates,
  livingStates,
  openStates,
  orderedStates,
  recoverableStates,
  settledStates,
} from "./store/charge-states.js";
export type {
  Action,
  ActionRecord,
  Charge,
  ChargeFilter,
  ChargeListing,
  ChargeState,
  GuessLimit,
  Journal,
  Move,
  NewCharge,
  NewPayment,
  NewTender,
  SealedValue,
  Tender,
  TenderState,
} from "./store/journal.js";
export type {
  NewPurchase,
  NewRefund,
  Purchase,
  PurchaseChange,
  PurchaseLease,
  PurchaseListing,
  PurchaseState,
  PurchaseStore,
  Refund,
} from "./store/purchase-store.js";

// What a plugin is built on, for a shop system that has carts, orders and payments of its own, such as Medusa.

export { type LaidCharge, layCharges, type OrderLine, type Piece, unitsOf } from "./flow/charge-layout.js";
export { viewCharge } from "./flow/charge-view.js";
export { createEngine } from "./flow/create-engine.js";
export {
  type Engine,
  type EngineOptions,
  LEAVE,
  type PaymentPlan,
  type PlannedPart,
  type RecoverOptions,
} from "./flow/engine.js";
export type { OnFailure } from "./flow/observers.js";
export {
  type ChargePieces,
  type OpenCharge,
  planRefund,
  type RefundPlan,
  type RefundSplit,
  type RefundWish,
  returnedUnits,
  valueOfUnits,
} from "./flow/refund-plan.js";
export { toOpenCharge } from "./flow/refunds.js";
export type { ReportSource } from "./operator/charge-pages.js";
export { type HealthSource, readHealth } from "./operator/health.js";
export { readReconciliation, readStatement } from "./operator/reports.js";
export { createSealer, type Sealer } from "./sealing/seal.js";
export { readSeals, resealAll, type SealReport } from "./sealing/upkeep.js";
export { createSqlJournal } from "./store/postgres/journal.js";
export { type JournalMigration, journalMigrations } from "./store/postgres/journal-migrations.js";
export type { Sql } from "./store/postgres/sql.js";
export { sqlInterval } from "./store/postgres/sql-interval.js";
