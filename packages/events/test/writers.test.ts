import type { EventInput } from "@giftcard-pay/client";
import fc from "fast-check";
import type { Event as SchemaEvent, WithContext } from "schema-dts";
import { describe, expect, test } from "vitest";
import {
  jsonLd,
  jsonLdOf,
  jsonLdText,
  missingForGoogle,
  newEventFaults,
  newEventInput,
  newEventJson,
  rowOf,
  type ShopEvent,
} from "../src/index.js";
import { anyEvent, bare, full, textOf } from "./shop-events.js";

describe("JSON-LD", () => {
  // The types are schema.org's vocabulary: an unknown property or value doesn't compile.
  const typed = (event: ShopEvent): WithContext<SchemaEvent> => ({
    "@context": "https://schema.org",
    ...jsonLdOf(event),
  });

  test("has all fields of an event, with the venue's offset at that time", () => {
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

  test.each([
    "</script><script>alert(1)</script>",
    "<!-- & -->",
    "line\u2028and\u2029paragraph",
    '🎻 Ünïcode \'n "quotes" \\u003c',
  ])("%j is safe in an HTML page, and parses to the same text", (title) => {
    const text = jsonLdText({ ...full, title });
    expect(text).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(text).name).toBe(title);
  });

  test("omits drafts and withdrawn events, and marks canceled ones", async () => {
    const states = (["draft", "published", "canceled", "withdrawn"] as const).map((state) => ({
      ...full,
      key: state,
      state,
    }));
    const graph: Record<string, string>[] = JSON.parse(await textOf(states, jsonLd))["@graph"];
    expect(graph.map(({ identifier, eventStatus }) => [identifier, eventStatus])).toEqual([
      ["published", "https://schema.org/EventScheduled"],
      ["canceled", "https://schema.org/EventCancelled"],
    ]);
  });

  test("names the fields that Google's search requires", () => {
    expect(missingForGoogle(full)).toEqual([]);
    expect(missingForGoogle(bare)).toEqual(["building_name, streetname or city"]);
  });
});

describe("the input of newevent", () => {
  const now = new Date("2036-04-12T18:59:59Z");

  test("is what the client sends, with local times", async () => {
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

  test("matches the contract for any event", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const wire = JSON.parse(newEventJson(newEventInput({ ...event, providerId: 7 })));
        expect(wire).toMatchObject({ eventprovider_id: "7", event_key: event.key, event_name: event.title });
      }),
    );
  });

  test("is refused before it is sent if the service would refuse it", () => {
    const faults = (event: ShopEvent, at = now) =>
      newEventFaults(3, rowOf(event), { now: at, providerIds: new Set([1]) }).map(({ field }) => field);
    expect(faults(full)).toEqual([]);
    expect(faults(full, new Date("2036-04-12T19:00:00Z"))).toEqual(["event_start_date"]);
    expect(faults({ ...full, providerId: 2 })).toEqual(["eventprovider_id"]);
    expect(faults(bare)).toEqual(["eventprovider_id"]);
    expect(faults({ ...bare, state: "canceled" })).toEqual([]);
    expect(faults({ ...bare, state: "withdrawn" })).toEqual([]);
  });
});
