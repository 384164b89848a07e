import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DateOrder, readCsv } from "../src/formats/csv.js";
import { TableError } from "../src/formats/table.js";
import { checkRows, rowOf } from "../src/index.js";
import { full } from "./shop-events.js";

const NAMES = ["event_key", "event_name", "event_organiser", "event_start_date", "event_start_time", "ticket_link"];
const CELLS: Record<string, string> = {
  event_key: "jazz",
  event_name: "Jazz",
  event_organiser: "Zaal",
  event_start_date: "2036-10-26",
  event_start_time: "19:30:00",
  ticket_link: "https://zaal.example/jazz",
};

/** Reads a table with one event, whose other cells are right. */
const readWith = (cells: Record<string, string>, options = {}) => {
  const row = { ...CELLS, ...cells };
  const quoted = (values: string[]) => values.map((value) => `"${value.replaceAll('"', '""')}"`).join(",");
  return readCsv(`${quoted(Object.keys(row))}\n${quoted(Object.values(row))}\n`, options);
};

const eventOf = async (cells: Record<string, string>, options = {}) => {
  const { entries, faults } = await readWith(cells, options);
  expect(faults).toEqual([]);
  return entries[0]?.event;
};

const faultOf = async (cells: Record<string, string>, options = {}) => {
  const { entries, faults } = await readWith(cells, options);
  expect(entries).toEqual([]);
  return faults;
};

describe("a time", () => {
  test.each([
    ["19:30", "19:30:00"],
    ["19:30:15", "19:30:15"],
    ["19.30", "19:30:00"],
    ["19.30.00", "19:30:00"],
    ["19h30", "19:30:00"],
    ["19 h 30", "19:30:00"],
    ["19h", "19:00:00"],
    ["19u30", "19:30:00"],
    ["19:30 uur", "19:30:00"],
    ["19.30 Uhr", "19:30:00"],
    ["19 Uhr", "19:00:00"],
    ["9:05", "09:05:00"],
    ["7:30 PM", "19:30:00"],
    ["7:30:00 PM", "19:30:00"],
    ["07:30\u202fpm", "19:30:00"],
    ["7 p.m.", "19:00:00"],
    ["7.30 am", "07:30:00"],
    ["12:15 AM", "00:15:00"],
    ["12:15 PM", "12:15:00"],
    ["0:00", "00:00:00"],
  ])("%s is %s", async (text, time) => {
    expect((await eventOf({ event_start_time: text }))?.start).toBe(`2036-10-26T${time}`);
  });

  test.each([
    "19",
    "19:3",
    "19.5",
    "24:00",
    "19:60",
    "13:00 PM",
    "0:30 AM",
    "0,8125",
    "half acht",
    "19:30.15",
    "-1:00",
  ])("%s is a fault", async (text) => {
    expect(await faultOf({ event_start_time: text })).toMatchObject([
      { row: 2, field: "event_start_time", read: text, message: expect.stringContaining("must be a time") },
    ]);
  });

  test("that clocks skip is a fault, and the first of two equal ones is meant", async () => {
    expect(await faultOf({ event_start_date: "30-03-2036", event_start_time: "2.30" })).toMatchObject([
      { field: "event_start_time", read: "2.30", message: expect.stringContaining("clocks skip this hour") },
    ]);
    const twice = await eventOf({ event_start_date: "26/10/2036", event_start_time: "2h30" });
    expect(twice?.start).toBe("2036-10-26T02:30:00");
  });
});

describe("a date", () => {
  const day = async (text: string, dates?: DateOrder) =>
    (await eventOf({ event_start_date: text }, { dates }))?.start.slice(0, 10);

  test.each([
    ["2036-10-26", undefined],
    ["2036/10/26", undefined],
    ["26-10-2036", undefined],
    ["26.10.2036", undefined],
    ["26/10/2036", undefined],
    ["26/10/2036", "day-first"],
    ["10/26/2036", "month-first"],
    ["26.10.2036", "month-first"],
    ["2036-10-26", "month-first"],
  ] as const)("%s, read with the order %s, is 26 October", async (text, order) => {
    expect(await day(text, order)).toBe("2036-10-26");
  });

  test.each([
    ["5.10.2036", undefined, "2036-10-05"],
    ["05-10-2036", "day-first", "2036-10-05"],
    ["5/10/2036", "day-first", "2036-10-05"],
    ["5/10/2036", "month-first", "2036-05-10"],
    ["05-05-2036", undefined, "2036-05-05"],
  ] as const)("%s, read with the order %s, is %s", async (text, order, date) => {
    expect(await day(text, order)).toBe(date);
  });

  test.each([
    ["05-10-2036", undefined, "can mean 2036-10-05 or 2036-05-10"],
    ["5/10/2036", undefined, "can mean 2036-10-05 or 2036-05-10"],
    ["10/26/2036", undefined, "has the month first. Write 2036-10-26"],
    ["10-26-2036", undefined, "has the month first. Write 2036-10-26"],
    ["10/26/2036", "day-first", "must be a date"],
    ["26/10/2036", "month-first", "must be a date"],
    ["26-10-36", undefined, "must be a date"],
    ["26-10/2036", undefined, "must be a date"],
    ["30.02.2036", undefined, "must be a date"],
    ["31/31/2036", undefined, "must be a date"],
    ["49975", undefined, "must be a date"],
    ["2036-10-26 00:00:00", undefined, "must be a date"],
  ] as const)("%s, read with the order %s, is a fault: %s", async (text, dates, message) => {
    expect(await faultOf({ event_start_date: text }, { dates })).toMatchObject([
      { row: 2, field: "event_start_date", read: text, message: expect.stringContaining(message) },
    ]);
  });

  test("is never read as another one, whatever the form", async () => {
    const parts = fc.record({
      day: fc.integer({ min: 1, max: 31 }),
      month: fc.integer({ min: 1, max: 12 }),
      separator: fc.constantFrom("-", "/", "."),
      isDayFirst: fc.boolean(),
      dates: fc.constantFrom(undefined, "day-first" as const, "month-first" as const),
    });
    await fc.assert(
      fc.asyncProperty(parts, async ({ day, month, separator, isDayFirst, dates }) => {
        // Nobody writes dots with the month first, and an order that the author names is the author's.
        fc.pre(separator !== "." || isDayFirst);
        fc.pre(dates === undefined || (dates === "day-first") === isDayFirst);
        const text = (isDayFirst ? [day, month, 2036] : [month, day, 2036]).join(separator);
        const date = `2036-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
        const { entries } = await readWith({ event_start_date: text }, { dates });
        for (const { event } of entries) expect(event.start.slice(0, 10)).toBe(date);
      }),
      { numRuns: 400 },
    );
  });
});

describe("an amount", () => {
  test.each([
    ["1250", 125_000],
    ["12.5", 1250],
    ["12,50", 1250],
    ["€ 12,50", 1250],
    ["€12.50", 1250],
    ["12,50 €", 1250],
    ["EUR 12.50", 1250],
    ["12,50\u00a0EUR", 1250],
    ["€ 12,-", 1200],
    ["1.250,00", 125_000],
    ["1,250.00", 125_000],
    ["1 250,00", 125_000],
    ["1\u202f250,00 €", 125_000],
    ["1'250.00", 125_000],
    ["€ 1.250,5", 125_050],
    ["0", 0],
  ])("%s is %i cents", async (text, cents) => {
    expect((await eventOf({ event_price: text }))?.priceFromCents).toBe(cents);
  });

  test.each(["1.250", "1,250", "1.250.00", "1,25,00", "12.505", "0.250", "$ 12.50", "12,50 GBP", "-5", "1e3", "free"])(
    "%s is a fault",
    async (text) => {
      expect(await faultOf({ event_price: text })).toMatchObject([{ field: "event_price", read: text }]);
    },
  );

  test("that can mean thousands or a fraction names both", async () => {
    expect((await faultOf({ event_price: "1.250" }))[0]?.message).toBe(
      "can mean 1250 euros or 1.250. Write 1250.00 for the first",
    );
  });

  test("of a program's row has the same forms", () => {
    const { entries } = checkRows([{ row: 1, values: { ...rowOf(full), event_price: "1.250,00" } }]);
    expect(entries[0]?.event.priceFromCents).toBe(125_000);
  });
});

describe("yes and no", () => {
  test.each(["1", "x", "X", "yes", "Ja", "j", "OUI", "TRUE", "true", "WAAR", "WAHR", "VRAI"])(
    "%s is yes",
    async (text) => {
      expect((await eventOf({ activated: text }))?.state).toBe("published");
    },
  );
  test.each(["0", "no", "Nee", "nein", "NON", "FALSE", "ONWAAR", "FALSCH", "FAUX", ""])("%j is no", async (text) => {
    expect((await eventOf({ activated: text }))?.state).toBe("draft");
  });
  test.each(["maybe", "2", "-1", "ja!"])("%s is a fault", async (text) => {
    expect(await faultOf({ activated: text })).toMatchObject([{ field: "activated", read: text }]);
  });
  test("a state may have capitals", async () => {
    expect((await eventOf({ state: "Cancelled" }))?.state).toBe("canceled");
  });
});

describe("a table", () => {
  // As Excel, LibreOffice, Numbers and Google Sheets write it in these countries.
  const dutch = [
    "Event Key;Event Name;Event Organiser;Event Start Date;Event Start Time;Event Price;Activated;Ticket Link;Notities",
    "nacht;Café d'été;Zaal Noord BV;26-10-2036;19:30;€ 1.250,00;WAAR;https://zaal.example/nacht;intern",
    ";;;;;;;;",
  ].join("\r\n");
  const german = [
    "EVENT_KEY\tEVENT_NAME\tEVENT_ORGANISER\tEVENT_START_DATE\tEVENT_START_TIME\tEVENT_PRICE\tACTIVATED\tTICKET_LINK\tNotizen",
    "nacht\tCafé d'été\tZaal Noord BV\t26.10.2036\t19:30 Uhr\t1.250,00 €\tWAHR\thttps://zaal.example/nacht\t",
  ].join("\r\n");
  const french = [
    "event-key;event-name;event-organiser;event-start-date;event-start-time;event-price;activated;ticket-link;Remarques",
    "nacht;Café d'été;Zaal Noord BV;26/10/2036;19h30;1 250,00 €;VRAI;https://zaal.example/nacht;",
  ].join("\n");
  const english = [
    "event key,event name,event organiser,event start date,event start time,event price,activated,ticket link,Notes",
    'nacht,Café d\'été,Zaal Noord BV,26/10/2036,7:30 PM,"€1,250.00",TRUE,https://zaal.example/nacht,',
  ].join("\r\n");

  const utf16 = (text: string, littleEndian: boolean) => {
    const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
    return littleEndian ? bytes : bytes.swap16();
  };
  test.each<[string, string | Uint8Array]>([
    ["Dutch, UTF-8 with a BOM", Buffer.from(`\uFEFF${dutch}`)],
    ["Dutch, with its separator named", Buffer.from(`sep=;\r\n${dutch}`)],
    ["Dutch, Windows-1252", Buffer.from(dutch.replaceAll("€", "\u0080"), "latin1")],
    ["German, UTF-16 (Unicode text)", utf16(german, true)],
    ["German, UTF-16, big-endian", utf16(german, false)],
    ["French, UTF-8", Buffer.from(french)],
    ["French, Windows-1252", Buffer.from(french.replaceAll("€", "\u0080"), "latin1")],
    ["English, as a text", english],
    ["English, from an old Mac", Buffer.from(english.replaceAll(/\r\n/g, "\r"))],
  ])("%s has the same event", async (_name, table) => {
    const { entries, faults, notices } = await readCsv(table);
    expect(faults).toEqual([]);
    expect(entries).toEqual([
      {
        row: 2,
        event: {
          key: "nacht",
          title: "Café d'été",
          organiser: "Zaal Noord BV",
          start: "2036-10-26T19:30:00",
          timeZone: "Europe/Amsterdam",
          venue: {},
          genres: [],
          lineup: [],
          ticketLink: "https://zaal.example/nacht",
          priceFromCents: 125_000,
          state: "published",
        },
      },
    ]);
    expect(notices.at(-1)?.message).toBe("is not a field of an event, and was ignored");
  });

  test("that isn't UTF-8 is read as Windows-1252, with a notice that quotes a word", async () => {
    const { notices } = await readCsv(Buffer.from(dutch.replaceAll("€", "\u0080"), "latin1"));
    expect(notices[0]).toMatchObject({ row: 1, read: "Café", message: expect.stringContaining("Windows-1252") });
  });

  test("with tabs may have quotes that don't enclose a cell, as Google Sheets writes them", async () => {
    const names = NAMES.join("\t");
    const titleOf = async (title: string) => {
      const row = NAMES.map((name) => (name === "event_name" ? title : CELLS[name])).join("\t");
      return (await readCsv(`${names}\n${row}\n`)).entries[0]?.event.title;
    };
    expect(await titleOf('Bring a "blanket"')).toBe('Bring a "blanket"');
    expect(await titleOf('"Jazz" live')).toBe('"Jazz" live');
    // As Excel writes them.
    expect(await titleOf('"Bring a ""blanket"""')).toBe('Bring a "blanket"');
  });

  test("without a column takes the value from the defaults, which a cell overrides", async () => {
    const { entries, faults } = await readCsv(
      "event_key,event_name,event_start_date,ticket_link\na,Jazz,2036-10-26,\nb,Pop,,\n",
      {
        defaults: { event_organiser: "Zaal", event_start_time: "20:00:00", ticket_link: "https://zaal.example/" },
      },
    );
    expect(entries.map(({ event }) => [event.key, event.organiser, event.ticketLink])).toEqual([
      ["a", "Zaal", "https://zaal.example/"],
    ]);
    expect(faults).toEqual([{ row: 3, field: "event_start_date", message: "is required" }]);
  });

  test("returns the rows without faults beside the faults", async () => {
    const rows = ["one,26.10.2036", "two,soon", "three,27.10.2036"];
    const others = "Jazz,Zaal,20:00,https://zaal.example";
    const text = `event_key,event_start_date,event_name,event_organiser,event_start_time,ticket_link\n${rows.map((row) => `${row},${others}\n`).join("")}`;
    const { entries, faults } = await readCsv(text);
    expect(entries.map(({ event }) => event.key)).toEqual(["one", "three"]);
    expect(faults).toMatchObject([{ row: 3, field: "event_start_date", read: "soon" }]);
  });

  test("reports an unnamed column only if it has content", async () => {
    const rows = (last: string) => `${NAMES.join(",")},,\n${NAMES.map((name) => CELLS[name]).join(",")},${last},\n`;
    expect((await readCsv(rows(""))).notices).toEqual([]);
    expect((await readCsv(rows("x"))).notices).toMatchObject([{ row: 1, field: "column 7" }]);
  });

  test.each(["#REF!", "#N/A", "#N/B", "#WERT!", "#NAAM?"])("with the error %s reports the cell", async (text) => {
    expect(await faultOf({ city: text })).toMatchObject([{ row: 2, field: "city", read: text }]);
  });

  test.each(["=1+1", '=HYPERLINK("http://x.example","Jazz")', "@SUM(A1)", "=cmd|' /C calc'!A0"])(
    "with the formula %s has a text",
    async (text) => {
      expect((await eventOf({ event_name: text }))?.title).toBe(text);
    },
  );
});

describe("a hostile table", () => {
  const header = NAMES.join(",");
  const row = NAMES.map((name) => CELLS[name]).join(",");
  const MEGABYTES = 1024 * 1024;

  test.each<[string, string, RegExp]>([
    ["a row of 16 million cells", `${header}\n${",".repeat(16 * MEGABYTES)}`, /more than 256 cells/],
    ["a header of 16 million cells", ",".repeat(16 * MEGABYTES), /more than 256 cells/],
    ["16 million lines", `${header}\n${"a\n".repeat(16 * MEGABYTES)}`, /more than 100000 rows/],
    [
      "an open quote before 16 MB",
      `${header}\n"${`${row}\n`.repeat((16 * MEGABYTES) / row.length)}`,
      /line 2: .*A quote may not be closed/,
    ],
  ])("of %s is refused", async (_name, text, message) => {
    await expect(readCsv(text, { maxFaults: 100 })).rejects.toThrow(message);
  });

  test("with a long cell reports a short part of it", async () => {
    const { faults } = await readWith({ event_start_date: "9".repeat(MEGABYTES / 2) });
    expect(faults[0]?.read).toHaveLength(61);
  });

  test("whose rows all have faults reports as many as are asked for, and counts the others", async () => {
    const { faults, omittedFaults } = await readCsv(`${header}\n${"a,,,soon,late,\n".repeat(20_000)}`, {
      maxFaults: 100,
    });
    expect([faults.length, omittedFaults]).toEqual([100, 20_000 * 5 - 100]);
  });

  test("of any bytes is read or refused with an error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await readCsv(bytes).catch((error) => expect(error).toBeInstanceOf(TableError));
      }),
    );
  });
});
