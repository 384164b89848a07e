import type { GiftcardClient } from "@giftcard-pay/client";
import type { Reading } from "../check.js";
import { isRetracted, type ShopEvent } from "../event.js";
import { hasBegun, newEventInput, newEventJson, newEventLimits } from "../newevent.js";
import { rowOf } from "../row.js";
import { type CreateResult, createEvents, type EventVerdict, isUnanswered, isUnsent } from "./create-events.js";

/** All outcomes, in the order of reports. */
export const outcomes = [
  ...(["created", "existing", "unknown", "refused", "not_sent"] as const),
  ...(["past", "canceled", "withdrawn"] as const),
] as const;

/**
 * The outcome of an event: `created` by this push; `existing`, created by an earlier one; `unknown`, sent without a response;
 * `refused`; `not_sent`. An event that has begun (`past`), is `canceled` or `withdrawn` is never sent.
 */
export type Outcome = (typeof outcomes)[number];

/** The result of one event. */
export interface Result {
  readonly row: number;
  readonly eventKey: string;
  readonly title: string;
  outcome: Outcome;
  /** The issuer's id of the event, if this push received it. */
  id?: number;
  fault?: string;
}

/** Options of `pushEvents`. */
export interface PushOptions {
  /** Maximum number of times that a call is sent again, if it got no response or may succeed later. */
  readonly retries: number;
  /** Called with how far the push is, and before each wait. */
  readonly progress?: (text: string) => void;
  /** Returns whether the last response was a stored one: the service's response to an earlier, equal call. */
  readonly wasReplayed?: () => boolean;
}

interface Entry {
  readonly event: ShopEvent;
  readonly json: string;
  readonly result: Result;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

/**
 * Sends all events that can be sent, in as few calls as possible. Ends at the first call that fails as a whole.
 *
 * Nothing is created twice. A call's Idempotency-Key is computed from its content, so the service answers an equal call, even
 * of another push, with its first response. The service also accepts each event key only once.
 *
 * @returns one result per event, in order, and the error of the call that failed or of the first that named faulty events
 */
export async function pushEvents(
  client: Pick<GiftcardClient, "createEvents">,
  events: Reading["entries"],
  options: PushOptions,
): Promise<{ results: Result[]; error?: unknown }> {
  const now = new Date();
  const entries = events.map(({ row, event }): Entry => {
    const isPast = hasBegun(rowOf(event), now);
    const outcome = isRetracted(event.state) ? event.state : isPast ? "past" : "not_sent";
    const json = outcome === "not_sent" ? newEventJson(newEventInput(event)) : "";
    return { event, json, result: { row, eventKey: event.key, title: event.title, outcome } };
  });
  const results = entries.map(({ result }) => result);
  const sendable = entries.filter(({ result }) => result.outcome === "not_sent");
  let done = 0;
  let error: unknown;
  for (const batch of batchesOf(sendable)) {
    const ended = await pushBatch(client, batch, options);
    error ??= ended.error;
    if (!ended.goesOn) return { results, error: ended.error };
    done += batch.length;
    options.progress?.(`${done} of ${sendable.length} events`);
  }
  return error === undefined ? { results } : { results, error };
}

/** Splits events into calls, by number and size. */
function batchesOf(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = new TextEncoder().encode(entry.json).length + 1;
    const batch = batches.at(-1);
    if (batch && batch.length < newEventLimits.events && bytes + size <= newEventLimits.bytes) {
      batch.push(entry);
      bytes += size;
    } else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}

/**
 * Sends a batch. The service creates all of a call's events or none: if it names some that exist or are faulty, the others
 * are sent again without them.
 */
async function pushBatch(
  client: Pick<GiftcardClient, "createEvents">,
  batch: readonly Entry[],
  options: PushOptions,
): Promise<{ goesOn: boolean; error?: unknown }> {
  let salt = "";
  let error: unknown;
  for (let open = batch; open.length > 0; open = open.filter(({ result }) => result.outcome === "not_sent")) {
    const sent = await sendUntilAnswered(client, open, salt, options);
    if (sent.outcome === "created") {
      const outcome = sent.isReplayed ? "existing" : "created";
      for (const [at, { result }] of open.entries()) Object.assign(result, { outcome, id: sent.ids[at] });
    } else if (sent.outcome === "rejected") {
      for (const [at, { result }] of open.entries()) applyVerdict(result, sent.verdicts[at]);
      if (sent.verdicts.some(({ is }) => is === "faulty")) error ??= sent.error;
    } else if (sent.outcome === "reference_used" && salt === "") {
      // Under another reference, the events' keys decide whether an earlier call created them.
      salt = crypto.randomUUID();
    } else {
      const outcome = sent.outcome === "unknown" ? "unknown" : isUnsent(sent.error) ? "not_sent" : "refused";
      for (const { result } of open) result.outcome = outcome;
      return { goesOn: false, error: sent.error };
    }
  }
  return { goesOn: true, error };
}

function applyVerdict(result: Result, verdict: EventVerdict | undefined): void {
  if (verdict?.is === "exists") result.outcome = "existing";
  if (verdict?.is === "faulty") Object.assign(result, { outcome: "refused", fault: verdict.fault });
}

/** @param salt changes the reference, which otherwise depends on the content alone */
async function sendUntilAnswered(
  client: Pick<GiftcardClient, "createEvents">,
  batch: readonly Entry[],
  salt: string,
  { retries, progress, wasReplayed }: PushOptions,
): Promise<CreateResult & { isReplayed?: boolean }> {
  const reference = `events-${await sha256([salt, ...batch.map(({ json }) => json)].join("\n"))}`;
  const events = batch.map(({ event }) => event);
  let lost: CreateResult | undefined;
  for (let attempt = 0; ; attempt++) {
    const result = await createEvents(client, events, reference);
    // After a lost response, a stored response is the lost one.
    if (result.outcome === "created")
      return { ...result, isReplayed: lost === undefined && (wasReplayed?.() ?? false) };
    if (result.outcome === "unknown") lost = result;
    const waitMs = waitBefore(attempt, result);
    // A call that wasn't processed says nothing about an earlier one whose response was lost.
    if (attempt >= retries || waitMs === undefined) return result.outcome === "not_created" && lost ? lost : result;
    progress?.(`${result.error.message} Retrying in ${waitMs / 1000} s.`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Returns how long to wait before a retry; undefined if a retry would fail too. */
function waitBefore(attempt: number, { error }: Exclude<CreateResult, { outcome: "created" }>): number | undefined {
  if (!(isUnanswered(error) || isUnsent(error) || error.retryable)) return undefined;
  const waitMs = Math.max(FIRST_WAIT_MS * 2 ** attempt, (error.retryAfterSeconds ?? 0) * 1000);
  return waitMs <= MAX_WAIT_MS ? waitMs : undefined;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
