import path from "node:path";
import { createClient } from "@giftcard-pay/client";
import { endpoints } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.js";
import type { TestCompany, TestService } from "../../../test/support/service.js";
import { attachService } from "../../../test/support/shared-service.js";
import { newEventInput, newEventJson, readJson } from "../src/index.js";
import { type CommandResult, fileOf, removeFiles, run } from "./command.js";

const SAMPLE = path.resolve(import.meta.dirname, "../events.csv");

let service: TestService;
let proxy: FaultProxy;
let company: TestCompany;
let providerId: number;

beforeAll(async () => {
  service = await attachService();
  proxy = await startFaultProxy(service.url);
  providerId = (await service.createProvider("Kaartbureau")).id;
});

afterAll(async () => {
  await removeFiles();
  await proxy?.stop();
  await service?.stop();
});

beforeEach(async () => {
  proxy.clear();
  proxy.seen.length = 0;
  company = await service.createCompany();
});

const settings = () => ({ GIFTCARD_BASE_URL: proxy.url, GIFTCARD_API_KEY: company.apiKey });
const push = (file: string, ...more: string[]) => run(["push", file, "--json", ...more], settings());
const listed = () => createClient({ baseUrl: service.url, apiKey: company.apiKey }).listEvents();
const sent = () => proxy.seen.filter(({ operation }) => operation === "newevent");
const outcomes = (result: CommandResult) => result.json().events.map(({ outcome }: { outcome: string }) => outcome);

const event = (name: string, more: object = {}) => ({
  eventprovider_id: String(providerId),
  event_name: name,
  event_organiser: "Zaal BV",
  event_start_date: "2099-06-01",
  event_start_time: "20:30:00",
  ticket_link: "https://tickets.example.nl/1",
  ...more,
});
const many = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => event(`Event ${index}`, more));

describe("push", () => {
  test("creates the sample's events, and reports each with its id", async () => {
    const result = await push(SAMPLE);
    expect(result.exitCode).toBe(0);
    const events = await listed();
    expect(result.json()).toEqual({
      file: SAMPLE,
      notices: [],
      created: 3,
      existing: 0,
      unknown: 0,
      refused: 0,
      not_sent: 0,
      past: 0,
      canceled: 0,
      withdrawn: 0,
      drafts: 1,
      events: ["spring-night", "summer-picnic", "autumn-jazz"].map((eventKey, index) => ({
        row: index + 2,
        eventKey,
        title: events[index]?.title,
        outcome: "created",
        id: events[index]?.id,
      })),
    });
    expect(events[1]).toMatchObject({
      title: "Zomerpicknick",
      description: 'Bring a "blanket"',
      location: "Noorderpark, 1022 CD Amsterdam, Nederland",
    });
  });

  test("creates nothing the second time, and reports the same events as existing", async () => {
    const first = (await push(SAMPLE)).json();
    const second = (await push(SAMPLE)).json();
    expect(second).toMatchObject({ created: 0, existing: 3 });
    const numbers = ({ events }: typeof first) => events.map(({ id }: { id: number }) => id);
    expect(numbers(second)).toEqual(numbers(first));
    expect(await listed()).toHaveLength(3);
    expect((await run(["push", SAMPLE], settings())).stdout).toContain(
      "Existing events stay as they are: changes in the file aren't sent.",
    );
  });

  test("creates nothing after the service has forgotten the response", { tags: "long" }, async () => {
    await push(SAMPLE);
    const db = new pg.Client({ connectionString: service.databaseUrl });
    await db.connect();
    await db.query("update idempotency_keys set created_at = created_at - interval '48 hours' where company_id = $1", [
      company.companyId,
    ]);
    await db.end();
    expect((await push(SAMPLE)).json()).toMatchObject({ created: 0, existing: 3 });
    expect(await listed()).toHaveLength(3);
  });

  test("creates only the rows that were added to a file without event_keys", { tags: "long" }, async () => {
    const before = many(30);
    expect((await push(await fileOf("events.json", before))).json()).toMatchObject({ created: 30 });
    const after = [event("First"), ...before, event("Last", { event_key: "last" })];
    const result = await push(await fileOf("events.json", after));
    expect(outcomes(result)).toEqual(["created", ...before.map(() => "existing"), "created"]);
    expect((await listed()).map(({ title }) => title).slice(30)).toEqual(["First", "Last"]);
  });

  test("reports drafts; a draft that is published later is the same event, even without an event_key", async () => {
    const drafts = await push(await fileOf("events.json", many(2)));
    expect(drafts.json()).toMatchObject({ created: 2, drafts: 2 });
    expect(drafts.stderr).toContain("2 of 2 events are drafts: their activated isn't 1.");
    const published = await push(await fileOf("events.json", many(2, { activated: 1 })));
    expect(published.json()).toMatchObject({ created: 0, existing: 2, drafts: 0 });
    expect(published.stderr).not.toContain("drafts");
  });

  test("skips the events of a season that have begun", { tags: "long" }, async () => {
    const season = [event("Over", { event_start_date: "2020-06-01" }), event("To come")];
    const result = await push(await fileOf("events.json", season));
    expect([result.exitCode, outcomes(result)]).toEqual([0, ["past", "created"]]);
    expect(result.stderr).toContain("1 of 2 events have begun");
    expect((await listed()).map(({ title }) => title)).toEqual(["To come"]);
  });

  test.each<[string, "busy" | "cut-after", string]>([
    ["is reported as not sent if the service is busy, then unreachable", "busy", "not_sent"],
    ["is reported as unknown if its response is lost, then the service is unreachable", "cut-after", "unknown"],
  ])("an event %s", { tags: "long" }, async (_, fault, outcome) => {
    proxy.set("newevent", fault, 1);
    const file = await fileOf("events.json", many(1));
    const pushing = push(file, "--retries", "1");
    await expect.poll(() => sent().length).toBe(1);
    await proxy.listen(false);
    const result = await pushing.finally(() => proxy.listen(true));
    expect([result.exitCode, outcomes(result)]).toEqual([4, [outcome]]);
    expect((await push(file)).json()).toMatchObject(fault === "busy" ? { created: 1 } : { existing: 1 });
  });

  test("recognizes an event in CSV and JSON, in any order of columns", { tags: "long" }, async () => {
    const csv = `ticket_link;event_start_time;event_start_date;event_organiser;event_name;eventprovider_id\r\n;;;;;\r\nhttps://tickets.example.nl/1;20:30:00;2099-06-01;"Zaal BV";Nacht;${providerId}\r\n`;
    const first = await push(await fileOf("events.csv", `\ufeff${csv}`));
    expect(first.json().events).toMatchObject([{ row: 3, outcome: "created" }]);
    expect(outcomes(await push(await fileOf("events.json", [event("Nacht")])))).toEqual(["existing"]);
  });

  test("sends published events, and not the retracted ones", { tags: "long" }, async () => {
    const file = await fileOf("events.json", [
      event("Jazz", { event_key: "on", activated: 1 }),
      event("Jazz", { event_key: "off", state: "canceled" }),
      event("Jazz", { event_key: "gone", state: "withdrawn" }),
    ]);
    expect(outcomes(await push(file))).toEqual(["created", "canceled", "withdrawn"]);
    expect(outcomes(await push(file))).toEqual(["existing", "canceled", "withdrawn"]);
    expect(await listed()).toHaveLength(1);
  });

  test("splits events into calls by the service's limits of number and size", { tags: "long" }, async () => {
    const file = await fileOf("events.json", many(501));
    expect((await push(file)).json()).toMatchObject({ created: 501 });
    expect(sent()).toHaveLength(2);
    const large = await fileOf("large.json", many(60, { event_introductiontext: "é".repeat(20_000) }));
    const result = await push(large);
    expect(result.json()).toMatchObject({ created: 60 });
    expect(result.stderr).toContain("60 of 60 events");
    expect(sent()).toHaveLength(2 + 3);
    expect(await listed()).toHaveLength(561);
  });

  test("leaves room for the API key in a call of the maximum size", { tags: "long" }, async () => {
    const large = (index: number, length: number) =>
      event(`Event ${index}`, { event_key: `key-${index}`, event_introductiontext: "x".repeat(length) });
    const bytesOf = (...rows: object[]) => {
      const { entries } = readJson(rows);
      const sizes = entries.map(({ event }) => Buffer.byteLength(newEventJson(newEventInput(event))) + 1);
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    const events = Array.from({ length: 60 }, (_, index) => large(index, 17_200));
    // The events alone are just within the limit of a call. With the API key, they exceed it.
    const missing = endpoints.createEvents.bodyLimitBytes - 10 - bytesOf(...events.slice(1), large(0, 1));
    events[0] = large(0, 1 + missing);
    expect((await push(await fileOf("events.json", events))).json()).toMatchObject({ created: 60 });
    expect(sent()).toHaveLength(2);
  });
});

describe("if the connection is cut", { tags: "long" }, () => {
  test.each(["cut-before", "cut-after", "garbage", "error"] as const)(
    "%s: sends the call again under its key",
    async (fault) => {
      proxy.set("newevent", fault, 2);
      const result = await push(await fileOf("events.json", many(501)));
      expect(result.json()).toMatchObject({ created: 501 });
      const keys = sent().map(({ idempotencyKey }) => idempotencyKey);
      expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]]);
      expect(keys[3]).not.toBe(keys[0]);
      expect(await listed()).toHaveLength(501);
    },
  );

  test.each([
    ["cut-before", "created"],
    ["cut-after", "existing"],
  ] as const)("%s each time: reports an unknown outcome, and the next push resolves it", async (fault, then) => {
    const file = await fileOf("events.json", many(501));
    proxy.set("newevent", fault);
    const lost = await push(file, "--retries", "1");
    expect(lost.exitCode).toBe(4);
    expect(lost.json()).toMatchObject({ created: 0, unknown: 500, not_sent: 1 });
    expect(lost.stderr).toContain("Push the same file again");
    proxy.clear();
    const again = await push(file);
    expect(again.exitCode).toBe(0);
    expect(outcomes(again)).toEqual([...Array(500).fill(then), "created"]);
    expect(await listed()).toHaveLength(501);
  });

  test("a service without idempotency keys still accepts an event_key once", async () => {
    proxy.withoutExtension(true);
    proxy.set("newevent", "cut-after", 1);
    const result = await push(SAMPLE);
    expect(result.json()).toMatchObject({ created: 0, existing: 3 });
    expect(await listed()).toHaveLength(3);
  });
});

describe("a file with faults", { tags: "long" }, () => {
  test("reports a fault that only the service finds by its row, and sends the other events", {
    tags: "long",
  }, async () => {
    const startMs = Date.now() + 15_000;
    const at = new Date(startMs).toLocaleString("sv-SE", { timeZone: "Europe/Amsterdam" });
    const [date, time] = at.split(" ");
    const soon = event("Soon", { event_start_date: date, event_start_time: time });
    proxy.set("newevent", "hold", 1);
    const pushing = push(await fileOf("events.json", [event("Later"), soon]));
    await expect.poll(() => sent().length).toBe(1);
    await expect.poll(() => Date.now()).toBeGreaterThan(startMs);
    await proxy.release();
    const result = await pushing;
    expect(result.exitCode).toBe(1);
    expect(result.json()).toMatchObject({ created: 1, refused: 1 });
    expect(result.json().events[1]).toMatchObject({
      row: 2,
      fault: "event_start_date must be in the future",
    });
  });

  test("reports each fault by row and column, and sends nothing", async () => {
    const header =
      "eventprovider_id,event_name,event_organiser,event_start_date,event_start_time,ticket_link,event_end_date,event_key";
    const rows = [
      `${providerId},Fine,Zaal,2099-06-01,20:30:00,https://tickets.example.nl/1,,one`,
      `999,Nacht,Zaal,2020-01-01,20:30:00,https://tickets.example.nl/1,2019-01-01,two`,
      `${providerId},"  ",Zaal,01-06-2099,half 9,javascript:alert(1),,three`,
      `${providerId},Twice,Zaal,2099-06-01,20:30:00,https://tickets.example.nl/1,,one`,
      `${providerId},Long,Zaal,2099-06-01,20:30:00,https://tickets.example.nl/1,,four,five`,
    ];
    const file = await fileOf("events.csv", [header, ...rows].join("\n"));
    const result = await push(file);
    expect(result.exitCode).toBe(3);
    expect(result.json().faults).toEqual([
      { row: 3, field: "event_end_date", message: "must not be before the start", read: "2019-01-01" },
      {
        row: 3,
        field: "eventprovider_id",
        message: "is not the number of a provider; `list providers` shows them",
        read: "999",
      },
      {
        row: 4,
        field: "event_start_date",
        message: "can mean 2099-06-01 or 2099-01-06. Write one of these, or set the order of the dates",
        read: "01-06-2099",
      },
      {
        row: 4,
        field: "event_start_time",
        message: "must be a time, such as 19:30 or 19:30:00",
        read: "half 9",
      },
      { row: 4, field: "event_name", message: "is required" },
      { row: 4, field: "ticket_link", message: "must be an http or https address", read: "javascript:alert(1)" },
      { row: 5, field: "event_key", message: "is also the key of row 2", read: "one" },
      { row: 6, field: "", message: "has 9 cells, but the header has 8" },
    ]);
    expect(result.stderr).toContain('  row 4, event_start_time: "half 9" must be a time');
    expect(sent()).toEqual([]);
  });

  test("sends the events without faults with --skip-faulty, and still reports the others", async () => {
    const header =
      "eventprovider_id,event_name,event_organiser,event_start_date,event_start_time,ticket_link,event_key";
    const rows = [
      `${providerId},Fine,Zaal,26.06.2099,20.30,https://tickets.example.nl/1,skip-one`,
      `${providerId},Wrong,Zaal,soon,20.30,https://tickets.example.nl/1,skip-two`,
    ];
    const file = await fileOf("events.csv", [header, ...rows].join("\n"));
    const result = await push(file, "--skip-faulty");
    expect(result.exitCode).toBe(3);
    expect(result.stderr).toContain("these events were not sent");
    expect(result.json()).toMatchObject({
      created: 1,
      events: [{ row: 2, outcome: "created" }],
      faults: [{ row: 3, field: "event_start_date", read: "soon" }],
    });
    expect((await push(file, "--skip-faulty")).json()).toMatchObject({ existing: 1 });
    const faulty = await fileOf("events.csv", [header, rows[1]].join("\n"));
    const nothing = await push(faulty, "--skip-faulty");
    expect([nothing.exitCode, nothing.stderr]).toEqual([3, expect.stringContaining("nothing was sent")]);
  });

  test("sends the events of a table, with the fields that it lacks from --default", async () => {
    const file = await fileOf(
      "events.csv",
      "event_name;event_start_date;event_start_time;ticket_link\r\nZomernacht;1.6.2099;20.30;https://tickets.example.nl\r\n",
    );
    const without = await push(file);
    expect(without.exitCode).toBe(3);
    expect(without.json().faults).toEqual([{ row: 1, field: "event_organiser", message: "is a required column" }]);
    const defaults = [`eventprovider_id=${providerId}`, "event_organiser=Zaal", "activated=1"];
    const result = await push(file, ...defaults.flatMap((value) => ["--default", value]));
    expect([result.exitCode, result.json()]).toMatchObject([0, { created: 1, drafts: 0 }]);
  });

  test.each([
    ["events.csv", "event_name,Event Name,event_nam\nA,B,C\n", 3, "row 1, event_name: is a column twice"],
    ["events.csv", "event_name,event_nam\nA,B\n", 3, "row 1, event_nam: is not a field of an event, and was ignored"],
    ["events.csv", '"event_name;x",event_organiser\n', 3, "row 1, event_name;x: is not a field of an event"],
    ["events.csv", 'event_name\n"A\n', 2, "line 2: a quote is not closed"],
    ["events.csv", new Uint8Array([0x65, 0xe9, 0x81]), 2, "neither UTF-8, UTF-16 nor Windows-1252"],
    ["events.csv", new Uint8Array([0x50, 0x4b, 0x03, 0x04]), 2, "is a workbook. Save it as CSV"],
    ["events.ics", "BEGIN:VCALENDAR\r\n", 2, "is a calendar. Calendars are only written, not read"],
    ["events.json", new Uint8Array([0x5b, 0xe9, 0x5d]), 2, "is not UTF-8"],
    ["events.csv", "", 2, "contains no events"],
    ["events.json", "{}", 2, "must contain an array of events"],
    ["events.json", "[", 2, "is not JSON"],
    ["events.json", '[1, {"event_nam": "A"}]', 3, "row 2, event_nam: is not a field of an event"],
    ["events.xlsx", "", 2, "must end in .csv, .tsv or .json. Save a workbook as CSV"],
  ])("%s with the content %o is refused", async (name, content, exitCode, message) => {
    const result = await push(await fileOf(name, content));
    expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
    expect(sent()).toEqual([]);
  });

  test("two rows with the same content need an event_key each", async () => {
    const twins = await push(await fileOf("events.json", [event("Twin"), event("Twin")]));
    expect(twins.json().faults).toMatchObject([{ row: 2, field: "event_key" }]);
    const keyed = [event("Twin", { event_key: "a" }), event("Twin", { event_key: "b" })];
    expect((await push(await fileOf("events.json", keyed))).json()).toMatchObject({ created: 2 });
  });

  test("a dry run validates and creates nothing, with and without a service", async () => {
    const dry = await run(["push", SAMPLE, "--dry-run", "--json"], { GIFTCARD_BASE_URL: proxy.url });
    expect([dry.exitCode, dry.json()]).toEqual([
      0,
      { file: SAMPLE, checked: 3, drafts: 1, past: 0, providersChecked: true, notices: [] },
    ]);
    const alone = await run(["push", SAMPLE, "--dry-run"]);
    expect([alone.exitCode, alone.stdout]).toEqual([0, expect.stringContaining("3 events, no faults")]);
    const unknownProvider = await fileOf("events.json", [event("A", { eventprovider_id: 999 })]);
    expect((await push(unknownProvider, "--dry-run")).exitCode).toBe(3);
    expect(sent()).toEqual([]);
    expect(await listed()).toEqual([]);
  });
});
