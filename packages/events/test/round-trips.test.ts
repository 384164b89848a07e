import type { Event } from "@giftcard-pay/client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csv, readCsv } from "../src/formats/csv.js";
import { checkEvents, feed, feedItemOf, json, readJson, readListing } from "../src/index.js";
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

  test("through the validation of events from a program", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        expect(eventsOf(checkEvents(events))).toEqual(events);
      }),
    );
  });
});

test("writes all events but drafts in a feed", async () => {
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      const isPublic = events.filter(({ state }) => state !== "draft");
      expect(JSON.parse(await textOf(events, feed))).toEqual({ events: isPublic.map(feedItemOf) });
    }),
    { examples: [[[full, bare]]] },
  );
});

test("reads the service's list, and names its faults by the list's names", () => {
  const listed: Event = {
    ...{ id: 42, companyId: 1, title: "Jazz", description: "", organiser: "Zaal", bannerUrl: "", posterUrl: "" },
    ...{ date: "2036-10-03", time: "20:15:00", endDate: null, endTime: null, location: "Zaal Noord, Amsterdam" },
    ...{ ticketLink: "https://tickets.example/42", createdAt: "", updatedAt: "2036-01-01 12:00:00" },
  };
  const wrong = { ...listed, id: 43, date: "3 October", location: "x".repeat(256), posterUrl: "file:///x" };
  const { entries, faults } = readListing([listed, wrong]);
  expect(entries.map(({ event }) => event)).toMatchObject([
    { key: "42", title: "Jazz", start: "2036-10-03T20:15:00", state: "published", venue: { name: listed.location } },
  ]);
  expect(entries[0]?.event).not.toHaveProperty("updatedAt");
  expect(faults.map(({ row, field }) => [row, field]).sort()).toEqual([
    [2, "date"],
    [2, "location"],
    [2, "poster"],
  ]);
});
