import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { type EventFault, publishEvents, readEvents, readEventsOf } from "./event-store.js";
import { pushNow, serviceOf } from "./push.js";
import { refreshEvents } from "./refresh.js";
import { readDetails, withIds } from "./show-details.js";
import { readShow, writeShow } from "./show-store.js";

/** So long a page waits at most for a further call to begin; what is left goes by itself. */
const LONGEST_WAIT_MS = 10_000;

const productOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));
const dateOf = (key: string): string => key.slice(key.lastIndexOf(":") + 1);

/**
 * Saves what a product's page says of its show. A show of no date is none any more.
 *
 * @param input the details, as `readDetails` takes them
 * @param version of the details that were changed; 0 where there were none
 * @param actor who does it, as it is written down
 * @throws {MedusaError} where a field has another shape, or somebody else has changed them meanwhile
 */
export async function saveShow(
  container: MedusaContainer,
  { productId, input, version, actor }: { productId: string; input: unknown; version: number; actor: string },
): Promise<void> {
  const { sql } = contextOf(container);
  const given = readDetails(input);
  const before = await readShow(sql, productId);
  const events = await readEventsOf(sql, [productId]);
  const usedIds = [...(before?.details.dates ?? []), ...events.map(({ key }) => ({ id: dateOf(key) }))];
  const details = withIds(
    given,
    usedIds.map(({ id }) => id),
  );
  if (!(await writeShow(sql, { productId, details, version, updatedBy: actor }))) {
    const message = "Somebody else has changed this event meanwhile. Load the page anew. Nothing was saved.";
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "changed_meanwhile");
  }
  await refreshEvents(container, [productId]);
}

/** What became of events that were to be published. */
export interface Published {
  /** Their keys. They are in the feed; what became of them at the issuer stands with them. */
  readonly published: readonly string[];
  /** Those of which nothing was done, with what is missing. */
  readonly refused: readonly { readonly key: string; readonly faults: readonly EventFault[] }[];
}

/**
 * Publishes events, and sends those that the issuer hasn't got. What is there, or on its way, isn't sent again.
 *
 * @param actor who asks for it, as it is written down
 */
export async function publish(
  container: MedusaContainer,
  keys: readonly string[],
  actor: string,
): Promise<Published> {
  const context = contextOf(container);
  const { sql } = context;
  await refreshEvents(container, [...new Set(keys.map(productOf))]);
  const published = await publishEvents(sql, keys, { service: serviceOf(context), actor });
  const others = await readEvents(
    sql,
    keys.filter((key) => !published.includes(key)),
  );
  const until = Date.now() + LONGEST_WAIT_MS;
  await pushNow(container, { until: () => Date.now() > until });
  return {
    published,
    refused: others.map(({ key, faults }) => ({ key, faults: faults.length > 0 ? faults : [PAST] })),
  };
}

const PAST: EventFault = { field: "start", message: "must be in the future" };

/**
 * Publishes all events that nobody has published yet, or only where another service was the issuer, and in which nothing is
 * missing. They are sent by the next push.
 *
 * @returns their keys
 */
export async function publishReady(container: MedusaContainer, actor: string): Promise<string[]> {
  const context = contextOf(container);
  return publishEvents(context.sql, null, { service: serviceOf(context), actor });
}
