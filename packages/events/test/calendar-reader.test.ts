import fc from "fast-check";
import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import { type CalendarReadOptions, readICalendar } from "../src/calendar/index.js";
import { dateOfDay, dayNumberOf, daysOf, type Rule, StepBudget } from "../src/calendar/recurrence.js";
import { iCalendar } from "../src/formats/icalendar.js";
import { DEFAULT_TIME_ZONE } from "../src/index.js";
import { anyEvent, bare, full, textOf } from "./shop-events.js";

const from = new Date("2036-01-01T00:00:00Z");
const defaults = { event_organiser: "Zaal", ticket_link: "https://zaal.example/tickets" };

const calendar = (...lines: string[]) => ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");
const entry = (...lines: string[]) => ["BEGIN:VEVENT", "UID:1@zaal", "SUMMARY:Jazz", ...lines, "END:VEVENT"];
const read = (lines: string[], options: CalendarReadOptions = {}) =>
  readICalendar(calendar(...lines), { from, defaults, ...options });

const eventsOf = (lines: string[], options: CalendarReadOptions = {}) => {
  const { entries, faults } = read(lines, options);
  expect(faults).toEqual([]);
  return entries.map(({ event }) => event);
};
const timesOf = (lines: string[], options: CalendarReadOptions = {}) =>
  eventsOf(lines, options).map(({ start, end, timeZone }) =>
    [start, end, timeZone === DEFAULT_TIME_ZONE ? undefined : timeZone].filter(Boolean).join(" "),
  );
const startsOf = (lines: string[], options: CalendarReadOptions = {}) =>
  eventsOf(lines, options).map(({ start }) => start);
const faultsOf = (lines: string[], options: CalendarReadOptions = {}) => {
  const { entries, faults } = read(lines, options);
  expect(entries).toEqual([]);
  return faults.map(({ row, field, message, read: text }) => [row, field, message, text]);
};

const IN_AMSTERDAM = "DTSTART;TZID=Europe/Amsterdam:20360412T210000";

/** As Outlook describes Amsterdam's zone. */
const westernEurope = [
  "BEGIN:VTIMEZONE",
  "TZID:W. Europe Standard Time",
  "BEGIN:STANDARD",
  "DTSTART:16010101T030000",
  "TZOFFSETFROM:+0200",
  "TZOFFSETTO:+0100",
  "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10",
  "END:STANDARD",
  "BEGIN:DAYLIGHT",
  "DTSTART:16010101T020000",
  "TZOFFSETFROM:+0100",
  "TZOFFSETTO:+0200",
  "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3",
  "END:DAYLIGHT",
  "END:VTIMEZONE",
];
const fixedZone = (name: string, offset: string) => [
  "BEGIN:VTIMEZONE",
  `TZID:${name}`,
  "BEGIN:STANDARD",
  "DTSTART:19700101T000000",
  `TZOFFSETFROM:${offset}`,
  `TZOFFSETTO:${offset}`,
  "END:STANDARD",
  "END:VTIMEZONE",
];

describe("an event of a calendar", () => {
  test("has the texts, links, state and times of its entry", () => {
    const [event] = eventsOf([
      ...entry(
        IN_AMSTERDAM,
        "DTEND;TZID=Europe/Amsterdam:20360413T040000",
        "DESCRIPTION:Twelve hours of hou",
        " se\\, two floors\\nbring a \\;blanket",
        "LOCATION:Zaal Noord\\nNoordkade 12",
        "URL:https://zaal.example/jazz",
        'ORGANIZER;CN="Zaal Noord, BV":mailto:info@zaal.example',
        "CATEGORIES:house,techno",
        "CATEGORIES:live",
        "LAST-MODIFIED:20360101T120000Z",
        "ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "DESCRIPTION:Soon",
        "TRIGGER:-PT1H",
        "END:VALARM",
      ),
    ]);
    expect(event).toEqual({
      key: "1@zaal",
      title: "Jazz",
      organiser: "Zaal Noord, BV",
      start: "2036-04-12T21:00:00",
      end: "2036-04-13T04:00:00",
      timeZone: "Europe/Amsterdam",
      venue: { name: "Zaal Noord, Noordkade 12" },
      description: "Twelve hours of house, two floors\nbring a ;blanket",
      genres: ["house", "techno", "live"],
      lineup: [],
      ticketLink: defaults.ticket_link,
      eventLink: "https://zaal.example/jazz",
      state: "draft",
      updatedAt: "2036-01-01T12:00:00.000Z",
    });
  });

  test("has its URL as the ticket link if the options have none", () => {
    const lines = entry(IN_AMSTERDAM, "URL:https://zaal.example/jazz");
    const [event] = eventsOf(lines, { defaults: { event_organiser: "Zaal" } });
    expect(event?.ticketLink).toBe("https://zaal.example/jazz");
  });

  test.each([
    ["CONFIRMED", "published"],
    ["CANCELLED", "canceled"],
    ["TENTATIVE", "draft"],
  ])("with the status %s is %s, if calendars are published", (status, state) => {
    const [event] = eventsOf(entry(IN_AMSTERDAM, `STATUS:${status}`), { defaults: { ...defaults, activated: 1 } });
    expect(event?.state).toBe(state);
  });

  test("reports what it lacks, by row and field", () => {
    const faults = faultsOf(["BEGIN:VEVENT", IN_AMSTERDAM, "END:VEVENT"], { defaults: {} });
    expect(faults).toEqual(
      ["event_name", "event_organiser", "ticket_link", "event_key"].map((field) => [
        1,
        field,
        "is required",
        undefined,
      ]),
    );
  });

  test("that is invalid does not hide the others", () => {
    const broken = entry(IN_AMSTERDAM, "a line without a colon");
    const { entries, faults } = read([...broken, ...entry(IN_AMSTERDAM)]);
    expect(entries.map(({ row }) => row)).toEqual([2]);
    expect(faults).toMatchObject([{ row: 1, message: expect.stringContaining("can't be read") }]);
  });

  test.each([
    ["a genre with a comma", [IN_AMSTERDAM, "CATEGORIES:drum\\, bass"], "genre"],
    ["no start", [], "DTSTART"],
    ["two starts", [IN_AMSTERDAM, IN_AMSTERDAM], "DTSTART"],
    ["a day that doesn't exist", ["DTSTART:20360230T200000"], "DTSTART"],
    ["a leap second", ["DTSTART:20360228T235960"], "DTSTART"],
    ["a skipped time", ["DTSTART;TZID=Europe/Amsterdam:20360330T023000"], "event_start_time"],
    ["an end before the start", [IN_AMSTERDAM, "DURATION:-PT1H"], "event_end_date"],
    ["an end of another kind", [IN_AMSTERDAM, "DTEND;VALUE=DATE:20360413"], "DTEND"],
    ["an endless duration", [IN_AMSTERDAM, "DURATION:P99999999999D"], "DURATION"],
    ["a duration of words", [IN_AMSTERDAM, "DURATION:long"], "DURATION"],
    ["a link to a file", [IN_AMSTERDAM, "URL:file:///etc/passwd"], "event_link"],
    ["a rule of seconds", [IN_AMSTERDAM, "RRULE:FREQ=SECONDLY"], "RRULE"],
    ["a rule of hours", [IN_AMSTERDAM, "RRULE:FREQ=HOURLY;COUNT=2"], "RRULE"],
    ["a rule of an ordinal day of the week", [IN_AMSTERDAM, "RRULE:FREQ=WEEKLY;BYDAY=1SA"], "RRULE"],
    ["a rule of the days of a month, by week", [IN_AMSTERDAM, "RRULE:FREQ=WEEKLY;BYMONTHDAY=12"], "RRULE"],
    ["an interval of 0", [IN_AMSTERDAM, "RRULE:FREQ=DAILY;INTERVAL=0;COUNT=3"], "RRULE"],
    ["a negative interval", [IN_AMSTERDAM, "RRULE:FREQ=DAILY;INTERVAL=-1;COUNT=3"], "RRULE"],
    ["a negative count", [IN_AMSTERDAM, "RRULE:FREQ=DAILY;COUNT=-1"], "DTSTART"],
    ["a duration of months", [IN_AMSTERDAM, "DURATION:P1M"], "DURATION"],
    ["a day that lasts hours", ["DTSTART;VALUE=DATE:20360412", "DURATION:PT3H"], "DURATION"],
    ["a rule of weeks of a year", [IN_AMSTERDAM, "RRULE:FREQ=YEARLY;BYWEEKNO=20"], "RRULE"],
    ["a rule of another calendar", [IN_AMSTERDAM, "RRULE:RSCALE=HEBREW;FREQ=YEARLY"], "RRULE"],
    ["a rule of other times", [IN_AMSTERDAM, "RRULE:FREQ=DAILY;BYHOUR=20,21"], "RRULE"],
    ["a rule that lacks the start", [IN_AMSTERDAM, "RRULE:FREQ=WEEKLY;BYDAY=MO"], "DTSTART"],
    ["a rule without a day", [IN_AMSTERDAM, "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"], "DTSTART"],
    ["excluded rules", [IN_AMSTERDAM, "RRULE:FREQ=DAILY", "EXRULE:FREQ=WEEKLY"], "EXRULE"],
    ["excluded dates of a time", [IN_AMSTERDAM, "RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20360413"], "EXDATE"],
    ["periods", [IN_AMSTERDAM, "RDATE;VALUE=PERIOD:20360501T190000Z/PT3H"], "RDATE"],
    ["more than a thousand dates", ["DTSTART:20360101T200000", "RRULE:FREQ=DAILY"], "RRULE"],
    [
      "a change of all later dates",
      [IN_AMSTERDAM, "RECURRENCE-ID;RANGE=THISANDFUTURE:20360412T190000Z"],
      "RECURRENCE-ID",
    ],
  ])("with %s is a fault", (_name, lines, field) => {
    const until = new Date("2040-01-01T00:00:00Z");
    const faults = faultsOf(entry(...lines), { until });
    expect(faults.map(([, name]) => name)).toContain(field);
    expect(faults.map(([row]) => row)).toEqual(faults.map(() => 1));
  });
});

describe("a time of a calendar", () => {
  test.each<[string, string[], string]>([
    ["in UTC is local", ["DTSTART:20360712T190000Z"], "2036-07-12T21:00:00"],
    ["without a zone is local", ["DTSTART:20360712T190000"], "2036-07-12T19:00:00"],
    ["keeps its IANA zone", ["DTSTART;TZID=Europe/London:20360712T190000"], "2036-07-12T19:00:00 Europe/London"],
    ["may have a quoted zone", ['DTSTART;TZID="Asia/Kathmandu":20360712T190000'], "2036-07-12T19:00:00 Asia/Kathmandu"],
    ["ends in another zone", [IN_AMSTERDAM, "DTEND:20360412T220000Z"], "2036-04-12T21:00:00 2036-04-13T00:00:00"],
    ["ends after a duration", [IN_AMSTERDAM, "DURATION:PT2H30M"], "2036-04-12T21:00:00 2036-04-12T23:30:00"],
    [
      "lasts exactly, while clocks go forward",
      ["DTSTART;TZID=Europe/Amsterdam:20360329T230000", "DURATION:PT6H"],
      "2036-03-29T23:00:00 2036-03-30T06:00:00",
    ],
    [
      "lasts for days of any length",
      ["DTSTART;TZID=Europe/Amsterdam:20360329T230000", "DURATION:P1D"],
      "2036-03-29T23:00:00 2036-03-30T23:00:00",
    ],
    ["is the first of two equal ones", ["DTSTART:20361026T003000Z"], "2036-10-26T02:30:00"],
  ])("%s", (_name, lines, expected) => {
    expect(timesOf(entry(...lines))).toEqual([expected]);
  });

  test("that is the second of two equal ones is a fault", () => {
    expect(faultsOf(entry("DTSTART:20361026T013000Z"))).toEqual([
      [1, "DTSTART", expect.stringContaining("second of two equal local times"), "2036-10-26T01:30:00"],
    ]);
  });

  test("in UTC is local in the calendar's zone, or in the one of the options", () => {
    const lines = entry("DTSTART:20360712T190000Z");
    expect(timesOf(["X-WR-TIMEZONE:Europe/London", ...lines])).toEqual(["2036-07-12T20:00:00 Europe/London"]);
    expect(timesOf(["X-WR-TIMEZONE:UTC", ...lines], { timeZone: "Europe/Lisbon" })).toEqual([
      "2036-07-12T20:00:00 Europe/Lisbon",
    ]);
  });

  const outlook = (day: string) => entry(`DTSTART;TZID=W. Europe Standard Time:${day}T210000`);
  test.each(["20360712", "20361212", "20360330", "20361026"])("in a zone without an IANA name is read on %s", (day) => {
    expect(startsOf([...westernEurope, ...outlook(day)])).toEqual([expect.stringContaining("T21:00:00")]);
  });

  test("in a zone without an IANA name is a fault if the options have another zone, or it isn't described", () => {
    const lines = [...westernEurope, ...outlook("20360712")];
    const name = "W. Europe Standard Time";
    expect(faultsOf(lines, { timeZone: "Europe/London" })).toEqual([
      [1, "DTSTART", expect.stringContaining("not in Europe/London"), name],
    ]);
    expect(faultsOf(outlook("20360712"))).toEqual([[1, "DTSTART", expect.stringContaining("doesn't describe"), name]]);
  });

  test("in a zone that only has the same offset in summer is read in summer only", () => {
    const lines = (day: string) => [
      ...fixedZone("South Africa Standard Time", "+0200"),
      ...entry(`DTSTART;TZID=South Africa Standard Time:${day}T210000`),
    ];
    expect(startsOf(lines("20360712"))).toEqual(["2036-07-12T21:00:00"]);
    expect(faultsOf(lines("20361212"))).toEqual([
      [1, "DTSTART", expect.stringContaining("not in Europe/Amsterdam"), "South Africa Standard Time"],
    ]);
  });

  test("in a zone that the calendar describes wrongly is a fault", () => {
    expect(faultsOf([...fixedZone("Europe/Amsterdam", "+0300"), ...entry(IN_AMSTERDAM)])).toEqual([
      [
        1,
        "DTSTART",
        "has the offset +03:00 in the calendar's VTIMEZONE, but +02:00 in Europe/Amsterdam",
        "2036-04-12T21:00:00",
      ],
    ]);
  });

  test("of a whole day needs a start time from the options", () => {
    const lines = entry("DTSTART;VALUE=DATE:20360412", "DTEND;VALUE=DATE:20360414");
    expect(faultsOf(lines)).toEqual([[1, "event_start_time", "is required", undefined]]);
    expect(timesOf(lines, { defaults: { ...defaults, event_start_time: "12:00:00" } })).toEqual([
      "2036-04-12T12:00:00 2036-04-13",
    ]);
  });
});

describe("an earlier event of a calendar", () => {
  test("is omitted, whatever its faults, and a notice counts it", () => {
    const past = entry("DTSTART;TZID=Nowhere:20050412T210000", "URL:x");
    const today = (start: string) => entry(start).map((line) => line.replace("1@zaal", `${start}@zaal`));
    const { entries, faults, notices } = read(
      [
        ...past,
        ...today("DTSTART:20360101T115959Z"),
        ...today("DTSTART:20360101T120000Z"),
        ...today("DTSTART;VALUE=DATE:20360101"),
        ...today("DTSTART;VALUE=DATE:20351231"),
      ],
      { from: new Date("2036-01-01T12:00:00Z"), defaults: { ...defaults, event_start_time: "20:00:00" } },
    );
    expect(faults).toEqual([]);
    expect(entries.map(({ row }) => row)).toEqual([3, 4]);
    expect(notices).toEqual([
      { row: 1, field: "DTSTART", message: "is before 2036-01-01 in 3 events, which were omitted" },
    ]);
  });
});

describe("a repeating event of a calendar", () => {
  const weekly = ["DTSTART;TZID=Europe/Amsterdam:20360303T200000", "RRULE:FREQ=WEEKLY;COUNT=6"];

  test("is an event on each date, at the same local time, with a key of its own", () => {
    const events = eventsOf(entry(...weekly, "DURATION:PT2H"));
    expect(events.map(({ key, start, end }) => [key, start, end]).slice(3, 5)).toEqual([
      ["1@zaal/20360324T190000Z", "2036-03-24T20:00:00", "2036-03-24T22:00:00"],
      ["1@zaal/20360331T180000Z", "2036-03-31T20:00:00", "2036-03-31T22:00:00"],
    ]);
  });

  test("omits excluded dates, and adds others", () => {
    expect(
      startsOf(
        entry(
          ...weekly,
          "EXDATE;TZID=Europe/Amsterdam:20360310T200000,20360317T200000",
          "EXDATE:20360331T180000Z",
          "RDATE;TZID=Europe/Amsterdam:20360401T200000",
          "RDATE;TZID=Europe/Amsterdam:20360324T200000",
        ),
      ),
    ).toEqual(["2036-03-03T20:00:00", "2036-03-24T20:00:00", "2036-04-01T20:00:00", "2036-04-07T20:00:00"]);
  });

  test("has moved and canceled dates as they are now, with the same keys", () => {
    const moved = [
      "BEGIN:VEVENT",
      "UID:1@zaal",
      "RECURRENCE-ID:20360310T190000Z",
      "DTSTART;TZID=Europe/Amsterdam:20360311T213000",
      "SUMMARY:Jazz, a day later",
      "END:VEVENT",
      "BEGIN:VEVENT",
      "UID:1@zaal",
      "RECURRENCE-ID;TZID=Europe/Amsterdam:20360317T200000",
      "DTSTART;TZID=Europe/Amsterdam:20360317T200000",
      "STATUS:CANCELLED",
      "SUMMARY:Jazz",
      "END:VEVENT",
    ];
    const events = eventsOf([...entry(...weekly), ...moved]);
    expect(events.map(({ key }) => key)).toHaveLength(6);
    const one = (key: string) => events.find((event) => event.key === key);
    expect(one("1@zaal/20360310T190000Z")).toMatchObject({ start: "2036-03-11T21:30:00", title: "Jazz, a day later" });
    expect(one("1@zaal/20360317T190000Z")).toMatchObject({ start: "2036-03-17T20:00:00", state: "canceled" });
  });

  test.each<[string, string, string[]]>([
    ["UTC, inclusive", "20360317T190000Z", ["03", "10", "17"]],
    ["UTC, a second less", "20360317T185959Z", ["03", "10"]],
    ["a date", "20360317", ["03", "10", "17"]],
    ["local time", "20360317T200000", ["03", "10", "17"]],
  ])("ends at its UNTIL in %s", (_name, until, days) => {
    const lines = entry("DTSTART;TZID=Europe/Amsterdam:20360303T200000", `RRULE:FREQ=WEEKLY;UNTIL=${until}`);
    expect(startsOf(lines)).toEqual(days.map((day) => `2036-03-${day}T20:00:00`));
  });

  test("without an end is read in the period only, and a notice says so", () => {
    const lines = entry("DTSTART;TZID=Europe/Amsterdam:20060103T200000", "RRULE:FREQ=WEEKLY");
    const { entries, notices } = read(lines, { until: new Date("2036-02-01T00:00:00Z") });
    const days = ["2036-01-01", "2036-01-08", "2036-01-15", "2036-01-22", "2036-01-29"];
    expect(entries.map(({ event }) => event.start.slice(0, 10))).toEqual(days);
    expect(notices).toEqual([
      { row: 1, field: "RRULE", message: "repeats: 5 dates from 2036-01-01 to 2036-02-01 were read", read: "Jazz" },
    ]);
  });

  test("reports a fault once, not on each date", () => {
    expect(faultsOf(entry(...weekly), { defaults: { ticket_link: defaults.ticket_link } })).toEqual([
      [1, "event_organiser", "is required", undefined],
    ]);
  });

  test("skips no date on which clocks skip its time, but reports it", () => {
    const lines = entry("DTSTART;TZID=Europe/Amsterdam:20360329T023000", "RRULE:FREQ=DAILY;COUNT=3");
    const { entries, faults } = read(lines);
    expect(entries.map(({ event }) => event.start)).toEqual(["2036-03-29T02:30:00", "2036-03-31T02:30:00"]);
    expect(faults).toMatchObject([{ row: 1, field: "event_start_time" }]);
  });
});

describe("a rule", () => {
  const ruleOf = (text: string): Rule => ICAL.parse(`BEGIN:VEVENT\r\nRRULE:${text}\r\nEND:VEVENT`)[1][0][3];

  const daysOfRule = (text: string, start: string, count: number) => {
    const rule = ruleOf(text);
    const first = dayNumberOf(start);
    const days: string[] = [];
    for (const day of daysOf(rule, { first, from: first, until: first + 40_000 }, new StepBudget(1_000_000))) {
      days.push(dateOfDay(day));
      if (days.length === count) break;
    }
    return days;
  };

  // Each from RFC 5545, section 3.8.5.3, and from calendars whose rules libraries read wrongly.
  test.each<[string, string, string[]]>([
    ["FREQ=MONTHLY;BYDAY=1FR", "1997-09-05", ["1997-09-05", "1997-10-03", "1997-11-07"]],
    ["FREQ=MONTHLY;INTERVAL=2;BYDAY=1SU,-1SU", "1997-09-07", ["1997-09-07", "1997-09-28", "1997-11-02", "1997-11-30"]],
    ["FREQ=MONTHLY;BYDAY=-2MO", "1997-09-22", ["1997-09-22", "1997-10-20", "1997-11-17"]],
    ["FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28", ["1997-09-28", "1997-10-29", "1997-11-28"]],
    ["FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1998-02-13", ["1998-02-13", "1998-03-13", "1998-11-13", "1999-08-13"]],
    ["FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996-11-05", ["1996-11-05", "2000-11-07"]],
    ["FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04", ["1997-09-04", "1997-10-07", "1997-11-06"]],
    ["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997-09-29", ["1997-09-29", "1997-10-30", "1997-11-27"]],
    ["FREQ=YEARLY;BYDAY=20MO", "1997-05-19", ["1997-05-19", "1998-05-18", "1999-05-17"]],
    [
      "FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200",
      "1997-01-01",
      ["1997-01-01", "1997-04-10", "1997-07-19", "2000-01-01"],
    ],
    [
      "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
      "1997-08-05",
      ["1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"],
    ],
    [
      "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
      "1997-08-05",
      ["1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"],
    ],
    ["FREQ=YEARLY", "2036-02-29", ["2036-02-29", "2040-02-29", "2044-02-29"]],
    ["FREQ=YEARLY;BYMONTH=4,6;BYMONTHDAY=30", "2036-04-30", ["2036-04-30", "2036-06-30", "2037-04-30"]],
    ["FREQ=MONTHLY", "2036-01-31", ["2036-01-31", "2036-03-31", "2036-05-31"]],
  ])("%s from %s", (rule, start, days) => {
    expect(daysOfRule(rule, start, days.length)).toEqual(days);
  });

  test("has the days that another program computes", () => {
    const interval = fc.integer({ min: 1, max: 5 });
    const weekdays = fc.uniqueArray(fc.constantFrom("MO", "TU", "WE", "TH", "FR", "SA", "SU"), { minLength: 1 });
    const ordinal = fc.tuple(fc.constantFrom(1, 2, 3, 4, -1, -2), fc.constantFrom("MO", "WE", "FR", "SU"));
    const rules = fc.oneof(
      interval.map((step) => `FREQ=DAILY;INTERVAL=${step}`),
      fc
        .tuple(interval, weekdays, fc.constantFrom("MO", "SU"))
        .map(([step, days, start]) => `FREQ=WEEKLY;INTERVAL=${step};BYDAY=${days};WKST=${start}`),
      fc
        .tuple(interval, fc.integer({ min: 1, max: 28 }))
        .map(([step, day]) => `FREQ=MONTHLY;INTERVAL=${step};BYMONTHDAY=${day}`),
      fc.tuple(interval, ordinal).map(([step, day]) => `FREQ=MONTHLY;INTERVAL=${step};BYDAY=${day.join("")}`),
      fc
        .tuple(ordinal, fc.integer({ min: 1, max: 12 }))
        .map(([day, month]) => `FREQ=YEARLY;BYMONTH=${month};BYDAY=${day.join("")}`),
    );
    const start = fc.integer({ min: 0, max: 5000 }).map((days) => dateOfDay(dayNumberOf("2030-01-01") + days));
    fc.assert(
      fc.property(rules, start, (text, first) => {
        const [begun = ""] = daysOfRule(text, first, 1);
        // The event starts on a day of its rule.
        fc.pre(begun !== "");
        const dates = ICAL.Recur.fromString(text).iterator(ICAL.Time.fromDateString(begun));
        const theirs = Array.from({ length: 20 }, () => dates.next()?.toString());
        expect(daysOfRule(text, begun, 20)).toEqual(theirs);
      }),
      { numRuns: 500 },
    );
  });

  test("skips to a late period with the same days", () => {
    const rules = [
      "FREQ=DAILY;INTERVAL=3",
      "FREQ=WEEKLY;INTERVAL=3",
      "FREQ=MONTHLY;INTERVAL=5",
      "FREQ=YEARLY;INTERVAL=3",
    ];
    for (const text of rules) {
      const rule = ruleOf(text);
      const [first, from, until] = ["2000-01-05", "2036-01-01", "2046-01-01"].map(dayNumberOf) as [
        number,
        number,
        number,
      ];
      const days = (begin: number) => [...daysOf(rule, { first, from: begin, until }, new StepBudget(1_000_000))];
      expect(days(from)).toEqual(days(first).filter((day) => day >= from));
      expect(days(from)).not.toEqual([]);
    }
  });
});

describe("writing a calendar and reading it", () => {
  test("returns the times, texts and links of any event", async () => {
    const timeZones = [
      "Europe/Amsterdam",
      "Europe/London",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
    ];
    await fc.assert(
      fc.asyncProperty(anyEvent, async (event) => {
        const published = { ...event, state: "published", genres: [] } as const;
        const text = await textOf([published], iCalendar({ name: "Shows", at: from, timeZones }));
        const { entries, faults } = readICalendar(text, {
          from: new Date(0),
          timeZone: event.timeZone,
          defaults: { event_organiser: event.organiser, ticket_link: event.ticketLink, activated: 1 },
        });
        expect(faults).toEqual([]);
        const [read] = entries.map((each) => each.event);
        expect(read).toMatchObject({ start: event.start, timeZone: event.timeZone, state: "published" });
        expect(read?.title).toBe(event.title.replaceAll(/(?![\t])\p{Cc}/gu, "").trim());
        if (event.end?.includes("T")) expect(read?.end).toBe(event.end);
        expect(read?.key).toContain(encodeURIComponent(event.key));
      }),
      { numRuns: 200 },
    );
  });

  test("keeps a canceled state, and one event of each", async () => {
    const text = await textOf([full, { ...bare, state: "canceled" }], iCalendar({ name: "Shows", at: from }));
    const events = readICalendar(text, { from, defaults: { ...defaults, activated: 1 } }).entries;
    expect(events.map(({ event }) => event.state)).toEqual(["published", "canceled"]);
  });

  test("reads bytes that are folded inside a character", () => {
    const bytes = Buffer.from(calendar(...entry(IN_AMSTERDAM, "LOCATION:Café")));
    const at = bytes.indexOf(0xa9);
    const folded = Buffer.concat([bytes.subarray(0, at), Buffer.from("\r\n "), bytes.subarray(at)]);
    expect(readICalendar(folded, { from, defaults }).entries[0]?.event.venue).toEqual({ name: "Café" });
  });
});

describe("a hostile calendar", () => {
  const MEGABYTES = 1024 * 1024;
  const bomb = (count: number, ...lines: string[]) =>
    calendar(
      ...Array.from({ length: count }, (_, index) => [
        "BEGIN:VEVENT",
        `UID:${index}`,
        "SUMMARY:A",
        ...lines,
        "END:VEVENT",
      ]).flat(),
    );

  test.each<[string, () => string, RegExp]>([
    ["more than 16 MiB", () => calendar("X".repeat(17 * MEGABYTES)), /larger than 16 MiB/],
    ["more than 10,000 events", () => bomb(10_001, IN_AMSTERDAM), /more than 10,000 events/],
    [
      "millions of dates",
      () => bomb(1000, "DTSTART:20360101T200000", "RRULE:FREQ=DAILY;COUNT=700"),
      /more than 20000 dates/,
    ],
    [
      "dates that take long to compute",
      () => bomb(9000, "DTSTART:19000101T200000", "RRULE:FREQ=DAILY;COUNT=40000"),
      /too many to compute/,
    ],
    ["another format", () => "<html></html>", /does not begin with BEGIN:VCALENDAR/],
    ["a part", () => calendar(...entry(IN_AMSTERDAM)).slice(0, -20), /without END:VCALENDAR/],
  ])("of %s is refused", (_name, text, message) => {
    expect(() => readICalendar(text(), { from, defaults, maxFaults: 100 })).toThrow(message);
  });

  test.each<[string, () => string]>([
    ["15 million empty lines", () => calendar("\r\n".repeat(7 * MEGABYTES))],
    [
      "a line that is folded 3 million times",
      () => calendar(...entry(`DESCRIPTION:${"a\r\n ".repeat(3 * MEGABYTES)}`)),
    ],
    ["a million parameters", () => calendar(...entry(`SUMMARY${";A=b".repeat(MEGABYTES)}:x`))],
    [
      "many lines with many parameters",
      () =>
        calendar(
          ...Array(200)
            .fill(entry(`SUMMARY${";A=b".repeat(16_000)}:x`))
            .flat(),
        ),
    ],
    ["a million nested components", () => calendar(...entry("BEGIN:X\r\n".repeat(MEGABYTES)))],
    [
      "a million excluded dates",
      () => calendar(...entry(IN_AMSTERDAM, `EXDATE:${"20360101T000000Z,".repeat(800_000)}`)),
    ],
    ["an attachment of 15 MB", () => calendar(...entry(IN_AMSTERDAM, `ATTACH:${"A".repeat(15 * MEGABYTES)}`))],
  ])("with %s is read quickly", (_name, text) => {
    readICalendar(text(), { from, defaults, maxFaults: 100 });
  });

  test("of any lines is read or refused with an error", () => {
    const names = [
      "DTSTART",
      "DTEND",
      "DURATION",
      "RRULE",
      "EXDATE",
      "RDATE",
      "RECURRENCE-ID",
      "UID",
      "STATUS",
      "TZID",
    ];
    const values = [
      "20360101T200000Z",
      "20360101",
      "FREQ=YEARLY;COUNT=3",
      "P1D",
      "x",
      "",
      "-",
      "99999999T999999",
      "FREQ=DAILY;UNTIL=x",
      "FREQ=WEEKLY;BYDAY=99MO",
      "FREQ=MONTHLY;INTERVAL=99999999999999999999",
      "FREQ=YEARLY;INTERVAL=1e9",
    ];
    const line = fc
      .tuple(
        fc.constantFrom(...names),
        fc.constantFrom("", ";VALUE=DATE", ";TZID=Nowhere", ";VALUE=PERIOD"),
        fc.constantFrom(...values),
      )
      .map((parts) => `${parts[0]}${parts[1]}:${parts[2]}`);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const { entries, faults } = readICalendar(calendar(...entry(...lines)), { from, defaults });
        for (const { row } of [...entries, ...faults]) expect(row).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });
});
