/** The exports for authors of a store. `@giftcard-pay/checkout/conformance` has its tests. */

export type {
  Action,
  ActionRecord,
  Charge,
  ChargeFilter,
  ChargeListing,
  ChargeMatch,
  ChargeState,
  Move,
  NewCharge,
  NewPayment,
} from "./charge.js";
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
} from "./charge-states.js";
export type { CheckoutStore } from "./checkout-store.js";
export type { GuessLimit, Journal, SealedValue } from "./journal.js";
export { StoreError } from "./migrations.js";
export type { PgPool } from "./postgres/migrate.js";
export {
  type NewPurchase,
  type NewRefund,
  type Purchase,
  type PurchaseChange,
  type PurchaseLease,
  type PurchaseListing,
  type PurchaseState,
  type PurchaseStore,
  purchaseStates,
  type Refund,
} from "./purchase-store.js";
export type { NewTender, Tender, TenderState } from "./tender.js";
