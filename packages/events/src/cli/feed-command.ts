import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { Command } from "commander";
import type { ShopEvent } from "../event.js";
import { writeEvents } from "../formats/format.js";
import { openEventFile } from "./event-file.js";
import { exitCodes, Failure } from "./failure.js";
import { type FormatName, formatOption, formats, timeZoneOption } from "./formats.js";
import { progress, refuseFaulty, say } from "./output.js";

const FORMATS = `
Formats: feed, for issuers; json-ld, for a page; icalendar, to subscribe to; csv and json, which hold all that a file
holds. The others leave out drafts, and json-ld and icalendar what is withdrawn too.`;

/** `feed`: writes a file of events as what others fetch. */
export const feedCommand = (): Command =>
  new Command("feed")
    .description("write the events of a file as a feed for others to fetch")
    .argument("<file>", "events.csv, events.json or a feed")
    .addOption(formatOption("what to write").default("feed"))
    .option("--out <file>", "where to, in place of the output; it is replaced once all is written")
    .addOption(timeZoneOption())
    .option("--name <name>", "what calendar programs call it, for icalendar", "Events")
    .option("--json", "with --out: print the report as one JSON value")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", FORMATS)
    .action(writeFeed);

interface FeedOptions {
  readonly format: FormatName;
  readonly timezone: string;
  readonly name: string;
  readonly out?: string;
  readonly json?: boolean;
}

async function writeFeed(file: string, { format, timezone, name, out, json }: FeedOptions) {
  if (json && out === undefined) throw new Failure("--json needs --out.", exitCodes.usage);
  const { entries, faults } = (await openEventFile(file))({ timeZone: timezone });
  refuseFaulty(file, faults, "nothing was written. Mend them and try again.");
  const events = entries.map(({ event }) => event);
  const plain = formats[format](events, name);
  let count = 0;
  const text = writeEvents(told(events), {
    ...plain,
    write(event) {
      const written = plain.write(event);
      if (written !== undefined) count += 1;
      return written;
    },
  });
  if (out === undefined) return pipeline(text, process.stdout, { end: false });
  await replace(out, text);
  say(json ? JSON.stringify({ file: out, format, events: count }) : `${out}: ${count} events.`);
}

function* told(events: readonly ShopEvent[]) {
  const tell = progress();
  for (const [index, event] of events.entries()) {
    yield event;
    tell(`${index + 1} of ${events.length} events`);
  }
}

/** Whoever fetches the file never sees a part of one, also after the power failed. */
async function replace(file: string, text: AsyncIterable<string>) {
  const part = `${file}.${process.pid}.part`;
  try {
    await pipeline(text, createWriteStream(part, { flush: true }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be written (${code}).`, exitCodes.usage);
  }
}
