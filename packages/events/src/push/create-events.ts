import {
  type GiftcardClient,
  GiftcardError,
  ProtocolError,
  RefusedError,
  UnreachableError,
} from "@giftcard-pay/client";
import type { ShopEvent } from "../event.js";
import { newEventInput } from "../newevent.js";

/**
 * The issuer's verdict on one event of a call that it rejected. `exists`: the company has an event with this key. `valid`:
 * this event has no fault, but others of the call have.
 */
export type EventVerdict = { readonly is: "exists" | "valid" } | { readonly is: "faulty"; readonly fault: string };

/** The result of one call of newevent, which makes all of its events or none. */
export type CreateResult =
  /** The issuer made the events. Their ids are in the events' order. */
  | { readonly outcome: "created"; readonly ids: readonly number[] }
  /** Nothing was made, because of some of the events. The others can be sent in another call. */
  | {
      readonly outcome: "rejected";
      readonly verdicts: readonly EventVerdict[];
      readonly error: RefusedError;
    }
  /** Nothing was made by this call, because its reference was used before. Send it under another one. */
  | { readonly outcome: "reference_used"; readonly error: RefusedError }
  /** Nothing was made by this call. An earlier call under its reference may have made the events. */
  | { readonly outcome: "not_created"; readonly error: GiftcardError }
  /** No usable response came: the issuer may have made the events. */
  | { readonly outcome: "unknown"; readonly error: GiftcardError };

/**
 * Sends events to the issuer in one call, once. The issuer makes all of them or none.
 *
 * @param events at most as many as `newEventLimits` allows
 * @param reference the call's Idempotency-Key. Repeating a call under its reference makes nothing twice
 */
export async function createEvents(
  client: Pick<GiftcardClient, "createEvents">,
  events: readonly ShopEvent[],
  reference: string,
): Promise<CreateResult> {
  try {
    const created = await client.createEvents(events.map(newEventInput), { reference });
    if (created.length === events.length) return { outcome: "created", ids: created.map(({ id }) => id) };
    return {
      outcome: "unknown",
      error: new ProtocolError("unexpected_answer", { endpoint: "createEvents" }),
    };
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    return resultOf(error, events.length);
  }
}

function resultOf(error: GiftcardError, count: number): CreateResult {
  if (error instanceof RefusedError) {
    const verdicts = verdictsOf(error, count);
    if (verdicts.some(({ is }) => is !== "valid")) return { outcome: "rejected", verdicts, error };
    // The service keeps its response for a day, and the reference for good.
    const isUsed = error.status === 422 && error.keyHonoured && error.faults.length === 0;
    return { outcome: isUsed ? "reference_used" : "not_created", error };
  }
  return { outcome: isUnanswered(error) ? "unknown" : "not_created", error };
}

function verdictsOf({ faults }: RefusedError, count: number): EventVerdict[] {
  return Array.from({ length: count }, (_, index): EventVerdict => {
    const own = faults.filter(({ path }) => path.startsWith(`events.${index}.`));
    if (own.length === 0) return { is: "valid" };
    if (own.some(({ path }) => path.endsWith(".event_key"))) return { is: "exists" };
    return { is: "faulty", fault: own.map(({ path, message }) => `${fieldOf(path)} ${message}`).join("; ") };
  });
}

const fieldOf = (path: string) => path.split(".").slice(2).join(".");

/** Returns whether no connection could be made, so that nothing was sent. */
export const isUnsent = (error: unknown): error is UnreachableError =>
  error instanceof UnreachableError && error.code === "not_connected";

/** Returns whether no usable response came, so that the call's outcome is unknown. */
export const isUnanswered = (error: unknown): error is UnreachableError | ProtocolError =>
  (error instanceof UnreachableError && error.code !== "not_connected") ||
  (error instanceof ProtocolError && error.code !== "redirected");
