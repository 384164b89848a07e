import { type Cents, cents } from "@giftcard-pay/client";
import { describe, expect, test } from "vitest";
import { checkEvents, checkRows, readProduct, rowOf, type ShopEvent } from "../src/index.js";
import { full } from "./shop-events.js";

const row = rowOf(full);
const faultsOf = (more: Record<string, unknown>) =>
  checkRows([{ row: 2, values: { ...row, ...more } }]).faults.map(({ field, message }) => `${field}: ${message}`);

describe("a row", () => {
  test("reports all faults at once, with what to write instead", () => {
    const wrong = {
      event_name: "  ",
      event_organiser: "x".repeat(256),
      event_start_time: "20:15",
      event_end_date: "2036-02-30",
      ticket_link: "javascript:alert(1)",
      event_price: "24.505",
      minimumage: "grown-up",
      timezone: "+01:00",
      activated: 2,
      state: "gone",
      updated_at: "yesterday",
      colour: "red",
    };
    expect(faultsOf(wrong).sort()).toEqual([
      "activated: is out of range",
      "colour: is not a field of an event",
      "event_end_date: must be a date, yyyy-mm-dd",
      "event_name: is required",
      "event_organiser: must have at most 255 characters",
      "event_price: can mean 24505 euros or 24.505. Write 24505.00 for the first",
      "event_start_time: must be a time, hh:ii:ss",
      "minimumage: must be a number of years, such as 18",
      "state: must be one of draft, published, canceled, withdrawn",
      "ticket_link: must be an http or https address",
      "timezone: must name a time zone, such as Europe/Amsterdam",
      "updated_at: must be a date and time with offset, such as 2036-04-12T21:00:00Z",
    ]);
  });

  test.each([
    [{ timezone: "IST" }, "timezone: must name a time zone, such as Europe/Amsterdam"],
    [{ event_start_date: "0000-01-01" }, "event_start_date: must be a date, yyyy-mm-dd"],
    [
      { updated_at: "9999-12-31T23:59:59-23:00" },
      "updated_at: must be a date and time with offset, such as 2036-04-12T21:00:00Z",
    ],
    [
      { updated_at: "0000-01-01T00:00:00+01:00" },
      "updated_at: must be a date and time with offset, such as 2036-04-12T21:00:00Z",
    ],
  ])("%j can't be stored", (more, fault) => {
    expect(faultsOf(more)).toEqual([fault]);
  });

  test.each([
    [{ event_price: "24,5" }, 2450],
    [{ event_price: "€ 24" }, 2400],
    [{ event_price: 24.1 }, 2410],
    [{ event_price: "0" }, 0],
  ])("%j is a price of %i cents", (more, priceFromCents) => {
    const [entry] = checkRows([{ row: 1, values: { ...row, ...more } }]).entries;
    expect(entry?.event).toMatchObject({ priceFromCents });
  });

  test("without a key is faulty, or gets a key from its content, which must be unique", () => {
    const { event_key: _key, ...keyless } = row;
    const rows = [2, 3].map((number) => ({ row: number, values: keyless }));
    expect(checkRows(rows).faults).toMatchObject([
      { row: 2, field: "event_key", message: "is required" },
      { row: 3, field: "event_key", message: "is required" },
    ]);
    const keyOf = (content: object) => JSON.stringify(content);
    expect(checkRows(rows, { keyOf }).faults).toEqual([
      { row: 3, field: "event_key", message: "is required: rows 2 and 3 have the same content" },
    ]);
  });

  test("keeps the key from its content when its state or update time changes", () => {
    const { event_key: _key, ...keyless } = row;
    const keyOf = (content: object) => JSON.stringify(content);
    const keys = [{}, { state: "canceled", activated: 0 }, { state: "withdrawn" }, { updated_at: undefined }].map(
      (more) => checkRows([{ row: 1, values: { ...keyless, ...more } }], { keyOf }).entries[0]?.event.key,
    );
    expect(keys[0]).toContain("Lentenacht");
    expect(new Set(keys).size).toBe(1);
  });

  test.each([
    [{ activated: undefined, state: undefined }, "draft"],
    [{ activated: "0" }, "draft"],
    [{ activated: "1" }, "published"],
    [{ activated: 1, state: "canceled" }, "canceled"],
    [{ activated: 0, state: "published" }, "published"],
    [{ activated: "", state: "withdrawn" }, "withdrawn"],
  ])("with %j is %s", (more, state) => {
    const [entry] = checkRows([{ row: 1, values: { ...row, ...more } }]).entries;
    expect(entry?.event.state).toBe(state);
  });

  test("with the key of other rows is reported with the first of them", () => {
    const { entries, faults } = checkRows([2, 5, 9].map((number) => ({ row: number, values: row })));
    expect(entries.map((entry) => entry.row)).toEqual([2]);
    expect(faults).toEqual([
      { row: 5, field: "event_key", message: "is also the key of row 2" },
      { row: 9, field: "event_key", message: "is also the key of row 2" },
    ]);
  });
});

describe("a time", () => {
  const at = (date: string, time: string, timezone: string) =>
    faultsOf({
      event_start_date: date,
      event_start_time: time,
      event_end_date: undefined,
      event_end_time: undefined,
      timezone,
    });

  test.each([
    ["2036-03-30", "02:30:00", "Europe/Amsterdam"],
    ["2036-03-09", "02:00:00", "America/New_York"],
  ])("%s %s is skipped by the clocks of %s", (date, time, zone) => {
    expect(at(date, time, zone)).toEqual([expect.stringContaining("event_start_time: doesn't exist on that day")]);
  });

  test.each([
    ["2036-03-30", "02:30:00", "Europe/London"],
    ["2036-03-30", "03:00:00", "Europe/Amsterdam"],
    ["2036-03-30", "00:00:00", "Europe/Amsterdam"],
    ["2036-10-26", "02:30:00", "Europe/Amsterdam"],
  ])("%s %s is on the clocks of %s", (date, time, zone) => {
    expect(at(date, time, zone)).toEqual([]);
  });

  test.each(["", undefined, "24:00:00", "20:15", "8 pm"])("%j is not a valid start time", (time) => {
    expect(faultsOf({ event_start_time: time })).toEqual([
      time ? "event_start_time: must be a time, hh:ii:ss" : "event_start_time: is required",
    ]);
  });

  test.each([
    [{ event_end_date: "2036-04-13", event_end_time: "00:00:00" }, []],
    [{ event_end_date: "2036-04-12", event_end_time: "21:00:00" }, []],
    [{ event_end_date: "2036-04-12", event_end_time: "20:59:59" }, ["event_end_date: must not be before the start"]],
    [{ event_end_date: "2036-04-11", event_end_time: "" }, ["event_end_date: must not be before the start"]],
    [{ event_end_date: "", event_end_time: "23:00:00" }, ["event_end_date: is required with an end time"]],
    [{ event_end_date: "2036-04-12", event_end_time: "" }, []],
  ])("the end %j has the expected faults", (end, faults) => {
    expect(faultsOf(end)).toEqual(faults);
  });
});

describe("an event from a program", () => {
  test("has its faults reported with the model's names", () => {
    const wrong = {
      ...full,
      genres: ["drum, bass"],
      lineup: ["A, B"],
      title: "",
      venue: { city: "x".repeat(256) },
    };
    expect(checkEvents([full, wrong]).faults).toEqual(
      [
        {
          row: 2,
          field: "genres",
          message: "must not contain a comma, which separates values in the interface",
        },
        {
          row: 2,
          field: "lineup",
          message: "must not contain a comma, which separates values in the interface",
        },
        { row: 2, field: "title", message: "is required" },
        { row: 2, field: "venue.city", message: "must have at most 255 characters" },
        { row: 2, field: "key", message: "is also the key of row 1" },
      ].filter(({ field }) => field !== "key"),
    );
  });
});

test.each<[Partial<Record<"start" | "end", unknown>>, string[]]>([
  [{ start: "2036-04-12" }, ["start must be a day and a time, yyyy-mm-ddThh:mm:ss"]],
  [{ start: "2036-04-12T21:00:00T" }, ["start must be a day and a time, yyyy-mm-ddThh:mm:ss"]],
  [{ start: "2036-04-12T21:00:00Z" }, ["start must be a time, hh:ii:ss"]],
  [{ start: "2036-04-12T21:00:00+02:00" }, ["start must be a time, hh:ii:ss"]],
  [{ start: "2036-02-30T21:00:00" }, ["start must be a date, yyyy-mm-dd"]],
  [{ start: "" }, ["start is required"]],
  [{ start: undefined }, ["start is required"]],
  [{ end: "2036-04-13T" }, ["end must be a day, yyyy-mm-dd, or a day and a time, yyyy-mm-ddThh:mm:ss"]],
  [{ end: "2036-04-12T20:00:00" }, ["end must not be before the start"]],
  [{ end: "2036-04-13" }, []],
])("an event with the times %j has the expected faults", (times, faults) => {
  const reading = checkEvents([{ ...full, ...times } as ShopEvent]);
  expect(reading.entries).toHaveLength(faults.length === 0 ? 1 : 0);
  expect([...new Set(reading.faults.map(({ field, message }) => `${field} ${message}`))]).toEqual(faults);
});

describe("a shop's product", () => {
  const product = {
    id: "prod_1",
    title: "Lentenacht",
    description: null,
    pictureUrls: ["https://shop.example/1.jpg"],
    lowestPriceCents: full.priceFromCents,
    link: "https://shop.example/lentenacht",
  };
  const details = { organiser: "Zaal Noord BV", state: "published", venue: full.venue } as const;

  test("becomes one event per date, with the product's own fields", () => {
    const { entries, faults } = readProduct(product, {
      ...details,
      title: "Lentenacht in Noord",
      dates: [
        { id: "variant_1", start: "2036-04-12T21:00:00" },
        {
          id: "variant_2",
          start: "2036-04-13T21:00:00",
          state: "canceled",
          ticketLink: "https://shop.example/lentenacht?date=2",
          updatedAt: "2036-01-02T00:00:00.000Z",
        },
      ],
    });
    expect(faults).toEqual([]);
    expect(entries.map(({ event }) => event)).toEqual([
      {
        key: "prod_1:variant_1",
        title: "Lentenacht in Noord",
        organiser: "Zaal Noord BV",
        start: "2036-04-12T21:00:00",
        timeZone: "Europe/Amsterdam",
        venue: full.venue,
        genres: [],
        lineup: [],
        posterUrl: "https://shop.example/1.jpg",
        ticketLink: "https://shop.example/lentenacht",
        priceFromCents: 2450,
        state: "published",
      },
      expect.objectContaining({
        key: "prod_1:variant_2",
        state: "canceled",
        priceFromCents: 2450,
        ticketLink: "https://shop.example/lentenacht?date=2",
        updatedAt: "2036-01-02T00:00:00.000Z",
      }),
    ]);
  });

  test("takes the price from the date, otherwise from the details, otherwise from the product", () => {
    const pricesOf = (more: { priceFromCents?: Cents }) =>
      readProduct(product, {
        ...details,
        ...more,
        dates: [
          { id: "a", start: "2036-04-12T21:00:00", lowestPriceCents: cents(100) },
          { id: "b", start: "2036-04-13T21:00:00" },
        ],
      }).entries.map(({ event }) => event.priceFromCents);
    expect(pricesOf({})).toEqual([100, 2450]);
    expect(pricesOf({ priceFromCents: cents(300) })).toEqual([100, 300]);
  });

  test("is faulty if two dates have no id", () => {
    const dates = [{ start: "2036-04-12T21:00:00" }, { start: "soon" }, { start: "2036-04-12T21:00:00" }];
    expect(readProduct(product, { ...details, dates }).faults).toEqual([
      { row: 2, field: "start", message: "must be a day and a time, yyyy-mm-ddThh:mm:ss" },
      { row: 3, field: "key", message: "is also the key of row 1" },
    ]);
  });
});
