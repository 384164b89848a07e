import type { Engine, Sealer, Sql } from "@giftcard-pay/checkout/plugin";
import { type Charge, orderedStates } from "@giftcard-pay/checkout/store";
import type { GiftcardClient } from "@giftcard-pay/client";
import type { Logger, MedusaContainer } from "@medusajs/framework/types";
import { GIFTCARD_MODULE } from "../names.js";
import type { Settings } from "../options.js";
import type { AddressWatch } from "./address-watch.js";
import type { Announcer } from "./announcer.js";
import type { CaptureQueue } from "./capture-queue.js";
import type { CartLeases } from "./cart-leases.js";
import type { CompletionQueue } from "./completion-queue.js";
import type { Processes } from "./processes.js";

/** The objects that all functions of the plugin share. The module creates them, and Medusa's container holds them. */
export interface GiftcardContext {
  readonly logger: Logger;
  readonly engine: Engine;
  /** Runs one statement on Medusa's database, and commits it at once. */
  readonly sql: Sql;
  /** Whether Medusa's payment tables are those of a tested release, as found at the start. Otherwise only Medusa writes them. */
  readonly hasTestedTables: boolean;
  /** Leases carts, so that only one job at a time works on a cart's cards and payment, in all processes. */
  readonly leases: CartLeases;
  /** Admits completions one after the other. */
  readonly completions: CompletionQueue;
  /** Captures orders in the background. */
  readonly captures: CaptureQueue;
  /** Only for health checks: the Medusa processes on this database. */
  readonly processes: Processes;
  /** Only for health checks: whether the shop knows its shoppers' addresses. */
  readonly addresses: AddressWatch;
  readonly announcer: Announcer;
  /** Only for health checks. Only the engine moves money. */
  readonly client: GiftcardClient;
  /** Only for health checks: counts what is sealed under each key. */
  readonly sealer: Sealer;
  readonly settings: Settings;
}

export const contextOf = (container: MedusaContainer): GiftcardContext =>
  container.resolve<GiftcardContext>(GIFTCARD_MODULE);

/** Whether an order has one of a session's charges. */
export const hasOrder = (charges: readonly Charge[]) => charges.some(({ state }) => orderedStates.includes(state));

/**
 * Reverses a session's charges that have no order. The completion that charged it fails when it notices, unless it commits the
 * charge first: then the charge stays. Recovery settles a charge that is still being sent.
 *
 * @returns the session's charges afterwards
 */
export async function reverseUnordered(engine: Engine, sessionId: string): Promise<Charge[]> {
  const charges = await engine.journal.chargesOfPayment(sessionId);
  for (const { reference } of charges.filter(({ state }) => state === "devalued"))
    await engine.reverse(reference, "session_deleted", { from: ["devalued"] });
  return engine.journal.chargesOfPayment(sessionId);
}
