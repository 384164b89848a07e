import type { EventInput } from "@giftcard-pay/client";
import fc from "fast-check";
import ICAL from "ical.js";
import type { Event as SchemaEvent, WithContext } from "schema-dts";
import { describe, expect, test } from "vitest";
import { csv, readCsv } from "../src/formats/csv.js";
import { iCalendar } from "../src/formats/icalendar.js";
import {
  type EventFormat,
  feed,
  json,
  jsonLd,
  jsonLdOf,
  jsonLdText,
  missingForGoogle,
  newEventFaults,
  newEventInput,
  newEventJson,
  rowOf,
  type ShopEvent,
  writeEvents,
} from "../src/index.js";
import { anyEvent, bare, full, manyEvents } from "./shop-events.js";

const calendar = iCalendar({ name: "Shows, all", at: new Date("2036-01-01T00:00:00Z") });
const formats = { feed, jsonLd, calendar, csv, json };

async function textOf(events: Iterable<ShopEvent>, format: EventFormat) {
  const pieces = [];
  for await (const piece of writeEvents(events, format)) pieces.push(piece);
  return pieces.join("");
}

describe("a page's JSON-LD", () => {
  // The types are schema.org's vocabulary: a property or a value that it doesn't have doesn't compile.
  const typed = (event: ShopEvent): WithContext<SchemaEvent> => ({
    "@context": "https://schema.org",
    ...jsonLdOf(event),
  });

  test("has all of an event, with the offset that the venue's clocks have then", () => {
    expect(typed(full)).toEqual({
      "@context": "https://schema.org",
      "@type": "Event",
      identifier: "spring-night",
      name: "Lentenacht",
      startDate: "2036-04-12T21:00:00+02:00",
      endDate: "2036-04-13T04:00:00+02:00",
      eventStatus: "https://schema.org/EventScheduled",
      eventAttendanceMode: "https://schema.org/OfflineEventAttendanceMode",
      location: {
        "@type": "Place",
        name: "Zaal Noord",
        address: {
          "@type": "PostalAddress",
          streetAddress: "Noordkade 12",
          postalCode: "1021 AB",
          addressLocality: "Amsterdam",
          addressCountry: "Nederland",
        },
      },
      description: full.description,
      image: ["https://tickets.example/poster.jpg", "https://tickets.example/banner.jpg"],
      organizer: { "@type": "Organization", name: "Zaal Noord BV" },
      performer: [
        { "@type": "PerformingGroup", name: "De Artiest" },
        { "@type": "PerformingGroup", name: "The Other" },
      ],
      keywords: "house, techno",
      typicalAgeRange: "18-",
      url: "https://zaal.example/spring-night",
      offers: {
        "@type": "Offer",
        url: "https://tickets.example/spring-night",
        price: "24.50",
        priceCurrency: "EUR",
      },
    });
  });

  test.each([
    ["2036-10-26T02:30:00", "Europe/Amsterdam", "+02:00"],
    ["2036-10-26T03:30:00", "Europe/Amsterdam", "+01:00"],
    ["2036-01-01T20:00:00", "Asia/Kathmandu", "+05:45"],
    ["2036-07-01T20:00:00", "America/New_York", "-04:00"],
  ])("%s in %s is %s", (start, timeZone, offset) => {
    expect(typed({ ...bare, start, timeZone }).startDate).toBe(`${start}${offset}`);
  });

  test("stands safely in a page, and leaves out drafts", async () => {
    const wicked = { ...full, title: "</script><script>alert(1)</script>" };
    expect(jsonLdText(wicked)).not.toContain("<");
    expect(JSON.parse(jsonLdText(wicked)).name).toBe(wicked.title);
    const graph = JSON.parse(await textOf([bare, wicked, { ...full, state: "cancelled" }], jsonLd))["@graph"];
    expect(graph.map(({ eventStatus }: { eventStatus: string }) => eventStatus)).toEqual([
      "https://schema.org/EventScheduled",
      "https://schema.org/EventCancelled",
    ]);
  });

  test("says what Google's search needs and an event lacks", () => {
    expect(missingForGoogle(full)).toEqual([]);
    expect(missingForGoogle(bare)).toEqual(["building_name, streetname or city"]);
  });
});

describe("a calendar", () => {
  const read = (text: string) =>
    new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((entry) => new ICAL.Event(entry));

  test("is read by another program with the instants and the texts of the events", async () => {
    const [entry, cancelled] = read(
      await textOf([full, bare, { ...full, key: "off", state: "cancelled" }], calendar),
    );
    expect(entry?.uid).toBe("spring-night@tickets.example");
    expect(entry?.summary).toBe("Lentenacht");
    expect(entry?.location).toBe("Zaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland");
    expect(entry?.startDate.toJSDate()).toEqual(new Date("2036-04-12T19:00:00Z"));
    expect(entry?.endDate.toJSDate()).toEqual(new Date("2036-04-13T02:00:00Z"));
    expect(entry?.description).toContain("bring a blanket");
    expect(entry?.component.getFirstPropertyValue("status")).toBe("CONFIRMED");
    expect(cancelled?.component.getFirstPropertyValue("status")).toBe("CANCELLED");
  });

  test("is one that can be read, whatever an event holds, and the same each time", async () => {
    await fc.assert(
      fc.asyncProperty(anyEvent, async (event) => {
        const text = await textOf([event], calendar);
        const [entry] = read(text);
        expect(entry?.summary).toBe(event.state === "draft" ? undefined : event.title);
        expect(await textOf([event], calendar)).toBe(text);
        for (const line of text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
      }),
    );
  });
});

describe("the input of newevent", () => {
  const now = new Date("2036-04-12T18:59:59Z");

  test("is what the client sends, with the venue's clock", async () => {
    expect(newEventInput({ ...full, timeZone: "Europe/London" })).toEqual({
      providerId: 1,
      name: "Lentenacht",
      organiser: "Zaal Noord BV",
      startDate: "2036-04-12",
      startTime: "21:00:00",
      endDate: "2036-04-13",
      endTime: "04:00:00",
      ticketLink: full.ticketLink,
      buildingName: "Zaal Noord",
      streetName: "Noordkade",
      streetNumber: "12",
      zipCode: "1021 AB",
      city: "Amsterdam",
      country: "Nederland",
      posterUrl: full.posterUrl,
      bannerUrl: full.bannerUrl,
      introductionText: full.description,
      genre: "house,techno",
      activated: 1,
      eventKey: "spring-night",
      lineup: "De Artiest,The Other",
      minimumAge: "18",
      price: "24.50",
      videoUrl: full.videoUrl,
      eventLink: full.eventLink,
    } satisfies EventInput);
  });

  test("goes out as the contract has it, whatever the event holds", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const wire = JSON.parse(newEventJson(newEventInput({ ...event, providerId: 7 })));
        expect(wire).toMatchObject({ eventprovider_id: "7", event_key: event.key, event_name: event.title });
      }),
    );
  });

  test("is refused before it is sent where the service would refuse it", () => {
    const faults = (event: ShopEvent, at = now) =>
      newEventFaults(3, rowOf(event), { now: at, providerIds: new Set([1]) }).map(({ field }) => field);
    expect(faults(full)).toEqual([]);
    expect(faults(full, new Date("2036-04-12T19:00:00Z"))).toEqual(["event_start_date"]);
    expect(faults({ ...full, providerId: 2 })).toEqual(["eventprovider_id"]);
    expect(faults(bare)).toEqual(["eventprovider_id"]);
    expect(faults({ ...bare, state: "cancelled" })).toEqual([]);
  });
});

describe("5,000 events", () => {
  /** What a processor works for it, which doesn't hang on what else the machine does. */
  async function processorSecondsOf(work: () => unknown) {
    const begun = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1e6;
  }

  test("are read from a table and checked within two seconds of a processor", async () => {
    const text = await textOf(manyEvents(5000), csv);
    const seconds = await processorSecondsOf(() => {
      const { entries, faults } = readCsv(text);
      expect([entries.length, faults]).toEqual([5000, []]);
    });
    expect(seconds).toBeLessThan(2);
  });

  test.each(Object.entries(formats))(
    "%s is written within two seconds of a processor",
    async (_name, format) => {
      expect(await processorSecondsOf(() => textOf(manyEvents(5000), format))).toBeLessThan(2);
    },
  );

  test.each(Object.entries(formats))(
    "%s asks for an event when the one before is taken",
    async (_name, format) => {
      let asked = 0;
      function* counted() {
        for (const event of manyEvents(5000)) {
          asked += 1;
          yield event;
        }
      }
      let taken = 0;
      for await (const piece of writeEvents(counted(), format)) {
        if (taken < 5000) expect(asked).toBe(++taken);
        expect(piece.length).toBeLessThan(5000);
      }
      expect(asked).toBe(5000);
    },
  );
});
