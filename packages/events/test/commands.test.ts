// @module-tag long

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { fileOf, removeFiles, run } from "./command.js";

const SAMPLE = path.resolve(import.meta.dirname, "../events.csv");

let service: TestService;
let company: TestCompany;
let settings: Record<string, string>;

beforeAll(async () => {
  service = await startGiftcardService({ databaseUrl: await testDatabase() });
  company = await service.createCompany();
  await service.createProvider("Kaartbureau");
  settings = {
    GIFTCARD_BASE_URL: service.url,
    GIFTCARD_API_KEY: company.apiKey,
  };
  const file = await fileOf("one.json", [
    {
      eventprovider_id: 1,
      event_name: "</script>\u001b[2J Slot",
      event_organiser: "Zaal BV",
      event_start_date: "2099-06-01",
      event_start_time: "20:30:00",
      ticket_link: "https://tickets.example.nl/1",
    },
  ]);
  for (const pushed of [SAMPLE, file]) expect((await run(["push", pushed], settings)).stderr).toContain(" of ");
});

afterAll(async () => {
  await removeFiles();
  await service?.stop();
});

test("a failure is one JSON value with --json, even if the command line is wrong", async () => {
  const wrong = await run(["push", "--json"]);
  expect([wrong.exitCode, wrong.json()]).toEqual([2, { error: "missing required argument 'file'", exit_code: 2 }]);
  const missing = await run(["check", "nowhere.csv", "--json"]);
  expect(missing.json()).toMatchObject({ error: expect.stringContaining("nowhere.csv"), exit_code: 2 });
});

test("--version prints the package's version", async () => {
  const { version } = JSON.parse(await readFile(path.resolve(import.meta.dirname, "../package.json"), "utf8"));
  expect((await run(["--version"])).stdout).toBe(`${version}\n`);
});

describe("list", () => {
  test("--json prints concepts, events and providers, together or separately", async () => {
    const concept = ["--representative", "J. de Vries", "--register", "Zomer", "--provider", "1"];
    const made = await run(["concept", "create", ...concept, "--json"], settings);
    expect(made.json()).toMatchObject({ register: "Zomer", representative: "J. de Vries", providerId: 1 });
    const all = (await run(["list", "--json"], settings)).json();
    expect(all.providers).toEqual([{ id: 1, name: "Kaartbureau" }]);
    expect(all.concepts).toMatchObject([{ id: made.json().id, register: "Zomer", providerId: 1 }]);
    expect(all.events).toHaveLength(4);
    const { GIFTCARD_BASE_URL = "" } = settings;
    const providers = await run(["list", "providers", "--json"], { GIFTCARD_BASE_URL });
    expect(providers.json()).toEqual({ providers: all.providers });
  });

  test("prints readable lines without control characters", async () => {
    const { stdout } = await run(["list"], settings);
    expect(stdout).toContain("Providers\nid\tname\n1\tKaartbureau\n");
    expect(stdout).toContain(
      "2036-04-12\t21:00:00\tLentenacht\tZaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland",
    );
    expect(stdout).not.toContain("\u001b");
  });

  test("--format prints the events in another format", { tags: "long" }, async () => {
    const { stdout, stderr, json } = await run(["list", "--format", "json-ld"], settings);
    expect(stderr).toContain("Don't push this output");
    expect(stdout).not.toContain("<");
    const events = json()["@graph"];
    expect(events).toHaveLength(4);
    expect(events[0]).toMatchObject({
      name: "Lentenacht",
      startDate: "2036-04-12T21:00:00+02:00",
      endDate: "2036-04-13T04:00:00+02:00",
      location: { "@type": "Place", address: "Zaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland" },
      offers: { "@type": "Offer", url: "https://tickets.example/spring-night" },
    });
    expect(events[3]).not.toHaveProperty("location");
    const calendar = await run(["list", "--format", "icalendar"], settings);
    expect(calendar.stdout.match(/^BEGIN:VEVENT/gm)).toHaveLength(4);
  });
});

describe("check", () => {
  test("counts events, and reports those that search engines don't show, without a service", async () => {
    const unplaced = await fileOf("one.json", [
      {
        event_name: "Jazz",
        event_organiser: "Zaal BV",
        event_start_date: "2099-06-01",
        event_start_time: "20:30:00",
        ticket_link: "https://tickets.example.nl/1",
      },
    ]);
    const { exitCode, stdout } = await run(["check", unplaced]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("1 have no place, such as row 1")]);
    expect((await run(["check", SAMPLE, "--json"])).json()).toEqual({
      file: SAMPLE,
      events: 3,
      draft: 1,
      published: 2,
      canceled: 0,
      withdrawn: 0,
      withoutPlace: [],
      notices: [],
    });
  });

  test("reads a spreadsheet's table", async () => {
    const dates = ["--dates", "day-first", "--default", "event_organiser=Zaal BV"];
    const table = await fileOf(
      "events.tsv",
      "Event Name\tEvent Start Date\tEvent Start Time\tTicket Link\tNotes\nJazz\t05-10-2099\t19h30\thttps://zaal.example\tx\n",
    );
    const checked = await run(["check", table, ...dates]);
    expect([checked.exitCode, checked.stderr]).toEqual([0, expect.stringContaining("row 1, Notes: is not a field")]);
    const fed = await run(["feed", table, ...dates, "--default", "activated=1"]);
    expect(fed.json().events).toMatchObject([{ title: "Jazz", date: "2099-10-05", time: "19:30:00" }]);
  });

  test.each([
    [["--default", "colour=red"], "Give a field of an event and its value"],
    [["--default", "event_name"], "Give a field of an event and its value"],
    [["--dates", "american"], "Allowed choices are"],
  ])("%j is a wrong option", async (options, message) => {
    const { exitCode, stderr } = await run(["check", SAMPLE, ...options]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("reports a hundred faults, and counts the others", async () => {
    const header = "event_name,ticket_link,event_organiser,event_start_date,event_start_time\n";
    const file = await fileOf("many.csv", header + "Jazz,https://zaal.example,Zaal,soon,late\n".repeat(300));
    const { exitCode, stderr, json } = await run(["check", file, "--json"]);
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ faults: { length: 100 }, omitted_faults: 500 });
    expect(stderr).toContain('  row 51, event_start_time: "late" must be a time');
    expect(stderr).toContain("  and 500 more");
  });

  test("reports a fault by row and field", async () => {
    const file = await fileOf("one.csv", "event_name,ticket_link,event_organiser,event_start_date,event_start_time\n");
    const { exitCode, stderr } = await run(["check", file]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("contains no events")]);
    const wrong = await fileOf("events.json", [{ event_key: "1", event_name: "Jazz" }]);
    const result = await run(["check", wrong]);
    expect([result.exitCode, result.stderr]).toEqual([
      3,
      expect.stringContaining("row 1, event_start_date: is required"),
    ]);
  });

  test("refuses a JSON object, such as a feed", async () => {
    const { exitCode, stderr } = await run(["check", await fileOf("feed.json", { events: [] })]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("must contain an array of events")]);
  });
});

describe("feed", () => {
  test("replaces the file at once", { tags: "long" }, async () => {
    const out = await fileOf("feed.json", "before");
    const written = await run(["feed", SAMPLE, "--out", out, "--json"]);
    expect([written.exitCode, written.json()]).toEqual([0, { file: out, format: "feed", events: 2 }]);
    expect(await readdir(path.dirname(out))).not.toContainEqual(expect.stringContaining(".part"));
    expect(JSON.parse(await readFile(out, "utf8")).events).toMatchObject([
      { event_id: "spring-night" },
      { event_id: "summer-picnic" },
    ]);
  });

  test.each([
    ["json-ld", '"@graph"'],
    ["icalendar", "DTSTART;TZID=Europe/Amsterdam:20360412T210000"],
    ["csv", '"Bring a ""blanket"""'],
    ["json", '"event_key":"autumn-jazz"'],
  ])("--format %s prints %s", async (format, part) => {
    const { exitCode, stdout } = await run(["feed", SAMPLE, "--format", format]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(part)]);
  });

  test("a calendar has its name, and describes the zones of its events", { tags: "long" }, async () => {
    const london = ["--timezone", "Europe/London", "--name", "Zaal, Noord"];
    const { stdout } = await run(["feed", SAMPLE, "--format", "icalendar", ...london]);
    expect(stdout).toContain("\r\nX-WR-CALNAME:Zaal\\, Noord\r\n");
    expect(stdout.match(/^TZID:.*$/gm)).toEqual(["TZID:Europe/London"]);
    expect(stdout).toContain("DTSTART;TZID=Europe/London:20360412T210000");
    const nowhere = await run(["check", SAMPLE, "--timezone", "IST"]);
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([2, expect.stringContaining("Give a time zone")]);
  });

  test("keeps the old file if the input has faults", async () => {
    const out = await fileOf("feed.json", "before");
    const wrong = await fileOf("one.json", [{ event_name: "A" }]);
    expect((await run(["feed", wrong, "--out", out])).exitCode).toBe(3);
    expect(await readFile(out, "utf8")).toBe("before");
    const absent = await run(["feed", SAMPLE, "--out", "/absent/feed.json"]);
    expect([absent.exitCode, absent.stderr]).toEqual([2, expect.stringContaining("cannot be written (ENOENT)")]);
  });
});

describe("settings and exit codes", () => {
  test.each([
    [["list"], {}, 2, "Set GIFTCARD_BASE_URL"],
    [["list"], { GIFTCARD_BASE_URL: "cards" }, 2, "Set GIFTCARD_API_KEY to"],
    [["list"], { GIFTCARD_BASE_URL: "cards", GIFTCARD_API_KEY: "known-secret" }, 2, "GIFTCARD_BASE_URL must be"],
    [["list", "tickets"], {}, 2, "Allowed choices are"],
    [["list", "concepts", "--format", "csv"], {}, 2, "Only events"],
    [["feed", SAMPLE, "--format", "rss"], {}, 2, "Allowed choices are"],
    [["feed", SAMPLE, "--json"], {}, 2, "--json needs --out"],
    [["push"], {}, 2, "missing required argument"],
    [["check", "absent.csv"], {}, 2, "cannot be read (ENOENT)"],
    [["sell"], {}, 2, "unknown command"],
  ])("%j with %j exits with %i", async (args, env, exitCode, message) => {
    const result = await run(args, env as Record<string, string>);
    expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  });

  test("a refused key isn't printed, and an unreachable service has an exit code of its own", async () => {
    const key = "k".repeat(60);
    const { GIFTCARD_BASE_URL = "" } = settings;
    const refused = await run(["push", SAMPLE, "--json"], { GIFTCARD_BASE_URL, GIFTCARD_API_KEY: key });
    expect(refused.exitCode).toBe(1);
    expect(refused.json()).toMatchObject({
      error: expect.stringContaining("Authentication failed"),
      refused: 3,
    });
    expect(refused.stdout + refused.stderr).not.toContain(key);
    const absent = await run(["list", "providers"], { GIFTCARD_BASE_URL: "http://127.0.0.1:9" });
    expect([absent.exitCode, absent.stderr]).toEqual([4, expect.stringContaining("Check GIFTCARD_BASE_URL")]);
  });

  test.each([[[]], [["push"]], [["list"]], [["concept"]], [["concept", "create"]], [["check"]], [["feed"]]])(
    "%j --help",
    async (args) => {
      const result = await run([...args, "--help"]);
      expect([result.exitCode, result.stdout]).toEqual([0, expect.stringContaining("Usage: giftcard-events")]);
    },
  );
});
