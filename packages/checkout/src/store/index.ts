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
  bookedStates,
  chargedStates,
  chargeStates,
  chargingStates,
  heldStates,
  livingStates,
  openStates,
  orderedStates,
  recoverableStates,
  settledStates,
  uncapturedStates,
} from "./charge-states.js";
export type { GuessLimit, Journal, SealedValue } from "./journal.js";
export { StoreError } from "./migrations.js";
export type { PgPool } from "./postgres/migrate.js";
export {
  cartStates,
  type PurchaseState,
  purchaseStates,
  reversedStates,
  reversingStates,
  soldStates,
  unsettledStates,
} from "./purchase-states.js";
export type {
  CheckoutStore,
  NewPurchase,
  NewRefund,
  Purchase,
  PurchaseChange,
  PurchaseLease,
  PurchaseListing,
  PurchaseStore,
  Refund,
} from "./purchase-store.js";
export { type NewTender, onCartStates, type Tender, type TenderState } from "./tender.js";
