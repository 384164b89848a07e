import { randomUUID } from "node:crypto";
import { GiftcardError } from "@giftcard-pay/client";
import { createEvents, type EventVerdict } from "@giftcard-pay/events/push";
import type { EventsContext } from "../context.js";
import { type EventFault, publishEvents, readEvents } from "../events/event-store.js";
import { refreshEvents } from "../shows/refresh.js";
import { partsOf } from "../shows/show-store.js";
import { findAtIssuer } from "./compare.js";
import {
  type Call,
  claimPending,
  claimUnanswered,
  type DeliveryOutcome,
  deleteEmptyCalls,
  type Lease,
  postpone,
  recordOutcomes,
  refuseBegun,
  renewLease,
  retryChanged,
  type UnansweredCall,
} from "./delivery-store.js";

/** A lease outlasts a call, and a look at the issuer's list before it. */
const LIST_MS = 110_000;

const UNANSWERED = "It was sent, and no response came.";

/**
 * Sends the pending events, then retries the calls that got no response. Safe to stop at any point, and to run in several
 * processes at once: a call is recorded before it is sent, and one process has a lease on it.
 *
 * @param options.until returns true once no further call should begin
 */
export async function pushEvents(
  context: EventsContext,
  { until = () => false }: { until?: () => boolean } = {},
): Promise<void> {
  const { sql, issuer, options } = context;
  const lease = { owner: randomUUID(), forMs: options.timeoutMs + LIST_MS };
  await retryChanged(sql, issuer);
  await refuseBegun(sql, issuer);
  let goesOn = true;
  while (goesOn && !until()) {
    const call = await claimPending(sql, issuer, { ...lease, reference: `events-${randomUUID()}` });
    if (!call) break;
    const end = await send(context, call);
    goesOn = end === "next" || (end === "unknown" && (await retry(context, asNew(call), lease)));
  }
  while (goesOn && !until()) {
    const call = await claimUnanswered(sql, issuer, lease);
    if (!call) break;
    goesOn = await retry(context, call, lease);
  }
  await deleteEmptyCalls(sql);
}

const asNew = (call: Call): UnansweredCall => ({ ...call, isWanted: true, isOld: false });

/** Pushes after a request whose own work is done: a failure is only logged, and the next job pushes again. */
export async function pushNow(context: EventsContext, options?: { until?: () => boolean }): Promise<void> {
  try {
    await pushEvents(context, options);
  } catch (error) {
    context.logger.error(`giftcard events: not sent. The next run tries again in a minute. ${error}`);
  }
}

/**
 * Sends a call, and records its outcome if that is known.
 *
 * @param isRetry whether the call was sent before, without a response
 * @returns `stop` if the next call would probably fail too
 */
async function send(context: EventsContext, call: Call, isRetry = false): Promise<"next" | "stop" | "unknown"> {
  const { reference, items } = call;
  const events = items.map(({ content }) => ({ ...content, state: "published" as const }));
  const result = await createEvents(context.client, events, reference);
  if (result.outcome === "created") {
    const { ids } = result;
    await record(
      context,
      reference,
      items.map(({ key }, at) => ({ key, state: "delivered", issuerId: ids[at] ?? null, isListed: true })),
    );
    return "next";
  }
  const error = result.error.message;
  context.logger.warn(`giftcard events: ${items.length} not sent (reference ${reference}): ${error}`);
  if (result.outcome === "rejected") {
    await record(context, reference, await outcomesOf(context, call, result.verdicts));
    return "next";
  }
  if (result.outcome === "unknown" || (result.outcome === "not_created" && isRetry)) return "unknown";
  await recordPending(context, call, error);
  return "stop";
}

/** The issuer created none of the events: valid ones are sent again, and existing ones are recorded as delivered. */
async function outcomesOf(
  context: EventsContext,
  { items }: Call,
  verdicts: readonly EventVerdict[],
): Promise<DeliveryOutcome[]> {
  const existing = items.filter((_, at) => verdicts[at]?.is === "exists");
  // The issuer may have changed or removed the event: then the list doesn't have it as it was sent. If the list can't be
  // read, only the id remains unknown.
  const found = existing.length > 0 ? await findAtIssuer(context, existing).catch(() => null) : null;
  return items.map(({ key }, at): DeliveryOutcome => {
    const verdict = verdicts[at];
    if (verdict?.is === "faulty") return { key, state: "refused", error: verdict.fault };
    if (verdict?.is !== "exists") return { key, state: "pending", error: "another event of the same call was refused" };
    const issuerId = found?.get(key) ?? null;
    return { key, state: "delivered", issuerId, isListed: !found || issuerId !== null };
  });
}

/**
 * Resolves a call without a response: first by the issuer's list, since not every service supports idempotency keys; then
 * by sending it again under its key. If none of its events is published any more, it isn't sent again: the list is checked
 * for a day.
 *
 * @returns false if the next call would probably fail too
 */
async function retry(context: EventsContext, call: UnansweredCall, lease: Lease): Promise<boolean> {
  const { sql } = context;
  const { reference, items, isWanted, isOld } = call;
  try {
    const found = await findAtIssuer(context, items);
    if (found.size > 0) {
      await record(
        context,
        reference,
        items.map(({ key }): DeliveryOutcome => {
          const issuerId = found.get(key);
          return issuerId === undefined
            ? { key, state: "pending", error: "the issuer's list doesn't have it" }
            : { key, state: "delivered", issuerId, isListed: true };
        }),
      );
      return true;
    }
    if (!isWanted && isOld) {
      await recordPending(context, call, `${UNANSWERED} The issuer's list never had it.`);
      return true;
    }
    if (!isWanted) {
      // Sending it now would create an event that nobody wants.
      const error = `${UNANSWERED} It is no longer published, so only the issuer's list is checked.`;
      await postpone(sql, reference, error);
      return true;
    }
    if (!(await renewLease(sql, reference, lease))) return true;
    const end = await send(context, call, true);
    if (end !== "unknown") return end === "next";
    await postpone(sql, reference, `${UNANSWERED} It is sent again.`);
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    await postpone(sql, reference, `${UNANSWERED} ${error.message}`);
  }
  return false;
}

async function record(
  { sql, logger }: EventsContext,
  reference: string,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  await recordOutcomes(sql, reference, outcomes);
  const delivered = outcomes.filter(({ state }) => state === "delivered").length;
  logger.info(`giftcard events: ${delivered} of ${outcomes.length} at the issuer (reference ${reference})`);
}

const recordPending = ({ sql }: EventsContext, { reference, items }: Call, error: string): Promise<void> =>
  recordOutcomes(
    sql,
    reference,
    items.map(({ key }) => ({ key, state: "pending", error })),
  );

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
