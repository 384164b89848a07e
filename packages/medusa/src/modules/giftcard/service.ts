import { AsyncLocalStorage } from "node:async_hooks";
import {
  createEngine,
  createSqlJournal,
  type Engine,
  type RunSql,
  type Sealer,
} from "@giftcard-pay/checkout";
import type { GiftcardClient } from "@giftcard-pay/client";
import type { IEventBusModuleService, Logger } from "@medusajs/framework/types";
import { createAnnouncer } from "./announcer.js";
import { type CartLeases, createCartLeases } from "./cart-leases.js";
import { registerCompletion } from "./completion-hook.js";
import { readSetup, type Setup } from "./options.js";
import { checkSeals } from "./seal-check.js";
import { type ConnectionPool, createStatementRunner } from "./statement-runner.js";

/** A gift card session that the plugin itself is creating. */
export interface ExpectedSession {
  readonly amountCents: number;
  readonly lastFour: string;
  /** Told the session's id as soon as it is in Medusa's database. */
  readonly onCreated: (sessionId: string) => void;
}

/** A charge that the plugin itself has begun, and has Medusa authorize now. */
export interface ExpectedCharge {
  readonly sessionId: string;
  readonly reference: string;
}

/** The options that the shop's own part of the flow goes by; no secret among them. */
export type FlowSettings = Pick<
  Setup,
  "trustedAddressHeader" | "allowPendingRemainder" | "pendingRemainderLifeMs" | "leaseMs"
>;

/** The plugin's module: the money flow on Medusa's database, and the door to the payment provider. */
export class GiftcardService {
  readonly engine: Engine;
  /** Runs one statement on Medusa's database, and commits it at once. */
  readonly runSql: RunSql;
  /** Keeps the shop's processes apart at a cart's payment. */
  readonly leases: CartLeases;
  readonly #setup: Setup;
  readonly #logger: Logger;
  readonly #expected = new AsyncLocalStorage<ExpectedSession>();
  readonly #charge = new AsyncLocalStorage<ExpectedCharge>();

  /** What Medusa calls once every module stands. */
  readonly __hooks = {
    onApplicationStart: async (): Promise<void> => {
      if (!this.#setup.callsHandlerItself) registerCompletion(this.#logger);
      await checkSeals(this.engine.journal, this.#setup.sealer, this.#logger);
    },
  };

  constructor(
    container: { logger: Logger; __pg_connection__: ConnectionPool; event_bus: IEventBusModuleService },
    options: unknown,
  ) {
    this.#logger = container.logger;
    this.#setup = readSetup(options);
    const { client, sealer, environment, leaseMs, limits } = this.#setup;
    const announcer = createAnnouncer(this.#logger, container.event_bus);
    this.runSql = createStatementRunner(container.__pg_connection__);
    this.leases = createCartLeases(this.runSql, leaseMs);
    this.engine = createEngine({
      client,
      sealer,
      environment,
      leaseMs,
      journal: createSqlJournal(this.runSql),
      onChange: announcer.attempt,
      onTender: announcer.tender,
      ...limits,
    });
  }

  /** For a look at whether the service answers; money moves through the engine alone. */
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

  /** Lets the payment provider accept the session that `create` makes, and no other. */
  expectSession<T>(session: ExpectedSession, create: () => Promise<T>): Promise<T> {
    return this.#expected.run(session, create);
  }

  /** The session that is being created by the plugin now, or undefined when something else creates one. */
  expectedSession(): ExpectedSession | undefined {
    return this.#expected.getStore();
  }

  /** Tells the payment provider which charge belongs to the session that `authorize` authorizes, so that it need not ask. */
  expectCharge<T>(charge: ExpectedCharge, authorize: () => Promise<T>): Promise<T> {
    return this.#charge.run(charge, authorize);
  }

  /** The charge that the plugin is having authorized now, or undefined when something else authorizes a session. */
  expectedCharge(): ExpectedCharge | undefined {
    return this.#charge.getStore();
  }
}
