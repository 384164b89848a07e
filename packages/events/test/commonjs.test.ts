import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { full } from "./shop-events.js";

const options = { cwd: import.meta.dirname, encoding: "utf8" } as const;

const writeAll = `
const { feed, jsonLd, json, readJson, rowOf } = require("@giftcard-pay/events");
const { csv } = require("@giftcard-pay/events/csv");
const { iCalendar } = require("@giftcard-pay/events/icalendar");
const { entries } = readJson([rowOf(${JSON.stringify(full)})]);
const formats = [feed, jsonLd, json, csv, iCalendar({ name: "Shows", at: new Date(0) })];
console.log(JSON.stringify(formats.map(({ write }) => write(entries[0].event))));
`;

/** Runs a CommonJS program with the CommonJS build, as in Jest. Returns the JSON that the program printed. */
const run = (program: string) =>
  JSON.parse(execFileSync(process.execPath, ["--no-experimental-require-module", "--eval", program], options));

test("the CommonJS build exports every format", () => {
  const written: string[] = run(writeAll);
  expect(written).toHaveLength(5);
  for (const text of written) expect(text).toContain("Lentenacht");
});

test("the main entry loads no library for calendars or tables", () => {
  const found = run(`
    require("@giftcard-pay/events");
    const { relative } = require("node:path");
    const files = Object.keys(require.cache).map((file) => relative(process.cwd(), file));
    console.log(JSON.stringify([files.length > 0, files.filter((file) => /ical|csv/.test(file))]));
  `);
  expect(found).toEqual([true, []]);
});
