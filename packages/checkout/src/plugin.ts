/** The exports for plugins of shop systems with their own carts, orders and payments, such as Medusa. */

export type { CardIssuer } from "./engine/card-issuer.js";
export { type LaidCharge, layCharges } from "./engine/charge-layout.js";
export { viewCharge } from "./engine/charge-view.js";
export { tenderAudience } from "./engine/context.js";
export { createEngine } from "./engine/create-engine.js";
export {
  type Engine,
  type EngineOptions,
  LEAVE,
  type PaymentPlan,
  type PlannedPart,
  type RecoverOptions,
  type TenderChange,
} from "./engine/engine.js";
export { shopErrorCodes } from "./engine/errors.js";
export type { Guesser, GuessLimits } from "./engine/guess-limits.js";
export type { OnFailure } from "./engine/observers.js";
export {
  type ChargePieces,
  type OpenCharge,
  planRefund,
  type RefundPlan,
  type RefundSplit,
  type RefundWish,
  returnedUnits,
} from "./engine/refund-plan.js";
export { toOpenCharge } from "./engine/refunds.js";
export type { ReportSource } from "./operator/charge-pages.js";
export { type HealthSource, readHealth } from "./operator/health.js";
export { readReconciliation, readStatement } from "./operator/reports.js";
export { ReportError, type ReportFault } from "./operator/service-report.js";
export {
  createSealer,
  readSealingKeys,
  SealError,
  type Sealer,
  type SealFault,
  type SealingKey,
} from "./sealing/seal.js";
export { readSeals, resealAll, type SealReport } from "./sealing/upkeep.js";
export type { TableMigration } from "./store/migrations.js";
export type { Piece } from "./store/order-line.js";
export { sqlInterval } from "./store/postgres/database.js";
export { postgresMigrations } from "./store/postgres/migrate.js";
export { createSqlJournal } from "./store/postgres/store.js";
export { isUniqueViolation, type Sql } from "./store/sql/database.js";
export { sqlList } from "./store/sql/rows.js";
