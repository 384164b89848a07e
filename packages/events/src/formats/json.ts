import { checkRows, fault, inOrder, type Reading, type ReadOptions, type UncheckedRow } from "../check.js";
import { rowOf } from "../row.js";
import type { EventFormat } from "./format.js";

/** A JSON array of rows with the interface's field names and all of an event's content. `readJson` reads it. */
export const json: EventFormat = {
  mediaType: "application/json",
  head: "[\n",
  between: ",\n",
  tail: "\n]\n",
  write: (event) => JSON.stringify(rowOf(event)),
};

/**
 * Reads a parsed JSON array of rows.
 *
 * @returns the events, and all faults; the first row is 1
 */
export function readJson(value: unknown, options?: ReadOptions): Reading {
  if (!Array.isArray(value)) return { entries: [], faults: [fault(1, "", "must be an array of events")] };
  const rows: UncheckedRow[] = [];
  const faults = [];
  for (const [index, one] of value.entries()) {
    if (typeof one === "object" && one !== null && !Array.isArray(one)) rows.push({ row: index + 1, values: one });
    else faults.push(fault(index + 1, "", "must be an object"));
  }
  const read = checkRows(rows, options);
  return { ...read, faults: inOrder([...faults, ...read.faults]) };
}
