import { Option } from "commander";
import type { ShopEvent } from "../event.js";
import { csv } from "../formats/csv.js";
import { feed } from "../formats/feed.js";
import type { EventFormat } from "../formats/format.js";
import { iCalendar } from "../formats/icalendar.js";
import { json } from "../formats/json.js";
import { jsonLd } from "../formats/json-ld.js";

/** The output formats. A calendar has a name, and describes the zones of its events. */
export const formats = {
  feed: () => feed,
  "json-ld": () => jsonLd,
  icalendar: (events, name = "Events") =>
    iCalendar({ name, at: new Date(), timeZones: events.map(({ timeZone }) => timeZone) }),
  csv: () => csv,
  json: () => json,
} as const satisfies Record<string, (events: readonly ShopEvent[], name?: string) => EventFormat>;

/** A format's name on the command line. */
export type FormatName = keyof typeof formats;

/** The option `--format`. */
export const formatOption = (about: string): Option =>
  new Option("--format <name>", about).choices(Object.keys(formats));
