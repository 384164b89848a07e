import { type EventInput, endpoints } from "@giftcard-pay/client/contract";
import * as z from "zod";
import { type EventFault, fault } from "./check.js";
import { localTimeAt } from "./clock.js";
import { isTakenBack, type ShopEvent } from "./event.js";
import { rowOf, wireEvent } from "./row.js";

const list = z.toJSONSchema(endpoints.createEvents.request.def.in.shape.events, {
  io: "input",
  unrepresentable: "any",
});

/** What one call of `newevent` takes. The bytes leave room for the key and the brackets around the events. */
export const newEventLimits = {
  events: list.maxItems ?? 1,
  bytes: endpoints.createEvents.bodyLimitBytes - 1024,
};

/** The service reads dates and times by this clock, wherever the venue is. */
const SERVICE_TIME_ZONE = "Europe/Amsterdam";
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

const NO_PROVIDER = "is no provider's; `list providers` shows them";
const NO_PROVIDERS =
  "is no provider's: the service has none yet, and whoever runs it makes one (`provider create`)";

/** What is known of the service that the events go to. */
export interface ServiceFacts {
  /** Left out, what has begun is no fault. */
  readonly now?: Date | undefined;
  /** The numbers of its providers; undefined where they aren't known. */
  readonly providerIds?: ReadonlySet<number> | undefined;
}

/**
 * What `newevent` would refuse of a row that is right by itself. One that is taken back isn't sent, so nothing is wrong with it.
 *
 * @param row where it stands
 * @param values the row, such as `rowOf` an event
 * @returns faults by the interface's names; none where it can be sent
 */
export function newEventFaults(
  row: number,
  values: Readonly<Record<string, unknown>>,
  { now, providerIds }: ServiceFacts,
): EventFault[] {
  const { eventprovider_id: providerId, state } = values;
  if (isTakenBack(state)) return [];
  const faults = [];
  if (providerId === undefined) faults.push(fault(row, "eventprovider_id", "is required"));
  else if (providerIds && Number.isInteger(Number(providerId)) && !providerIds.has(Number(providerId)))
    faults.push(fault(row, "eventprovider_id", providerIds.size > 0 ? NO_PROVIDER : NO_PROVIDERS));
  if (now && hasBegun(values, now)) faults.push(fault(row, "event_start_date", "must be in the future"));
  return faults;
}

/**
 * Whether an event has begun by the service's clock, that of Amsterdam: `newevent` takes none that has.
 *
 * @param values the row, such as `rowOf` an event
 */
export function hasBegun(values: Readonly<Record<string, unknown>>, now: Date): boolean {
  const start = `${values.event_start_date}T${values.event_start_time}`;
  return LOCAL_TIME.test(start) && start <= localTimeAt(now, SERVICE_TIME_ZONE);
}

/**
 * Writes an event as the client's `createEvents` takes it. The interface has no time zones: the times are the venue's
 * clock.
 *
 * @throws {z.ZodError} where `newEventFaults` names its provider
 */
export function newEventInput(event: ShopEvent): EventInput {
  const { timezone: _zone, state: _state, updated_at: _updated, ...wire } = rowOf(event);
  return z.decode(wireEvent, wire as z.input<typeof wireEvent>);
}

/** Writes the same as the JSON that goes out. */
export const newEventJson = (input: EventInput): string => JSON.stringify(z.encode(wireEvent, input));
