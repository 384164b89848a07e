import { type Engine, readSeals, type Sealer, type Sql } from "@giftcard-pay/checkout/plugin";
import { container as medusa } from "@medusajs/framework";
import { registerCompletion } from "../../completion/register.js";
import { guardWebhooks } from "../../completion/webhooks.js";
import { createContext, type GiftcardContext, type ModuleContainer } from "../../context/context.js";
import { nameOf } from "../../errors.js";
import { checkVersion, TablesError } from "../../journal-tables/version.js";
import { findUntestedTables } from "../../medusa-tables/tested-tables.js";

/** The plugin's Medusa module. It has the properties of a `GiftcardContext`. */
export class GiftcardService {
  readonly __hooks: object;

  constructor(container: ModuleContainer, options: unknown) {
    const shared = Object.assign(this, createContext(container, options));
    this.__hooks = {
      onApplicationStart: async (): Promise<void> => {
        guardWebhooks(medusa, shared.sql, shared.logger);
        registerCompletion(shared.logger, shared.settings.charges === "by-line");
        await checkStart(shared);
        shared.hasTestedTables = await checkTables(shared);
        shared.processes.start(medusa);
      },
      onApplicationShutdown: (): Promise<void> => {
        shared.captures.stop();
        return shared.processes.stop();
      },
    };
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
