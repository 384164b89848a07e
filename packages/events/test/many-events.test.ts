// @module-tag long

import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formats } from "../src/cli/formats.js";
import { csv } from "../src/formats/csv.js";
import { writeEvents } from "../src/index.js";
import { fileOf, removeFiles } from "./command.js";
import { full, manyEvents, textOf } from "./shop-events.js";

const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-events.js");
const formatNames = Object.keys(formats) as (keyof typeof formats)[];

/** Runs Node with a limited heap, and without a compile cache. It fails if it needs more memory. */
const runWithin = (heapMb: number, ...args: string[]) =>
  promisify(execFile)(process.execPath, [`--max-old-space-size=${heapMb}`, ...args], {
    cwd: import.meta.dirname,
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" },
    maxBuffer: 2 ** 26,
  });

let table: string;
beforeAll(async () => {
  table = await fileOf("events.csv", await textOf(manyEvents(5000), csv));
});
afterAll(removeFiles);

describe("5,000 events", () => {
  test.each(formatNames)(
    "are read from a table and written as %s with little memory",
    { tags: "long" },
    async (format) => {
      const { stdout } = await runWithin(48, PROGRAM, "feed", table, "--format", format);
      expect(stdout.match(/show-\d+\b/g)?.at(-1)).toBe("show-4999");
    },
  );
});

describe("10,000 long events", () => {
  test("from an iterable are written with the memory of one event, in every format", { tags: "long" }, async () => {
    const program = `
      import { feed, json, jsonLd, writeEvents } from "@giftcard-pay/events";
      import { csv } from "@giftcard-pay/events/csv";
      import { iCalendar } from "@giftcard-pay/events/icalendar";
      const event = ${JSON.stringify({ ...full, description: "Twelve hours ".repeat(250) })};
      function* events() {
        for (let index = 0; index < 10_000; index++) yield { ...event, key: "show-" + index };
      }
      for (const format of [feed, json, jsonLd, csv, iCalendar({ name: "Shows", at: new Date(0) })]) {
        let length = 0;
        for await (const piece of writeEvents(events(), format)) length += piece.length;
        console.log(length > 30_000_000);
      }
    `;
    const { stdout } = await runWithin(24, "--input-type=module", "--eval", program);
    expect(stdout).toBe("true\n".repeat(5));
  });

  test.each(formatNames)("are requested one by one: %s", async (format) => {
    let asked = 0;
    function* counted() {
      for (const event of manyEvents(500)) {
        asked += 1;
        yield event;
      }
    }
    let taken = 0;
    for await (const _piece of writeEvents(counted(), formats[format]([full]))) {
      if (taken < 500) expect(asked).toBe(++taken);
    }
    expect(asked).toBe(500);
  });
});
