import type { Command } from "commander";
import { type EventState, eventStates } from "../event.js";
import { missingForGoogle } from "../formats/json-ld.js";
import { type FileOptions, fileCommand, readEventFile } from "./event-file.js";
import { faultyFile, say, tellNotices } from "./output.js";

/** `check`: reports the faults of a file. It needs no service. */
export const checkCommand = (): Command =>
  fileCommand("check")
    .description("report the faults of a file of events; sends nothing")
    .option("--json", "print the report as one JSON value")
    .action(check);

async function check(file: string, { json, ...options }: FileOptions & { json?: boolean }) {
  const reading = await readEventFile(file, options);
  tellNotices(file, reading);
  const failure = faultyFile(file, reading, "fix them.");
  if (failure) throw failure;
  const { entries, notices } = reading;
  const states = Object.fromEntries(eventStates.map((state) => [state, 0])) as Record<EventState, number>;
  for (const { event } of entries) states[event.state] += 1;
  const unplaced = entries.filter(({ event }) => missingForGoogle(event).length > 0).map(({ row }) => row);
  if (json) return say(JSON.stringify({ file, events: entries.length, ...states, withoutPlace: unplaced, notices }));
  const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  say(`${file}: ${entries.length} events (${counts.join(", ")}), no faults.`);
  if (unplaced.length > 0)
    say(`${unplaced.length} have no place, such as row ${unplaced[0]}: Google's search doesn't show such events.`);
}
