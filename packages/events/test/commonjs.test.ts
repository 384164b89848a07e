import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { full } from "./shop-events.js";

const options = { cwd: import.meta.dirname, encoding: "utf8" } as const;

const program = `
const { feed, jsonLd, json, readJson, rowOf } = require("@giftcard-pay/events");
const { csv } = require("@giftcard-pay/events/csv");
const { iCalendar } = require("@giftcard-pay/events/icalendar");
const { entries } = readJson([rowOf(${JSON.stringify(full)})]);
const formats = [feed, jsonLd, json, csv, iCalendar({ name: "Shows", at: new Date(0) })];
console.log(JSON.stringify(formats.map(({ write }) => write(entries[0].event))));
`;

test("CommonJS gets all of it, also where Node or Jest can't require an ES module", () => {
  const args = ["--no-experimental-require-module", "--eval", program];
  const written: string[] = JSON.parse(execFileSync(process.execPath, args, options));
  expect(written).toHaveLength(5);
  for (const text of written) expect(text).toContain("Lentenacht");
});

test("the package itself loads no library for calendars or tables", () => {
  const looking = `
    require("@giftcard-pay/events");
    const files = Object.keys(require.cache);
    console.log(JSON.stringify([files.length > 0, files.filter((file) => /ical|csv/.test(file))]));
  `;
  expect(JSON.parse(execFileSync(process.execPath, ["--eval", looking], options))).toEqual([true, []]);
});
