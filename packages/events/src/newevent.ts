import { type EventInput, endpoints } from "@giftcard-pay/client/contract";
import * as z from "zod";
import { type EventFault, fault } from "./check.js";
import { localTimeAt } from "./clock.js";
import { isRetracted, type ShopEvent } from "./event.js";
import { rowOf, wireEvent } from "./row.js";

const list = z.toJSONSchema(endpoints.createEvents.request.def.in.shape.events, {
  io: "input",
  unrepresentable: "any",
});

/** The limits of one `newevent` call. The bytes leave room for the API key and the brackets around the events. */
export const newEventLimits = {
  events: list.maxItems ?? 1,
  bytes: endpoints.createEvents.bodyLimitBytes - 1024,
};

/** The service compares dates and times in this zone, wherever the venue is. */
const SERVICE_TIME_ZONE = "Europe/Amsterdam";
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

const NO_PROVIDER = "is not the number of a provider; `list providers` shows them";
const NO_PROVIDERS =
  "is not the number of a provider: the service has none yet. Its operator creates one (`provider create`)";

/** Facts about the service that receives the events. */
export interface ServiceFacts {
  /** Without it, a past start is no fault. */
  readonly now?: Date | undefined;
  /** The numbers of its providers; undefined if they are unknown. */
  readonly providerIds?: ReadonlySet<number> | undefined;
}

/**
 * Finds the faults for which `newevent` would refuse a valid row. A retracted event has none, because it isn't sent.
 *
 * @param row the row's number
 * @param values the row, as `rowOf` returns it
 * @returns faults by the interface's names
 */
export function newEventFaults(
  row: number,
  values: Readonly<Record<string, unknown>>,
  { now, providerIds }: ServiceFacts,
): EventFault[] {
  const { eventprovider_id: providerId, state } = values;
  if (isRetracted(state)) return [];
  const faults = [];
  if (providerId === undefined) faults.push(fault(row, "eventprovider_id", "is required"));
  else if (providerIds && Number.isInteger(Number(providerId)) && !providerIds.has(Number(providerId)))
    faults.push(fault(row, "eventprovider_id", providerIds.size > 0 ? NO_PROVIDER : NO_PROVIDERS));
  if (now && hasBegun(values, now)) faults.push(fault(row, "event_start_date", "must be in the future"));
  return faults;
}

/**
 * Returns whether an event has begun by the service's clock, in Amsterdam. `newevent` refuses such events.
 *
 * @param values the row, as `rowOf` returns it
 */
export function hasBegun(values: Readonly<Record<string, unknown>>, now: Date): boolean {
  const start = `${values.event_start_date}T${values.event_start_time}`;
  return LOCAL_TIME.test(start) && start <= localTimeAt(now, SERVICE_TIME_ZONE);
}

/**
 * Converts an event to the input of the client's `createEvents`. The interface has no time zones, so it gets the venue's local
 * times.
 *
 * @throws {z.ZodError} if the event has no provider
 */
export function newEventInput(event: ShopEvent): EventInput {
  const { timezone: _zone, state: _state, updated_at: _updated, ...wire } = rowOf(event);
  return z.decode(wireEvent, wire as z.input<typeof wireEvent>);
}

/** Returns the JSON that the client sends for an event. */
export const newEventJson = (input: EventInput): string => JSON.stringify(z.encode(wireEvent, input));
