import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { recoverNow } from "../recovery/recovery.js";
import { workBulkRefunds } from "../refunds/bulk-work.js";

/** So that the next minute's run finds this one over. */
const WORK_MS = 50_000;

/** Ends what crashes and lost answers left behind, forgets sealed cards whose time has run out, and refunds what people asked for. */
export default async function recoverGiftcards(container: MedusaContainer): Promise<void> {
  try {
    const until = Date.now() + WORK_MS;
    await recoverNow(container);
    await workBulkRefunds(container, { until: () => Date.now() > until });
  } catch (error) {
    const name = error instanceof Error ? `${error.name}: ${error.message}` : "unknown error";
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .error(`giftcard recovery failed, it runs again in a minute: ${name}`);
  }
}

export const config = { name: "giftcard-recovery", schedule: "* * * * *" };
