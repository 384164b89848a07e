import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type EventInput, ProtocolError, RefusedError, UnreachableError } from "@giftcard-pay/client";
import type { Reading } from "../check.js";
import { isTakenBack } from "../event.js";
import { hasBegun, newEventInput, newEventJson, newEventLimits } from "../newevent.js";
import { rowOf } from "../row.js";
import type { Connection } from "./connection.js";
import { sha256 } from "./event-file.js";

/**
 * What became of an event: `created` by this push; `existing`, made by an earlier one; `unknown`, sent and not
 * answered; `refused`; `not_sent`; `past`, which the interface doesn't take any more; `canceled` and `withdrawn`, which are
 * never sent.
 */
export type Outcome =
  | ("created" | "existing" | "unknown" | "refused" | "not_sent")
  | ("past" | "canceled" | "withdrawn");

/** What became of the event of one row. */
export interface Result {
  readonly row: number;
  readonly eventKey: string;
  readonly title: string;
  outcome: Outcome;
  id?: number;
  fault?: string;
}

/** An event that can be sent: as the client takes it, and as it goes out. */
interface Entry {
  readonly input: EventInput;
  readonly wire: string;
  readonly result: Result;
}

/** How a push is made. */
export interface PushOptions {
  /** How often a batch without an answer is sent again. */
  readonly retries: number;
  readonly progress: (text: string) => void;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

/**
 * Sends the events that are to come and aren't taken back, batch after batch, and ends at the first that fails.
 *
 * Nothing is made twice: a batch's Idempotency-Key comes from its content, so that sending it again, also by another
 * push, brings the first answer; and the service takes an event_key once.
 *
 * @returns one result for each event, in order
 */
export async function pushEvents(
  connection: Connection,
  events: Reading["entries"],
  options: PushOptions,
): Promise<{ results: Result[]; error?: unknown }> {
  const now = new Date();
  const results = events.map(({ row, event }): Result => {
    const isPast = hasBegun(rowOf(event), now);
    const outcome = isTakenBack(event.state) ? event.state : isPast ? "past" : "not_sent";
    return { row, eventKey: event.key, title: event.title, outcome };
  });
  const entries = events.flatMap(({ event }, index) => {
    const result = results[index];
    if (result?.outcome !== "not_sent") return [];
    const input = newEventInput(event);
    return [{ input, wire: newEventJson(input), result }];
  });
  let done = 0;
  for (const batch of batchesOf(entries)) {
    try {
      await pushBatch(connection, batch, options);
    } catch (error) {
      const outcome = isUnanswered(error) ? "unknown" : isUnsent(error) ? "not_sent" : "refused";
      for (const { result } of batch) if (result.outcome === "not_sent") result.outcome = outcome;
      return { results, error };
    }
    done += batch.length;
    options.progress(`${done} of ${entries.length} events`);
  }
  return { results };
}

/** Cuts where either limit of a call is reached. */
function batchesOf(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.wire) + 1;
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

/** Sends a batch; where some of its events exist, the others, since the service makes all or none. */
async function pushBatch(connection: Connection, batch: readonly Entry[], options: PushOptions) {
  let salt = "";
  for (let left = batch; left.length > 0; left = left.filter(({ result }) => result.outcome === "not_sent")) {
    try {
      const { created, replayed } = await sendUntilAnswered(connection, left, { ...options, salt });
      for (const [index, { result }] of left.entries())
        Object.assign(result, { outcome: replayed ? "existing" : "created", id: created[index]?.id });
    } catch (error) {
      const existing = existingAmong(left, error);
      for (const { result } of existing) result.outcome = "existing";
      if (existing.length > 0) continue;
      // The service keeps an answer for a day and the key for good. Under another key, the event_keys decide.
      if (salt !== "" || !isRefusedWhole(error)) throw withFaults(left, error);
      salt = randomUUID();
    }
  }
}

/** Notes the faults that only the service found with the events that have them. */
function withFaults(batch: readonly Entry[], error: unknown) {
  for (const { path, message } of error instanceof RefusedError ? error.faults : []) {
    const [, place, column] = /^events\.(\d+)\.(\w+)$/.exec(path) ?? [];
    const result = place && batch[Number(place)]?.result;
    if (result) result.fault = `${column} ${message}`;
  }
  return error;
}

/** Whether no event is at fault but what came with them. */
const isRefusedWhole = (error: unknown) =>
  error instanceof RefusedError && error.status === 422 && error.faults.length === 0;

/** The events that a refusal calls existing. The client shows a part of many faults, so that there may be more. */
function existingAmong(batch: readonly Entry[], error: unknown): Entry[] {
  if (!(error instanceof RefusedError)) return [];
  const places = error.faults.map(({ path }) => /^events\.(\d+)\.event_key$/.exec(path)?.[1]);
  if (places.includes(undefined)) return [];
  return places.flatMap((place) => batch[Number(place)] ?? []);
}

/** @param options.salt what makes the key another than the content's own */
async function sendUntilAnswered(
  { client, replayed }: Connection,
  batch: readonly Entry[],
  { salt, retries, progress }: PushOptions & { salt: string },
) {
  const reference = `events-${sha256([salt, ...batch.map(({ wire }) => wire)].join("\n"))}`;
  let lost: unknown;
  for (let attempt = 0; ; attempt++) {
    try {
      const created = await client.createEvents(
        batch.map(({ input }) => input),
        { reference },
      );
      // A kept answer after a lost one is the lost one.
      return { created, replayed: replayed() && lost === undefined };
    } catch (error) {
      const waitMs = waitBefore(attempt, error);
      // What comes before the service looks at the call tells nothing of an answer that was lost earlier.
      if (attempt >= retries || waitMs === undefined) throw isBeforeTheCall(error) ? (lost ?? error) : error;
      if (isUnanswered(error)) lost = error;
      progress(`${(error as Error).message} Again in ${waitMs / 1000} s.`);
      await sleep(waitMs);
    }
  }
}

/** @returns undefined where again would not help */
function waitBefore(attempt: number, error: unknown): number | undefined {
  const worthwhile =
    isUnanswered(error) || isUnsent(error) || (error instanceof RefusedError && error.retryable);
  if (!worthwhile) return undefined;
  const asked = "retryAfterSeconds" in error ? Number(error.retryAfterSeconds ?? 0) * 1000 : 0;
  const waitMs = Math.max(FIRST_WAIT_MS * 2 ** attempt, asked);
  return waitMs <= MAX_WAIT_MS ? waitMs : undefined;
}

/** Whether it is unknown what the call did. */
export const isUnanswered = (error: unknown): error is UnreachableError | ProtocolError =>
  (error instanceof UnreachableError && error.code !== "not_connected") ||
  (error instanceof ProtocolError && error.code !== "redirected");

/** Whether nobody was there to be called. */
export const isUnsent = (error: unknown): error is UnreachableError =>
  error instanceof UnreachableError && error.code === "not_connected";

const isBeforeTheCall = (error: unknown) =>
  isUnsent(error) || (error instanceof RefusedError && error.isBeforeTheCall);
