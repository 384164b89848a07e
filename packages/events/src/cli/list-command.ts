import type { Event } from "@giftcard-pay/client";
import { Argument, Command } from "commander";
import { readListing } from "../formats/feed.js";
import { writeEvents } from "../formats/format.js";
import { connect } from "./connection.js";
import { type FormatName, formatOption, formats } from "./formats.js";
import { exitCodes, Failure, faultLines, printable, say, tell } from "./output.js";

const lists = ["providers", "concepts", "events"] as const;
type ListName = (typeof lists)[number];

/** `list`: prints the providers, and the company's concepts and events. */
export const listCommand = (): Command =>
  new Command("list")
    .description("print providers, event concepts and events")
    .addArgument(new Argument("[what]", "what to print; everything if omitted").choices(lists))
    .option("--json", "print one JSON value")
    .addOption(
      formatOption("print events in this format, including drafts, which the service doesn't mark").conflicts("json"),
    )
    .action(list);

async function list(what: ListName | undefined, { json, format }: { json?: boolean; format?: FormatName }) {
  if (format && what !== undefined && what !== "events")
    throw new Failure(`Only events can be printed with --format, not ${what}.`, exitCodes.usage);
  const wanted: readonly ListName[] = format ? ["events"] : what ? [what] : lists;
  const { client } = connect({ withKey: what !== "providers" });
  const providers = wanted.includes("providers") ? await client.listProviders() : undefined;
  const concepts = wanted.includes("concepts") ? await client.listEventConcepts() : undefined;
  const events = wanted.includes("events") ? await client.listEvents() : undefined;
  if (format) return writeListing(events ?? [], format);
  if (json) return say(JSON.stringify({ providers, concepts, events }));
  if (providers) say(table("Providers", providers, ["id", "name"]));
  if (concepts) say(table("Concepts", concepts, ["id", "register", "representative", "providerId"]));
  if (events) say(table("Events", events, ["id", "date", "time", "title", "location"]));
}

async function writeListing(listed: readonly Event[], format: FormatName) {
  const { entries, faults } = readListing(listed);
  tell(
    "The service's list has no keys and no providers, and doesn't mark drafts. Don't push this output: every event would be " +
      "created again.",
  );
  if (faults.length > 0) tell(["Omitted, because the service lists invalid events:", ...faultLines(faults)].join("\n"));
  const events = entries.map(({ event }) => event);
  for await (const text of writeEvents(events, formats[format](events))) process.stdout.write(text);
}

/** Formats rows as a table with tabs. */
function table<Row extends object>(title: string, rows: readonly Row[], columns: readonly (keyof Row & string)[]) {
  const lines = rows.map((row) => columns.map((name) => printable(String(row[name]))).join("\t"));
  return [title, ...(lines.length > 0 ? [columns.join("\t"), ...lines] : ["none"])].join("\n");
}
