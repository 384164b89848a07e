import { createHash } from "node:crypto";
import { endpoints, Secret } from "@giftcard-pay/client/contract";
import { fault } from "./event-file.js";

/** @typedef {import("./event-file.js").Fault} Fault */
/** @typedef {import("./event-file.js").Row} Row */
/** @typedef {import("@giftcard-pay/client").EventInput} EventInput */

/**
 * An event that can be sent.
 * @typedef {object} ReadyEvent
 * @property {number} row where it stands in the file
 * @property {string} eventKey
 * @property {EventInput} event
 * @property {string} wire it as JSON, as it goes out
 */

const { request } = endpoints.createEvents;
const anyKey = "-";

/** What the contract says of the list of events, as a JSON Schema. */
const list =
  /** @type {{ maxItems: number, items: { properties: Record<string, unknown>, required: string[] } }} */ (
    request.toJSONSchema({ io: "input", unrepresentable: "any" }).properties?.events
  );

/** The fields of an event as the interface spells them, and those that must be there. */
export const fields = { columns: Object.keys(list.items.properties), required: list.items.required };

/** What one call takes. The bytes leave room for the key and the brackets around the events. */
export const batchLimits = {
  events: list.maxItems,
  bytes: endpoints.createEvents.bodyLimitBytes - 1024,
};

/**
 * Checks every row against the contract, and against what the service knows besides.
 *
 * @param {Row[]} rows
 * @param {ReadonlySet<number> | undefined} providerIds undefined where they are not known
 * @returns {{ events: ReadyEvent[], faults: Fault[] }}
 */
export function validate(rows, providerIds) {
  /** @type {ReadyEvent[]} */
  const events = [];
  /** @type {Fault[]} */
  const faults = [];
  /** @type {Map<string, number>} */
  const rowOfKey = new Map();
  const now = amsterdamTime(new Date());
  for (const { row, values } of rows) {
    const read = request.safeDecode(/** @type {never} */ ({ apikey: anyKey, events: [withKey(values)] }));
    if (!read.success) {
      for (const { path, message } of read.error.issues) {
        const column = String(path[2] ?? "");
        const missing = fields.required.includes(column) && values[column] === undefined;
        faults.push(fault(row, column, missing ? "is required" : message));
      }
      continue;
    }
    const event = /** @type {EventInput} */ (read.data.events[0]);
    const eventKey = event.eventKey ?? "";
    const found = faultsOf(row, event, { now, providerIds });
    const twin = rowOfKey.get(eventKey);
    if (twin !== undefined) found.push(fault(row, "event_key", twinMessage(values, twin)));
    rowOfKey.set(eventKey, twin ?? row);
    faults.push(...found);
    if (found.length === 0) events.push({ row, eventKey, event, wire: wireOf(event) });
  }
  return { events, faults };
}

/**
 * The row with an event_key: its own, or one of its content. So no event is ever made twice, however the file around it
 * changes. @param {Row["values"]} values
 */
function withKey(values) {
  if (values.event_key !== undefined) return values;
  const content = JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...values, event_key: `row-${sha256(content).slice(0, 32)}` };
}

/** @param {Row["values"]} values @param {number} twin */
const twinMessage = (values, twin) =>
  values.event_key === undefined
    ? `is needed: this row and row ${twin} hold the same`
    : `is that of row ${twin} too`;

/** @param {EventInput} event */
const wireOf = (event) =>
  JSON.stringify(request.encode({ apiKey: new Secret(anyKey), events: [event] }).events[0]);

/**
 * What the contract's schema can't tell, and the service refuses.
 *
 * @param {number} row
 * @param {EventInput} event
 * @param {{ now: string, providerIds: ReadonlySet<number> | undefined }} known
 */
function faultsOf(row, event, { now, providerIds }) {
  const faults = [];
  const start = `${event.startDate} ${event.startTime}`;
  if (providerIds && !providerIds.has(event.providerId))
    faults.push(fault(row, "eventprovider_id", `is no provider's; \`list providers\` shows them`));
  if (start <= now) faults.push(fault(row, "event_start_date", "must be in the future"));
  if (event.endDate && `${event.endDate} ${event.endTime || "23:59:59"}` < start)
    faults.push(fault(row, "event_end_date", "must not be before the start"));
  return faults;
}

/** The service reads dates and times by this clock. @param {Date} instant @returns {string} yyyy-mm-dd hh:mm:ss */
const amsterdamTime = (instant) => instant.toLocaleString("sv-SE", { timeZone: "Europe/Amsterdam" });

/** @param {string} text */
export const sha256 = (text) => createHash("sha256").update(text).digest("hex");
