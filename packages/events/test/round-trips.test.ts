import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csv, readCsv } from "../src/formats/csv.js";
import { checkEvents, feed, json, readFeed, readJson } from "../src/index.js";
import { anyEvent, bare, full, textOf } from "./shop-events.js";

const anyEvents = fc.uniqueArray(anyEvent, { selector: ({ key }) => key, maxLength: 5 });

const eventsOf = ({ entries, faults }: ReturnType<typeof readJson>) => {
  expect(faults).toEqual([]);
  return entries.map(({ event }) => event);
};

describe("writing and reading returns the same events", () => {
  test.each([
    ["CSV", csv, (text: string) => readCsv(text)],
    ["JSON", json, (text: string) => readJson(JSON.parse(text))],
  ] as const)("in %s, for any event", async (_name, format, read) => {
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        expect(eventsOf(await read(await textOf(events, format)))).toEqual(events);
      }),
      {
        examples: [
          [[full, bare]],
          [
            ["=1+1", "'=1", "''-1", "+31", "@x", "'t Veem", "'36", "''36", '="36"'].map((title, n) => ({
              ...bare,
              key: `${n}`,
              title,
            })),
          ],
        ],
      },
    );
  });

  test("in CSV, as bytes in UTF-8 and UTF-16", async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        const text = await textOf(events, csv);
        for (const encoding of ["utf8", "utf16le"] as const)
          expect(eventsOf(await readCsv(Buffer.from(`\uFEFF${text}`, encoding)))).toEqual(events);
      }),
    );
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "'36"])(
    "%j in a table is protected from running as a formula",
    async (title) => {
      const lines = await textOf([{ ...bare, key: title, title }], csv);
      expect(lines).toContain(`"'${title}"`);
      expect(lines).not.toContain(`"${title}"`);
    },
  );

  test("in a feed, except drafts, and then writes the same feed", async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        const text = await textOf(events, feed);
        const read = eventsOf(readFeed(JSON.parse(text)));
        expect(read).toEqual(events.filter(({ state }) => state !== "draft"));
        expect(await textOf(read, feed)).toBe(text);
      }),
      { examples: [[[full, bare]]] },
    );
  });

  test("through the validation of events from a program", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        expect(eventsOf(checkEvents(events))).toEqual(events);
      }),
    );
  });
});

describe("a feed of other software", () => {
  const item = {
    event_id: "42",
    title: "Jazz",
    organiser: "Zaal",
    date: "2036-10-03",
    time: "20:15:00",
    ticket_link: "https://tickets.example/42",
  };

  test("is read with a bare location, without a state, and with unknown fields", () => {
    const { entries, faults } = readFeed({
      generator: "x",
      events: [{ ...item, location: "Zaal Noord, Amsterdam", rating: 5, description: null }],
    });
    expect(faults).toEqual([]);
    expect(entries[0]?.event).toMatchObject({
      key: "42",
      state: "published",
      venue: { name: "Zaal Noord, Amsterdam" },
    });
  });

  test.each([
    [{ location: {} }, "location", "must be a string"],
    [{ location: "x".repeat(256) }, "location", "must have at most 255 characters"],
    [{ city: "Amsterdam", building_name: 5, location: "Here" }, "building_name", "must be a string"],
  ])("with %j has its fault reported with the feed's name", (more, field, message) => {
    const { faults } = readFeed({ events: [{ ...item, ...more }] });
    expect(faults).toEqual([{ row: 1, field, message }]);
  });

  test.each([
    [undefined, "published"],
    ["published", "published"],
    ["canceled", "canceled"],
    ["cancelled", "canceled"],
    ["withdrawn", "withdrawn"],
  ])("with the state %j is %s, whatever its other fields are", (state, read) => {
    const { entries, faults } = readFeed({ events: [{ ...item, state, activated: 0 }] });
    expect(faults).toEqual([]);
    expect(entries[0]?.event.state).toBe(read);
  });

  test.each(["draft", "Canceled", "", 1, {}, ["published"]])(
    "of the state %j is at fault: nothing that was taken back is taken for published",
    (state) => {
      const { entries, faults } = readFeed({ events: [{ ...item, state }] });
      expect(entries).toEqual([]);
      expect(faults).toEqual([{ row: 1, field: "state", message: "must be one of published, canceled, withdrawn" }]);
    },
  );

  test("yields an event or a fault for each element, whatever it contains", () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(item)));
    const anything = fc.record(
      Object.fromEntries([...Object.keys(item), "state", "timezone", "event_price"].map((name) => [name, field])),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(anything, fc.jsonValue())), (events) => {
        const { entries, faults } = readFeed({ events });
        const rows = new Set([...entries, ...faults].map(({ row }) => row));
        expect([...rows].sort((a, b) => a - b)).toEqual(events.map((_, index) => index + 1));
      }),
    );
  });

  test("has its faults reported with its own names", () => {
    const wrong = { ...item, event_id: undefined, date: "3 October", state: "gone", poster: "file:///x" };
    expect(readFeed({ events: [wrong, 7] }).faults).toEqual([
      { row: 1, field: "state", message: "must be one of published, canceled, withdrawn" },
      { row: 1, field: "date", message: "must be a date, yyyy-mm-dd" },
      { row: 1, field: "poster", message: "must be an http or https address" },
      { row: 1, field: "event_id", message: "is required" },
      { row: 2, field: "", message: "must be an object" },
    ]);
    expect(readFeed({ events: [wrong] }).entries).toEqual([]);
    expect(readFeed([]).faults).toMatchObject([{ field: "events" }]);
  });
});
