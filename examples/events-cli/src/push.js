import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ProtocolError, RefusedError, UnreachableError } from "@giftcard-pay/client";
import { batchLimits, sha256 } from "./validation.js";

/** @typedef {import("./validation.js").ReadyEvent} ReadyEvent */

/**
 * What became of an event: `created` by this push; `existing`, made by an earlier one; `unknown`, sent and not
 * answered; `refused`; `not_sent`.
 * @typedef {"created" | "existing" | "unknown" | "refused" | "not_sent"} Outcome
 */

/** @typedef {{ row: number, eventKey: string, title: string, outcome: Outcome, id?: number, fault?: string }} Result */

/**
 * @typedef {object} PushOptions
 * @property {number} retries how often a batch without an answer is sent again
 * @property {(text: string) => void} progress
 */

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

/**
 * Sends the events, batch after batch, and ends at the first that fails.
 *
 * Nothing is made twice: a batch's Idempotency-Key comes from its content, so that sending it again, also by another
 * push, brings the first answer; and the service takes an event_key once.
 *
 * @param {import("./connection.js").Connection} connection
 * @param {ReadyEvent[]} events
 * @param {PushOptions} options
 * @returns {Promise<{ results: Result[], error?: unknown }>} one result for each event, in order
 */
export async function pushEvents(connection, events, options) {
  const entries = events.map((ready) => ({ ready, result: resultOf(ready) }));
  const results = entries.map(({ result }) => result);
  let done = 0;
  for (const batch of batchesOf(entries)) {
    try {
      await pushBatch(connection, batch, options);
    } catch (error) {
      const outcome = isUnanswered(error) ? "unknown" : "refused";
      for (const { result } of batch) if (result.outcome === "not_sent") result.outcome = outcome;
      return { results, error };
    }
    done += batch.length;
    options.progress(`${done} of ${events.length} events`);
  }
  return { results };
}

/** @param {ReadyEvent} ready @returns {Result} */
const resultOf = ({ row, eventKey, event }) => ({ row, eventKey, title: event.name, outcome: "not_sent" });

/** @typedef {{ ready: ReadyEvent, result: Result }} Entry */

/** Cuts where either limit of a call is reached. @param {Entry[]} entries */
function batchesOf(entries) {
  /** @type {Entry[][]} */
  const batches = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.ready.wire) + 1;
    const batch = batches.at(-1);
    if (batch && batch.length < batchLimits.events && bytes + size <= batchLimits.bytes) {
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
 * Sends a batch; where some of its events exist, the others, since the service makes all or none.
 *
 * @param {import("./connection.js").Connection} connection
 * @param {Entry[]} batch
 * @param {PushOptions} options
 */
async function pushBatch(connection, batch, options) {
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

/** Notes the faults that only the service found with the events that have them. @param {Entry[]} batch @param {unknown} error */
function withFaults(batch, error) {
  for (const { path, message } of error instanceof RefusedError ? error.faults : []) {
    const [, place, column] = /^events\.(\d+)\.(\w+)$/.exec(path) ?? [];
    const result = place && batch[Number(place)]?.result;
    if (result) result.fault = `${column} ${message}`;
  }
  return error;
}

/** Whether no event is at fault but what came with them. @param {unknown} error */
const isRefusedWhole = (error) =>
  error instanceof RefusedError && error.status === 422 && error.faults.length === 0;

/**
 * The events that a refusal calls existing. The client shows a part of many faults, so that there may be more.
 *
 * @param {Entry[]} batch
 * @param {unknown} error
 */
function existingAmong(batch, error) {
  if (!(error instanceof RefusedError)) return [];
  const places = error.faults.map(({ path }) => /^events\.(\d+)\.event_key$/.exec(path)?.[1]);
  if (places.includes(undefined)) return [];
  return places.flatMap((place) => batch[Number(place)] ?? []);
}

/**
 * @param {import("./connection.js").Connection} connection
 * @param {Entry[]} batch
 * @param {PushOptions & { salt: string }} options `salt`: what makes the key another than the content's own
 */
async function sendUntilAnswered({ client, replayed }, batch, { salt, retries, progress }) {
  const reference = `events-${sha256([salt, ...batch.map(({ ready }) => ready.wire)].join("\n"))}`;
  let lost = false;
  for (let attempt = 0; ; attempt++) {
    try {
      const created = await client.createEvents(
        batch.map(({ ready }) => ready.event),
        { reference },
      );
      // A kept answer after a lost one is the lost one.
      return { created, replayed: replayed() && !lost };
    } catch (error) {
      const waitMs = waitBefore(attempt, error);
      if (attempt >= retries || waitMs === undefined) throw error;
      lost ||= isUnanswered(error);
      progress(`${/** @type {Error} */ (error).message} Again in ${waitMs / 1000} s.`);
      await sleep(waitMs);
    }
  }
}

/** @param {number} attempt @param {unknown} error @returns {number | undefined} undefined: again would not help */
function waitBefore(attempt, error) {
  const worthwhile = isUnanswered(error) || (error instanceof RefusedError && error.retryable);
  if (!worthwhile) return undefined;
  const asked = "retryAfterSeconds" in error ? Number(error.retryAfterSeconds ?? 0) * 1000 : 0;
  const waitMs = Math.max(FIRST_WAIT_MS * 2 ** attempt, asked);
  return waitMs <= MAX_WAIT_MS ? waitMs : undefined;
}

/**
 * Whether it is unknown what the call did.
 *
 * @param {unknown} error
 * @returns {error is UnreachableError | ProtocolError}
 */
export const isUnanswered = (error) =>
  error instanceof UnreachableError || (error instanceof ProtocolError && error.code !== "redirected");
