import type { Journal } from "./journal.js";
import type { PurchaseStore } from "./purchase-store.js";

/** Where the money flow is written down: the journal of charges, and the purchases that they belong to. */
export interface CheckoutStore {
  readonly journal: Journal;
  readonly purchases: PurchaseStore;
}
