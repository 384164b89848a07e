import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { publishReady } from "../events/publish.js";
import { pushEvents } from "../events/push.js";
import { refreshEvents } from "../events/refresh.js";

/** So that the next minute's run finds this one over. */
const WORK_MS = 40_000;

/** Works out the shop's shows anew, publishes new ones where the options say so, and sends what the issuer hasn't got. */
export default async function refreshShopEvents(container: MedusaContainer): Promise<void> {
  const { events } = contextOf(container).settings;
  if (!events) return;
  try {
    const until = Date.now() + WORK_MS;
    await refreshEvents(container);
    if (events.isAutomatic) await publishReady(container, "automatic");
    await pushEvents(container, { until: () => Date.now() > until });
  } catch (error) {
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .error(`giftcard events failed, they are looked at again in a minute: ${nameOf(error)}`);
  }
}

export const config = { name: "giftcard-events", schedule: "* * * * *" };
