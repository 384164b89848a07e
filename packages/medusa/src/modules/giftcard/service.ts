import {
  createEngine,
  createSqlJournal,
  type Engine,
  readSeals,
  type Sealer,
  type Sql,
} from "@giftcard-pay/checkout/plugin";
import type { GiftcardClient } from "@giftcard-pay/client";
import { container as medusa } from "@medusajs/framework";
import type { IEventBusModuleService, Logger } from "@medusajs/framework/types";
import { registerCompletion } from "../../completion/register.js";
import { guardWebhooks } from "../../completion/webhooks.js";
import { type AddressWatch, createAddressWatch } from "../../context/address-watch.js";
import { type Announcer, createAnnouncer } from "../../context/announcer.js";
import { type CaptureQueue, createCaptureQueue } from "../../context/capture-queue.js";
import { type CartLeases, createCartLeases } from "../../context/cart-leases.js";
import { type CompletionQueue, createCompletionQueue } from "../../context/completion-queue.js";
import type { GiftcardContext } from "../../context/context.js";
import { createProcesses, type Processes } from "../../context/processes.js";
import { type ConnectionPool, connectionsOf, createStatementRunner } from "../../context/statement-runner.js";
import { nameOf } from "../../errors.js";
import { checkVersion, TablesError } from "../../journal-tables/version.js";
import { findUntestedTables } from "../../medusa-tables/tested-tables.js";
import { readSetup, type Settings } from "../../options.js";

/** The plugin's Medusa module. It creates what the plugin's functions share. */
export class GiftcardService implements GiftcardContext {
  readonly engine: Engine;
  readonly sql: Sql;
  readonly leases: CartLeases;
  readonly completions: CompletionQueue;
  readonly captures: CaptureQueue;
  readonly processes: Processes;
  readonly addresses: AddressWatch;
  readonly announcer: Announcer;
  readonly client: GiftcardClient;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly logger: Logger;

  readonly __hooks = {
    onApplicationStart: async (): Promise<void> => {
      guardWebhooks(medusa, this.sql, this.logger);
      registerCompletion(this.logger, this.settings.charges === "by-line");
      await checkStart(this);
      this.hasTestedTables = await checkTables(this);
      this.processes.start(medusa);
    },
    onApplicationShutdown: (): Promise<void> => {
      this.captures.stop();
      return this.processes.stop();
    },
  };

  hasTestedTables = false;

  constructor(
    container: { logger: Logger; __pg_connection__: ConnectionPool; event_bus: IEventBusModuleService },
    options: unknown,
  ) {
    const { client, sealer, settings } = readSetup(options);
    const { environment, leaseMs, maxCards, leastRemainderCents, guessLimits } = settings;
    this.client = client;
    this.sealer = sealer;
    this.settings = settings;
    this.logger = container.logger;
    this.announcer = createAnnouncer(container.logger, container.event_bus);
    this.sql = createStatementRunner(container.__pg_connection__);
    this.completions = createCompletionQueue();
    this.captures = createCaptureQueue();
    this.processes = createProcesses(this.sql, container.logger, connectionsOf(container.__pg_connection__));
    this.addresses = createAddressWatch(container.logger);
    this.leases = createCartLeases(this.sql, leaseMs);
    this.engine = createEngine({
      issuer: client,
      sealer,
      journal: createSqlJournal(this.sql),
      environment,
      leaseMs,
      maxCards,
      leastRemainderCents,
      guessLimits,
      onChange: this.announcer.charge,
      onTender: this.announcer.tender,
      onFailure: (error) => container.logger.error(`giftcard: ${nameOf(error)}`),
    });
  }
}

/**
 * Exits Medusa if this release doesn't work with the tables, or if a card or token is sealed under a key that isn't
 * configured: the charge of an order that is canceled later could not be reversed. Medusa swallows what is thrown at
 * this moment, so the process exits.
 */
async function checkStart({ sql, engine, sealer, logger }: GiftcardContext): Promise<void> {
  const failure = await findFailure(sql, engine.journal, sealer).catch((error: { code?: string }) =>
    error instanceof TablesError ? error.message : `the journal can't be read (${error.code}).`,
  );
  if (failure === null) return;
  logger.error(`@giftcard-pay/medusa can't start: ${failure}`);
  process.exit(1);
}

/** Tells whether the plugin may write Medusa's payment tables by itself. */
async function checkTables({ sql, logger }: GiftcardContext): Promise<boolean> {
  const untested = await findUntestedTables(sql).catch((error: unknown) => [nameOf(error)]);
  if (untested.length === 0) return true;
  const tables = untested.join(", ");
  logger.warn(
    `giftcard: these tables aren't those of a tested release of Medusa: ${tables}. Medusa itself writes the cards' payments, ` +
      "which is slower.",
  );
  return false;
}

async function findFailure(sql: Sql, journal: Engine["journal"], sealer: Sealer): Promise<string | null> {
  await checkVersion(sql);
  const { unopenable, missingKeyIds } = await readSeals(journal, sealer);
  if (unopenable === 0) return null;
  return (
    `${unopenable} cards and cancel tokens are sealed under keys that are not configured: ${missingKeyIds.join(", ")}. ` +
    "Add them to sealingKeys, after the newest. Then `npx giftcard-medusa reseal` makes them unnecessary."
  );
}
