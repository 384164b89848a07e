import type { Engine } from "../engine/engine.js";
import type { CheckoutStore, Purchase } from "../store/purchase-store.js";
import type { Remainder } from "./remainder.js";

/** The dependencies that all parts of a purchase share. */
export interface PurchaseContext extends CheckoutStore {
  readonly engine: Engine;
  readonly remainder: Remainder;
  readonly leaseMs: number;
  /** Announces a change of state to an observer, which can't affect it. */
  readonly announce: (purchase: Purchase) => void;
  /** Reports failures that no caller waits for. */
  readonly report: (failure: unknown) => void;
}
