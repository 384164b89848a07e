import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { writeEvents } from "../formats/format.js";
import { type FileOptions, fileCommand, readEventFile } from "./event-file.js";
import { type FormatName, formatOption, formats } from "./formats.js";
import { exitCodes, Failure, faultyFile, say, tellNotices } from "./output.js";

const FORMATS = `
Formats: feed for other software, json-ld for web pages, icalendar to subscribe to, csv and json for all content of a file.
feed, json-ld and icalendar omit drafts. json-ld and icalendar also omit withdrawn events.`;

/** `feed`: writes the events of a file in a public format. */
export const feedCommand = (): Command =>
  fileCommand("feed")
    .description("write the events of a file as a feed or in another format")
    .addOption(formatOption("output format").default("feed"))
    .option("--out <file>", "output file, replaced when complete; standard output if omitted")
    .option("--name <name>", "the calendar's name, for icalendar", "Events")
    .option("--json", "with --out: print the report as one JSON value")
    .addHelpText("after", FORMATS)
    .action(writeFeed);

interface FeedOptions extends FileOptions {
  readonly format: FormatName;
  readonly name: string;
  readonly out?: string;
  readonly json?: boolean;
}

async function writeFeed(file: string, { format, name, out, json, ...options }: FeedOptions) {
  if (json && out === undefined) throw new Failure("--json needs --out.", exitCodes.usage);
  const reading = await readEventFile(file, options);
  tellNotices(file, reading);
  const failure = faultyFile(file, reading, "nothing was written. Fix them and try again.");
  if (failure) throw failure;
  const events = reading.entries.map(({ event }) => event);
  const plain = formats[format](events, name);
  let count = 0;
  const text = writeEvents(events, {
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

/** Replaces a file atomically: readers never see a part of it, even after a power failure. */
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
