import { createEngine, createSqlJournal, type Engine } from "@giftcard-pay/checkout/plugin";
import { type Charge, orderedStates } from "@giftcard-pay/checkout/store";
import type { IEventBusModuleService, Logger, MedusaContainer } from "@medusajs/framework/types";
import { nameOf } from "../errors.js";
import { GIFTCARD_MODULE } from "../names.js";
import { readSetup } from "../options.js";
import { createAddressWatch } from "./address-watch.js";
import { createAnnouncer } from "./announcer.js";
import { createCaptureQueue } from "./capture-queue.js";
import { createCartLeases } from "./cart-leases.js";
import { createCompletionQueue } from "./completion-queue.js";
import { createProcesses } from "./processes.js";
import { type ConnectionPool, connectionsOf, createStatementRunner } from "./statement-runner.js";

/** The part of Medusa's container that a module gets. */
export interface ModuleContainer {
  readonly logger: Logger;
  readonly __pg_connection__: ConnectionPool;
  readonly event_bus: IEventBusModuleService;
}

/** The objects that all functions of the plugin share. The module creates them, and Medusa's container holds them. */
export type GiftcardContext = ReturnType<typeof createContext>;

/** @throws {TypeError} as `readSetup` */
export function createContext(container: ModuleContainer, options: unknown) {
  const { logger, __pg_connection__: pool, event_bus: eventBus } = container;
  const { client, sealer, settings } = readSetup(options);
  const { environment, leaseMs, maxCards, leastRemainderCents, guessLimits } = settings;
  const sql = createStatementRunner(pool);
  const announcer = createAnnouncer(logger, eventBus);
  const engine = createEngine({
    ...{ issuer: client, sealer, environment, leaseMs, maxCards, leastRemainderCents, guessLimits },
    journal: createSqlJournal(sql),
    onChange: announcer.charge,
    onTender: announcer.tender,
    onFailure: (error) => logger.error(`giftcard: ${nameOf(error)}`),
  });
  return {
    logger,
    engine,
    /** Runs one statement on Medusa's database, and commits it at once. */
    sql,
    /** Whether Medusa's payment tables are those of a tested release, as found at the start. Otherwise only Medusa writes them. */
    hasTestedTables: false,
    /** Leases carts, so that only one job at a time works on a cart's cards and payment, in all processes. */
    leases: createCartLeases(sql, leaseMs),
    /** Admits completions one after the other. */
    completions: createCompletionQueue(),
    /** Captures orders in the background. */
    captures: createCaptureQueue(),
    /** Only for health checks: the Medusa processes on this database. */
    processes: createProcesses(sql, logger, connectionsOf(pool)),
    /** Only for health checks: whether the shop knows its shoppers' addresses. */
    addresses: createAddressWatch(logger),
    announcer,
    /** Only for health checks. Only the engine moves money. */
    client,
    /** Only for health checks: counts what is sealed under each key. */
    sealer,
    settings,
  };
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
