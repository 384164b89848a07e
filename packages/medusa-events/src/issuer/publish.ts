import type { EventsContext } from "../context.js";
import { type EventFault, publishEvents, readEvents } from "../events/event-store.js";
import { refreshEvents } from "../shows/refresh.js";
import { partsOf } from "../shows/show-details.js";
import { pushNow } from "./push.js";

/** After this time no further call begins while a person waits; the next job sends the remaining events. */
const MAX_WAIT_MS = 10_000;

const PAST: EventFault = { field: "start", message: "must be in the future" };

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
export async function publish(context: EventsContext, keys: readonly string[], actor: string): Promise<Published> {
  const { sql, issuer } = context;
  // A sent event can't be changed later, so send the newest content.
  await refreshEvents(context, [...new Set(keys.map((key) => partsOf(key).productId))]);
  const published = await publishEvents(sql, keys, { issuer, actor });
  const unpublished = keys.filter((key) => !published.includes(key));
  const others = await readEvents(sql, "key", unpublished);
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
