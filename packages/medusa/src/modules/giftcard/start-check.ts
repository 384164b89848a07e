import { readSeals, type Sealer, type Sql } from "@giftcard-pay/checkout/plugin";
import type { Journal } from "@giftcard-pay/checkout/store";
import type { Logger } from "@medusajs/framework/types";
import { checkVersion, TablesError } from "../../journal-tables/version.js";

interface Start {
  readonly sql: Sql;
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly logger: Logger;
}

/**
 * Exits Medusa if this release doesn't work with the tables, or if a card or token is sealed under a key that isn't
 * configured: the charge of an order that is canceled later could not be reversed. Medusa swallows what is thrown at
 * this moment, so the process exits.
 */
export async function checkStart({ sql, journal, sealer, logger }: Start): Promise<void> {
  const failure = await findFailure(sql, journal, sealer).catch((error: { code?: string }) =>
    error instanceof TablesError ? error.message : `the journal can't be read (${error.code}).`,
  );
  if (failure === null) return;
  logger.error(`@giftcard-pay/medusa can't start: ${failure}`);
  process.exit(1);
}

async function findFailure(sql: Sql, journal: Journal, sealer: Sealer): Promise<string | null> {
  await checkVersion(sql);
  const { unopenable, missingKeyIds } = await readSeals(journal, sealer);
  if (unopenable === 0) return null;
  return (
    `${unopenable} cards and cancel tokens are sealed under keys that are not configured: ${missingKeyIds.join(", ")}. ` +
    "Add them to sealingKeys, after the newest. Then `npx giftcard-medusa reseal` makes them unnecessary."
  );
}
