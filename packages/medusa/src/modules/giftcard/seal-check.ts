import { type Journal, readSeals, type Sealer } from "@giftcard-pay/checkout";
import type { Logger } from "@medusajs/framework/types";

/**
 * Ends Medusa where something living is sealed under a key that isn't configured: an order that is canceled later could
 * not reload its card. Medusa swallows what is thrown at this moment, so the process ends.
 */
export async function checkSeals(journal: Journal, sealer: Sealer, logger: Logger): Promise<void> {
  const failure = await readSeals(journal, sealer).then(
    ({ unopenable, missingKeyIds }) => {
      if (unopenable === 0) return null;
      return (
        `${unopenable} cards and cancel tokens are sealed under keys that are not configured: ${missingKeyIds.join(", ")}. ` +
        "Add them to sealingKeys, behind the newest; `npx giftcard-medusa reseal` then makes them dispensable."
      );
    },
    ({ code }: { code?: string }) =>
      code === "42P01"
        ? "its tables aren't there. Run: npx medusa db:migrate"
        : `the journal can't be read (${code}).`,
  );
  if (failure === null) return;
  logger.error(`@giftcard-pay/medusa can't start: ${failure}`);
  process.exit(1);
}
