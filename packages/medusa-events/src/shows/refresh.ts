import { isDeepStrictEqual } from "node:util";
import { MedusaError } from "@medusajs/framework/utils";
import type { EventsContext } from "../context.js";
import { type ComputedEvent, deleteDrafts, readEvents, type StoredEvent, writeEvents } from "../events/event-store.js";
import { eventsOf } from "./show-events.js";
import { readShowProducts } from "./show-products.js";
import { type DetailsInput, keyOf, partsOf, readShow, readShows, type Show, withIds, writeShow } from "./show-store.js";

const SHOWS_AT_ONCE = 100;
const ATTEMPTS = 5;

/**
 * Recomputes the events of shows from their products. A public event that is no longer on sale becomes `withdrawn`, even
 * if its product was deleted.
 *
 * @param only recomputes just the shows of these products
 */
export async function refreshEvents(context: EventsContext, only?: readonly string[]): Promise<void> {
  if (only?.length === 0) return;
  for (let after = ""; ; ) {
    const shows = await readShows(context.sql, { after, limit: SHOWS_AT_ONCE, only });
    const last = shows.at(-1);
    if (!last) return;
    await refreshShows(context, shows);
    after = last.productId;
  }
}

/** Reads again and recomputes if another process has changed an event meanwhile. */
async function refreshShows({ sql, options, logger }: EventsContext, shows: readonly Show[]) {
  const ids = shows.map(({ productId }) => productId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = attempt === 0 ? shows : await readShows(sql, { after: "", limit: ids.length, only: ids });
    const stored = await readEvents(sql, "product_id", ids);
    const products = await readShowProducts(sql, ids, options.dateOption);
    const computed = current.flatMap((show) => {
      const product = products.find(({ id }) => id === show.productId);
      const own = stored.filter(({ productId }) => productId === show.productId);
      return eventsOf(show, product, own, options);
    });
    for (const { productId, details } of current) {
      const keys = details.dates.map(({ id }) => keyOf(productId, id));
      const isRemovedDraft = (event: StoredEvent) =>
        event.productId === productId && !keys.includes(event.key) && event.desiredState === "draft";
      if (stored.some(isRemovedDraft)) await deleteDrafts(sql, productId, keys);
    }
    const storedByKey = new Map(stored.map((event) => [event.key, event]));
    const changed = computed
      .filter((event) => isChanged(event, storedByKey.get(event.key)))
      .map((event) => ({ ...event, changedAt: storedByKey.get(event.key)?.changedAt ?? null }));
    if (await writeEvents(sql, changed)) return;
  }
  logger.warn(`giftcard events: ${ids.length} shows change all the time. The next run tries them again.`);
}

/** Unchanged events aren't written: a job recomputes all shows each minute. */
function isChanged(computed: ComputedEvent, stored: StoredEvent | undefined): boolean {
  if (!stored) return true;
  const { desiredState: _desired, state: _state, changedAt: _changedAt, ...before } = stored;
  const { key, productId, title, starts, isOnSale, content, faults } = computed;
  return !isDeepStrictEqual({ key, productId, title, starts, isOnSale, content, faults }, before);
}

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
