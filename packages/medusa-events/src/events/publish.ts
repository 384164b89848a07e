import { MedusaError } from "@medusajs/framework/utils";
import type { EventsContext } from "../context.js";
import { pushNow } from "../issuer/push.js";
import { refreshEvents } from "../shows/refresh.js";
import { type DetailsInput, partsOf, withIds } from "../shows/show-details.js";
import { readShow, writeShow } from "../shows/show-store.js";
import { type EventFault, publishEvents, readEvents, readEventsOf } from "./event-store.js";

/** After this time no further call begins while a person waits; the next job sends the remaining events. */
const MAX_WAIT_MS = 10_000;

const PAST: EventFault = { field: "start", message: "must be in the future" };

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
  const events = await readEventsOf(sql, [productId]);
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

/** The result of publishing events. */
export interface Published {
  /** The keys of the published events. */
  readonly published: readonly string[];
  /** The events that can't be published, with their faults. */
  readonly refused: readonly { readonly key: string; readonly faults: readonly EventFault[] }[];
}

/**
 * Publishes events, and sends those that the issuer doesn't have.
 *
 * @param actor the person, for the record
 */
export async function publish(
  context: EventsContext,
  keys: readonly string[],
  actor: string,
): Promise<Published> {
  const { sql, issuer } = context;
  // What is sent can't be changed later, so the newest content must go out.
  await refreshEvents(context, [...new Set(keys.map((key) => partsOf(key).productId))]);
  const published = await publishEvents(sql, keys, { issuer, actor });
  const others = await readEvents(
    sql,
    keys.filter((key) => !published.includes(key)),
  );
  const until = Date.now() + MAX_WAIT_MS;
  await pushNow(context, { until: () => Date.now() > until });
  return {
    published,
    refused: others.map(({ key, faults }) => ({ key, faults: faults.length > 0 ? faults : [PAST] })),
  };
}

/**
 * Publishes all complete events that were never published, or only for another issuer. The next push sends them.
 *
 * @returns their keys
 */
export const publishReady = ({ sql, issuer }: EventsContext, actor: string): Promise<string[]> =>
  publishEvents(sql, null, { issuer, actor });
