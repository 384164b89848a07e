import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context.js";
import { publishReady, pushEvents } from "../issuer/push.js";
import { refreshEvents } from "../shows/refresh.js";

/** Ends before the next minute's run. */
const MAX_RUN_MS = 40_000;

/** Recomputes the shop's events, publishes complete ones if the options say so, and sends what the issuer doesn't have. */
export default async function refreshShopEvents(container: MedusaContainer): Promise<void> {
  const context = contextOf(container);
  try {
    const until = Date.now() + MAX_RUN_MS;
    await refreshEvents(context);
    if (context.options.publish === "automatic") await publishReady(context, "automatic");
    await pushEvents(context, { until: () => Date.now() > until });
  } catch (error) {
    context.logger.error(`giftcard events: the run failed. The next one tries again in a minute. ${error}`);
  }
}

export const config = { name: "giftcard-events", schedule: "* * * * *" };
