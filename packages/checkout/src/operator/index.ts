/** The exports for a shop's operator: decisions, reconciliation, statements and health. */
export type { ChargeView } from "../engine/charge-view.js";
export type { Evidence } from "../engine/engine.js";
export type { ShopPayment } from "./charge-groups.js";
export type { CardSums, Difference, DifferenceKind, PaymentState } from "./difference.js";
export type { Health } from "./health.js";
export type { CheckoutHealth, Operator } from "./operator.js";
export { type Days, dayOf, daysOfMonth } from "./period.js";
export { type Reconciliation, reconciliationText } from "./reconciliation.js";
export type { ReconcileOptions } from "./reports.js";
export type { PaymentList, PaymentLister, PaymentQuery } from "./shop-payments.js";
export {
  type Statement,
  type StatementLine,
  type StatementOptions,
  statementCsv,
  statementText,
} from "./statement.js";
