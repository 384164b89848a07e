export { createEngine } from "./create-engine.js";
export type { CartView, Engine, EngineOptions, PaymentPlan, PlannedPart, RecoverOptions } from "./engine.js";
export { CheckoutError, toCheckoutError } from "./errors.js";
export {
  type Attempt,
  type AttemptState,
  type Journal,
  livingStates,
  type Tender,
  type TenderState,
} from "./journal.js";
export { createSealer, type Sealer, type SealingKey } from "./seal.js";
export { createSqlJournal, journalSchema, type RunSql } from "./sql-journal.js";
export type * from "./storefront.js";
