// What a shop uses.

export type { AttemptView } from "./attempt-view.js";
export type { PaymentQuery, ReconcileOptions } from "./books.js";
export {
  type Checkout,
  type CheckoutOptions,
  type CommitResult,
  createCheckout,
  type Order,
  type RemainderAnswer,
  type RemainderMethod,
  type RemainderRequest,
} from "./checkout.js";
export type { CartView, Evidence, GuessLimits, TenderChange } from "./engine.js";
export { CheckoutError } from "./errors.js";
export { createHandler, type HandlerOptions } from "./handler.js";
export type { Health } from "./health.js";
export type { Operator } from "./operator.js";
export { type Days, DEFAULT_TIME_ZONE, dayOf, daysOfMonth } from "./period.js";
export { type CheckoutStore, createPostgresStore, type PgPool } from "./postgres-store.js";
export {
  type Difference,
  type DifferenceKind,
  type Reconciliation,
  reconciliationText,
  type ShopPayment,
} from "./reconcile.js";
export { readSealingKeys, SealError, type SealingKey } from "./seal.js";
export { ReportError } from "./service-report.js";
export {
  type Statement,
  type StatementLine,
  type StatementOptions,
  statementCsv,
  statementText,
} from "./statement.js";
export type * from "./storefront.js";

// What a store of one's own keeps; `@giftcard-pay/checkout/conformance` tries it.

export {
  type Action,
  type ActionRecord,
  type Attempt,
  type AttemptFilter,
  type AttemptListing,
  type AttemptState,
  attemptStates,
  type GuessLimit,
  type Journal,
  livingStates,
  type Move,
  type NewAttempt,
  type NewTender,
  type SealedValue,
  type Tender,
  type TenderState,
} from "./journal.js";
export type { Purchase, PurchaseBook, PurchaseChange, PurchaseState } from "./purchase-book.js";

// What a plugin is built on, for a shop system that has carts, orders and payments of its own, such as Medusa.

export { viewAttempt } from "./attempt-view.js";
export { type Books, readReconciliation, readStatement } from "./books.js";
export { createEngine } from "./create-engine.js";
export type { Engine, EngineOptions, PaymentPlan, PlannedPart, RecoverOptions } from "./engine.js";
export { type HealthDesk, readHealth } from "./health.js";
export { createSealer, type Sealer } from "./seal.js";
export { readSeals, resealAll, type SealReport } from "./sealing-upkeep.js";
export { createSqlJournal, type RunSql } from "./sql-journal.js";
export { journalSchema } from "./sql-journal-schema.js";
