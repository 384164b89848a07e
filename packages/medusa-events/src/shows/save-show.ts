import { MedusaError } from "@medusajs/framework/utils";
import type { EventsContext } from "../context.js";
import { readEvents } from "../events/event-store.js";
import { refreshEvents } from "./refresh.js";
import { type DetailsInput, partsOf, withIds } from "./show-details.js";
import { readShow, writeShow } from "./show-store.js";

/**
 * Saves the details of a product's show, and recomputes its events. A show without dates is no show.
 *
 * @param show.version the version that was edited; 0 for a new show
 * @param show.actor the person, for the record
 * @throws {MedusaError} if somebody else has changed the details meanwhile
 */
export async function saveShow(
  context: EventsContext,
  show: { productId: string; details: DetailsInput; version: number; actor: string },
): Promise<void> {
  const { sql } = context;
  const { productId, version, actor } = show;
  const before = await readShow(sql, productId);
  const events = await readEvents(sql, "product_id", [productId]);
  const usedIds = [
    ...(before?.details.dates ?? []).map(({ id }) => id),
    ...events.map(({ key }) => partsOf(key).dateId),
  ];
  const details = withIds(show.details, usedIds);
  if (!(await writeShow(sql, { productId, details, version, updatedBy: actor }))) {
    const message = "Somebody else has changed this event meanwhile. Nothing was saved. Reload the page.";
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "changed_meanwhile");
  }
  await refreshEvents(context, [productId]);
}
