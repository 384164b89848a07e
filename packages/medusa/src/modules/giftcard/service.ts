import { AsyncLocalStorage } from "node:async_hooks";
import { type Attempt, createEngine, createSqlJournal, type Engine } from "@giftcard-pay/checkout";
import type { Logger } from "@medusajs/framework/types";
import { registerCompletion } from "./completion-hook.js";
import { readSetup, type Setup } from "./options.js";
import { type ConnectionPool, createStatementRunner } from "./statement-runner.js";

/** A gift card session that the plugin itself is creating. */
export interface ExpectedSession {
  readonly amountCents: number;
  readonly lastFour: string;
}

/** The plugin's module: the money flow on Medusa's database, and the door to the payment provider. */
export class GiftcardService {
  readonly engine: Engine;
  readonly #setup: Setup;
  readonly #logger: Logger;
  readonly #expected = new AsyncLocalStorage<ExpectedSession>();

  /** What Medusa calls once every module stands. */
  readonly __hooks = {
    onApplicationStart: async (): Promise<void> => {
      if (!this.#setup.callsHandlerItself) registerCompletion(this.#logger);
    },
  };

  constructor(container: { logger: Logger; __pg_connection__: ConnectionPool }, options: unknown) {
    this.#logger = container.logger;
    this.#setup = readSetup(options);
    const { client, sealer, environment, limits } = this.#setup;
    this.engine = createEngine({
      client,
      sealer,
      environment,
      journal: createSqlJournal(createStatementRunner(container.__pg_connection__)),
      onChange: (attempt) => this.#log(attempt),
      ...limits,
    });
  }

  /** Lets the payment provider accept the session that `create` makes, and no other. */
  expectSession<T>(session: ExpectedSession, create: () => Promise<T>): Promise<T> {
    return this.#expected.run(session, create);
  }

  /** The session that is being created by the plugin now, or undefined when something else creates one. */
  expectedSession(): ExpectedSession | undefined {
    return this.#expected.getStore();
  }

  #log({ reference, state, amountCents, reason }: Attempt): void {
    this.#logger.info(`giftcard ${reference}: ${state}, ${amountCents} cents${reason ? `, ${reason}` : ""}`);
  }
}
