import fc from "fast-check";
import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import { instantOf, isOnClock } from "../src/clock.js";
import { iCalendar } from "../src/formats/icalendar.js";
import type { ShopEvent } from "../src/index.js";
import { anyEvent, bare, full, textOf, timeZone } from "./shop-events.js";

const at = new Date("2036-01-01T00:00:00Z");
const zones = ["Europe/Amsterdam", "Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];
const calendar = iCalendar({ name: "Shows", at });
const described = iCalendar({ name: "Shows", at, timeZones: zones });

const component = (text: string) => new ICAL.Component(ICAL.parse(text));
const read = (text: string) =>
  component(text)
    .getAllSubcomponents("vevent")
    .map((entry) => new ICAL.Event(entry));

describe("a calendar", () => {
  test("has the times and texts of the events for another program", async () => {
    const text = await textOf([full, bare, { ...full, key: "off", state: "canceled" }], calendar);
    const [entry, canceled, ...others] = read(text);
    expect(others).toEqual([]);
    expect(entry?.uid).toBe("spring-night@tickets.example");
    expect(entry?.summary).toBe("Lentenacht");
    expect(entry?.location).toBe("Zaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland");
    expect(entry?.startDate.toJSDate()).toEqual(new Date("2036-04-12T19:00:00Z"));
    expect(entry?.startDate.zone?.tzid).toBe("Europe/Amsterdam");
    expect(entry?.endDate.toJSDate()).toEqual(new Date("2036-04-13T02:00:00Z"));
    expect(entry?.description).toContain('two floors\n"bring a blanket"');
    expect(entry?.component.getFirstPropertyValue("status")).toBe("CONFIRMED");
    expect(canceled?.component.getFirstPropertyValue("status")).toBe("CANCELLED");
    expect(text).toMatch(/\r\nEND:VCALENDAR\r\n$/);
  });

  test("omits withdrawn events, so that subscribed calendars remove them", async () => {
    expect(read(await textOf([{ ...full, state: "withdrawn" }], calendar))).toEqual([]);
  });

  test("identifies an event by its key and the shop's domain", async () => {
    const ofShop = iCalendar({ name: "Shows", at, domain: "zaal.example" });
    const moved = { ...full, ticketLink: "https://other.example/1" };
    for (const event of [full, moved])
      expect(read(await textOf([event], ofShop))[0]?.uid).toBe("spring-night@zaal.example");
  });

  test("describes each requested zone once", async () => {
    const text = await textOf([full, { ...full, key: "two", timeZone: "Asia/Kathmandu" }], calendar);
    expect(text.match(/^TZID:.*$/gm)).toEqual(["TZID:Europe/Amsterdam"]);
    expect(read(text)[1]?.startDate.zone?.tzid).toBe("UTC");
    const none = iCalendar({ name: "Shows", at, timeZones: ["UTC", "Europe/Nowhere"] });
    expect(await textOf([full], none)).not.toContain("VTIMEZONE");
  });

  test("has an end only if it is after the start", async () => {
    const [instant, day] = read(
      await textOf(
        [
          { ...full, end: full.start },
          { ...full, key: "day", end: "2036-04-12" },
        ],
        calendar,
      ),
    );
    expect(instant?.component.getFirstProperty("dtend")).toBeNull();
    expect(day?.endDate.toJSDate()).toEqual(new Date("2036-04-12T21:59:59Z"));
  });

  test("has the correct instant of local times, with a zone and in UTC", async () => {
    const moment = fc.date({ min: new Date("2027-01-01"), max: new Date("2037-01-01"), noInvalidDate: true });
    const local = moment.map((date) => date.toISOString().slice(0, 19));
    await fc.assert(
      fc.asyncProperty(local, timeZone, async (start, zone) => {
        fc.pre(isOnClock(start, zone));
        const end = `${Number(start.slice(0, 4)) + 1}-10-25T02:30:00`;
        const event = { ...bare, state: "published", start, end, timeZone: zone } as const;
        for (const format of [described, calendar]) {
          const [entry] = read(await textOf([event], format));
          expect(entry?.startDate.toJSDate()).toEqual(instantOf(start, zone));
          expect(entry?.endDate.toJSDate()).toEqual(instantOf(end, zone));
        }
      }),
      {
        numRuns: 300,
        // The first of two equal hours, and the minutes before and after clocks go forward.
        examples: [
          ["2036-10-26T02:30:00", "Europe/Amsterdam"],
          ["2036-03-30T01:59:59", "Europe/Amsterdam"],
          ["2036-03-30T03:00:00", "Europe/Amsterdam"],
        ],
      },
    );
  });
});

describe("for any event, a calendar", () => {
  /** As another program reads a text: without control characters, which it may not hold. */
  const shown = (text: string) => text.replaceAll(/\r\n?/g, "\n").replaceAll(/(?![\t\n])\p{Cc}/gu, "");

  test("is valid, has its texts, folds its lines, and is deterministic", async () => {
    const wild = fc.string({ unit: "binary", maxLength: 200 }).filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(anyEvent, wild, wild, async (event, title, description) => {
        const wilder: ShopEvent = { ...event, state: "published", title, description, genres: [title] };
        const text = await textOf([wilder], described);
        const [entry, ...others] = read(text);
        expect(others).toEqual([]);
        expect(entry?.summary).toBe(shown(title));
        expect(entry?.description).toContain(shown(description));
        expect(await textOf([wilder], described)).toBe(text);
        expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
        for (const line of text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
      }),
    );
  });

  const names = (text: string) => component(text).getAllSubcomponents("vevent")[0]?.getAllProperties();
  const lines = "x\r\nATTENDEE:mailto:a@b.example\nSTATUS:CANCELLED\rEND:VEVENT";

  test.each<[string, Partial<ShopEvent>]>([
    ["key", { key: lines }],
    ["title", { title: lines }],
    ["description", { description: lines }],
    ["organiser", { organiser: lines }],
    ["genre", { genres: [lines] }],
    ["venue", { venue: { name: lines } }],
    ["ticket link", { ticketLink: `https://tickets.example/${lines}` }],
    ["event link", { eventLink: `https://zaal.example/${lines}` }],
  ])("gets no additional line from a %s", async (_name, part) => {
    const properties = names(await textOf([{ ...full, ...part }], calendar))?.map(({ name }) => name);
    expect(properties).not.toContain("attendee");
    expect(properties?.filter((name) => name === "status")).toHaveLength(1);
  });

  test("gets no additional line from a calendar's name", async () => {
    const named = iCalendar({ name: `Shows, all; ${lines}`, at });
    const shows = component(await textOf([full], named));
    expect(shows.getAllSubcomponents("vevent")).toHaveLength(1);
    expect(shows.getAllProperties().map(({ name }) => name)).not.toContain("attendee");
    expect(shows.getFirstPropertyValue("name")).toMatch(/^Shows\\, all\\; x\\nATTENDEE/);
  });

  test("has a URL that programs open unchanged", async () => {
    const eventLink = "https://zaal.example/a,b;c?d=e,f";
    const [entry] = read(await textOf([{ ...full, eventLink }], calendar));
    expect(entry?.component.getFirstPropertyValue("url")).toBe("https://zaal.example/a%2Cb%3Bc?d=e%2Cf");
  });
});
