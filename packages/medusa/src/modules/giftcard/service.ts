import { createEngine, createSqlJournal, type Engine, type Sealer, type Sql } from "@giftcard-pay/checkout";
import type { GiftcardClient } from "@giftcard-pay/client";
import type { IEventBusModuleService, Logger } from "@medusajs/framework/types";
import { registerCompletion } from "../../completion/register.js";
import { type Announcer, createAnnouncer } from "../../context/announcer.js";
import { type CartLeases, createCartLeases } from "../../context/cart-leases.js";
import type { FlowSettings, GiftcardContext } from "../../context/context.js";
import { readSetup, type Setup } from "../../context/options.js";
import { type ConnectionPool, createStatementRunner } from "../../context/statement-runner.js";
import { nameOf } from "../../errors.js";
import { checkStart } from "./start-check.js";

/** The plugin's module: the money flow on Medusa's database, and the door to the payment provider. */
export class GiftcardService implements GiftcardContext {
  readonly engine: Engine;
  /** Runs one statement on Medusa's database, and commits it at once. */
  readonly sql: Sql;
  /** Keeps the shop's jobs apart at a cart's cards and payment, in all its processes. */
  readonly leases: CartLeases;
  /** Tells others what happens. */
  readonly announcer: Announcer;
  readonly #setup: Setup;
  readonly #logger: Logger;

  /** What Medusa calls once every module stands. */
  readonly __hooks = {
    onApplicationStart: async (): Promise<void> => {
      if (!this.#setup.callsHandlerItself) registerCompletion(this.#logger, this.#setup.chargesByLine);
      const { journal } = this.engine;
      await checkStart({ sql: this.sql, journal, sealer: this.#setup.sealer, logger: this.#logger });
    },
  };

  constructor(
    container: { logger: Logger; __pg_connection__: ConnectionPool; event_bus: IEventBusModuleService },
    options: unknown,
  ) {
    this.#logger = container.logger;
    this.#setup = readSetup(options);
    const { client, sealer, environment, leaseMs, limits } = this.#setup;
    this.announcer = createAnnouncer(this.#logger, container.event_bus);
    this.sql = createStatementRunner(container.__pg_connection__);
    this.leases = createCartLeases(this.sql, leaseMs);
    this.engine = createEngine({
      client,
      sealer,
      environment,
      leaseMs,
      journal: createSqlJournal(this.sql),
      onChange: this.announcer.charge,
      onTender: this.announcer.tender,
      onFailure: (error) => this.#logger.error(`giftcard: ${nameOf(error)}`),
      ...limits,
    });
  }

  /** For a look at whether the service answers, and for events; money moves through the engine alone. */
  get client(): GiftcardClient {
    return this.#setup.client;
  }

  /** For a count of what is sealed under which key. */
  get sealer(): Sealer {
    return this.#setup.sealer;
  }

  /** What the shop's own part of the flow goes by. */
  get settings(): FlowSettings {
    return this.#setup;
  }
}
