import type { Engine } from "../engine/engine.js";
import type { CheckoutStore } from "../store/checkout-store.js";
import type { Purchase } from "../store/purchase-store.js";
import type { Remainder } from "./remainder.js";

/** What the parts of a purchase share. */
export interface PurchaseContext extends CheckoutStore {
  readonly engine: Engine;
  readonly remainder: Remainder;
  readonly leaseMs: number;
  /** Tells of a change of state; whoever hears it has no say in it. */
  readonly tell: (purchase: Purchase) => void;
  /** Hears of failures that nobody waits for. */
  readonly report: (failure: unknown) => void;
}
