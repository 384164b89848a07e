import type { Journal } from "./journal.js";
import type { PurchaseStore } from "./purchase-store.js";

/** The storage of a checkout: the journal of charges, and the purchases that they belong to. */
export interface CheckoutStore {
  readonly journal: Journal;
  readonly purchases: PurchaseStore;
}
