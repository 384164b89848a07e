import { cents } from "@giftcard-pay/client";
import fc from "fast-check";
import { isOnClock } from "../src/clock.js";
import { type EventFormat, eventStates, type ShopEvent, writeEvents } from "../src/index.js";

/** An event with all fields. */
export const full: ShopEvent = {
  key: "spring-night",
  title: "Lentenacht",
  organiser: "Zaal Noord BV",
  start: "2036-04-12T21:00:00",
  end: "2036-04-13T04:00:00",
  timeZone: "Europe/Amsterdam",
  venue: {
    name: "Zaal Noord",
    streetName: "Noordkade",
    streetNumber: "12",
    zipCode: "1021 AB",
    city: "Amsterdam",
    country: "Nederland",
  },
  description: 'Twelve hours of house, two floors\n"bring a blanket"',
  genres: ["house", "techno"],
  lineup: ["De Artiest", "The Other"],
  minimumAgeYears: 18,
  priceFromCents: cents(2450),
  posterUrl: "https://tickets.example/poster.jpg",
  bannerUrl: "https://tickets.example/banner.jpg",
  videoUrl: "https://video.example/1",
  ticketLink: "https://tickets.example/spring-night",
  eventLink: "https://zaal.example/spring-night",
  providerId: 1,
  state: "published",
  updatedAt: "2036-01-01T12:00:00.000Z",
};

/** An event with only the required fields. */
export const bare: ShopEvent = {
  key: "bare",
  title: "Herfstjazz",
  organiser: "Zaal Noord BV",
  start: "2036-10-03T20:15:00",
  timeZone: "Europe/Amsterdam",
  venue: {},
  genres: [],
  lineup: [],
  ticketLink: "https://tickets.example/autumn-jazz",
  state: "draft",
};

/** Writes a list in a format. */
export async function textOf(events: Iterable<ShopEvent>, format: EventFormat): Promise<string> {
  let text = "";
  for await (const piece of writeEvents(events, format)) text += piece;
  return text;
}

/** Yields this many events like `full`. */
export function* manyEvents(count: number): Generator<ShopEvent> {
  for (let index = 0; index < count; index++) {
    const day = new Date(Date.UTC(2036, 0, 1 + (index % 300))).toISOString().slice(0, 10);
    yield { ...full, key: `show-${index}`, start: `${day}T20:30:00`, end: `${day}T23:00:00` };
  }
}

const line = (maxLength: number) =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: Math.floor(maxLength / 8) })
    .map((text) => text.replaceAll("\u0000", "").trim())
    .filter((text) => text !== "" && text.length <= maxLength);
const words = fc.array(
  line(40)
    .map((text) => text.replaceAll(",", "").trim())
    .filter((text) => text !== ""),
  { maxLength: 4 },
);
const url = fc.webUrl({ withQueryParameters: true, withFragments: true });
const clock = fc
  .date({ min: new Date("2030-01-01T00:00:00Z"), max: new Date("2039-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));
/** Zones with different daylight saving rules. */
export const timeZone = fc.constantFrom(
  "Europe/Amsterdam",
  "Europe/London",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "UTC",
);
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

/** Any valid event. */
export const anyEvent: fc.Arbitrary<ShopEvent> = fc
  .record({
    key: line(100),
    title: line(255),
    organiser: line(255),
    start: clock,
    end: maybe(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())),
    timeZone,
    venue: fc.record(
      {
        name: line(80),
        streetName: line(80),
        streetNumber: line(40),
        zipCode: line(40),
        city: line(80),
        country: line(80),
      },
      { requiredKeys: [] },
    ),
    description: maybe(
      fc
        .array(line(80), { minLength: 1, maxLength: 3 })
        .chain((lines) => fc.constantFrom(lines.join("\n"), lines.join('\r\n"'))),
    ),
    genres: words,
    lineup: words,
    minimumAgeYears: maybe(fc.integer({ min: 0, max: 99 })),
    priceFromCents: maybe(fc.integer({ min: 0, max: 99_999_999 }).map((value) => cents(value))),
    posterUrl: maybe(url),
    bannerUrl: maybe(url),
    videoUrl: maybe(url),
    ticketLink: url,
    eventLink: maybe(url),
    providerId: maybe(fc.integer({ min: 1, max: 999 })),
    state: fc.constantFrom(...eventStates),
    updatedAt: maybe(
      fc.date({ min: new Date(0), max: new Date("2039-01-01"), noInvalidDate: true }).map((at) => at.toISOString()),
    ),
  })
  .map(({ end, ...event }) => ({ ...withoutAbsent(event), ...endOf(event.start, end) }) as ShopEvent)
  .filter(({ start, end, timeZone }) => [start, end].every((time) => !time || isOnClock(time, timeZone)));

const withoutAbsent = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function endOf(start: string, end: [number, boolean] | undefined) {
  if (!end) return {};
  const [days, withTime] = end;
  const at = new Date(`${start}Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return { end: at.toISOString().slice(0, withTime ? 19 : 10) };
}
