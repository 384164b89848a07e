export { type AttemptView, viewAttempt } from "./attempt-view.js";
export {
  type Books,
  type PaymentQuery,
  type ReconcileOptions,
  readReconciliation,
  readStatement,
} from "./books.js";
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
export { createEngine } from "./create-engine.js";
export type {
  CartView,
  Engine,
  EngineOptions,
  Evidence,
  GuessLimits,
  PaymentPlan,
  PlannedPart,
  RecoverOptions,
  TenderChange,
} from "./engine.js";
export { CheckoutError, toCheckoutError } from "./errors.js";
export { createHandler, type HandlerOptions } from "./handler.js";
export { type Health, type HealthDesk, readHealth } from "./health.js";
export {
  type Action,
  type ActionRecord,
  type Attempt,
  type AttemptFilter,
  type AttemptListing,
  type AttemptState,
  attemptStates,
  type Journal,
  livingStates,
  type Tender,
  type TenderState,
} from "./journal.js";
export { type BookedAttempt, heldCents } from "./movements.js";
export type { Operator } from "./operator.js";
export { type Days, DEFAULT_TIME_ZONE, dayOf, daysOfMonth, isDay, momentsOf } from "./period.js";
export { type CheckoutStore, createPostgresStore, type PgPool } from "./postgres-store.js";
export type { Purchase, PurchaseBook, PurchaseState } from "./purchase-book.js";
export {
  type Difference,
  type DifferenceKind,
  type ReconcileInput,
  type Reconciliation,
  reconcile,
  reconciliationText,
  type ShopPayment,
} from "./reconcile.js";
export { createSealer, readSealingKeys, SealError, type Sealer, type SealingKey } from "./seal.js";
export { readSeals, resealAll, type SealReport } from "./sealing-upkeep.js";
export { ReportError, type ReportedCard, readServiceReport } from "./service-report.js";
export { createSqlJournal, type RunSql } from "./sql-journal.js";
export { journalSchema } from "./sql-journal-schema.js";
export {
  makeStatement,
  type Statement,
  type StatementLine,
  type StatementOptions,
  statementCsv,
  statementText,
} from "./statement.js";
export type * from "./storefront.js";
