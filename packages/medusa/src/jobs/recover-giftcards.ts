import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { recoverNow } from "../recovery/recovery.js";
import { workBulkRefunds } from "../refunds/bulk-work.js";

/** Ends before the next minute's run begins. */
const WORK_MS = 50_000;

/** Recovers what crashes and lost responses left behind, deletes expired sealed cards, and works on bulk refunds. */
export default async function recoverGiftcards(container: MedusaContainer): Promise<void> {
  try {
    const until = Date.now() + WORK_MS;
    await recoverNow(container);
    await workBulkRefunds(container, { until: () => Date.now() > until });
  } catch (error) {
    contextOf(container).logger.error(`giftcard recovery failed, it runs again in a minute: ${nameOf(error)}`);
  }
}

export const config = { name: "giftcard-recovery", schedule: "* * * * *" };
