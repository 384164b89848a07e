import { setTimeout as sleep } from "node:timers/promises";
import type { MedusaContainer } from "@medusajs/framework/types";
import { captureCards } from "../capture/capture-cards.js";
import { contextOf } from "../context/context.js";
import type { UncapturedOrder } from "../medusa-tables/uncaptured-orders.js";

/**
 * Captures the cards of an order whose event was lost, such as by a crash. It rests like the queue of captures, since there
 * may be thousands of such orders after an on-sale, or after a change of the option.
 * @returns "postponed" if the shop is busy, or this run of recovery has captured for long enough
 */
export async function captureMissed(
  container: MedusaContainer,
  order: UncapturedOrder,
  { captureUntil, isAsked = false }: { captureUntil?: number; isAsked?: boolean },
): Promise<"postponed" | undefined> {
  if (isAsked) return void (await captureCards(container, order));
  const beganAt = Date.now();
  if (contextOf(container).captures.isBusy() || (captureUntil !== undefined && beganAt > captureUntil))
    return "postponed";
  await captureCards(container, order);
  await sleep(Date.now() - beganAt);
  return undefined;
}
