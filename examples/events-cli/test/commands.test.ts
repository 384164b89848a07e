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
    GIFTCARD_EMAIL: company.email,
    GIFTCARD_PASSWORD: company.password,
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
  for (const pushed of [SAMPLE, file])
    expect((await run(["push", pushed], settings)).stderr).toContain(" of ");
});

afterAll(async () => {
  await removeFiles();
  await service?.stop();
});

describe("list", () => {
  test("--json prints concepts, events and providers, together or one", async () => {
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

  test("prints lines for a person, and no control characters of others", async () => {
    const { stdout } = await run(["list"], settings);
    expect(stdout).toContain("Providers\nid\tname\n1\tKaartbureau\n");
    expect(stdout).toContain(
      "2036-04-12\t21:00:00\tLentenacht\tZaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland",
    );
    expect(stdout).not.toContain("\u001b");
  });

  test("--json-ld prints schema.org/Event, safe between a page's tags", async () => {
    const { stdout, json } = await run(["list", "--json-ld"], settings);
    expect(stdout).not.toContain("<");
    const { "@context": context, "@graph": events } = json();
    expect(context).toBe("https://schema.org");
    expect(events).toHaveLength(4);
    expect(events[0]).toEqual({
      "@type": "Event",
      name: "Lentenacht",
      startDate: "2036-04-12T21:00:00",
      endDate: "2036-04-13T04:00:00",
      description: "Twelve hours of house, two floors",
      location: { "@type": "Place", address: "Zaal Noord, Noordkade 12, 1021 AB Amsterdam, Nederland" },
      organizer: { "@type": "Organization", name: "Zaal Noord BV" },
      offers: { "@type": "Offer", url: "https://tickets.example/spring-night" },
    });
    expect(events[3]).toEqual({
      "@type": "Event",
      name: "</script>\u001b[2J Slot",
      startDate: "2099-06-01T20:30:00",
      organizer: { "@type": "Organization", name: "Zaal BV" },
      offers: { "@type": "Offer", url: "https://tickets.example.nl/1" },
    });
  });
});

describe("settings and exit codes", () => {
  test.each([
    [["list"], {}, 2, "Set GIFTCARD_BASE_URL"],
    [["list"], { GIFTCARD_BASE_URL: "cards" }, 2, "Set GIFTCARD_API_KEY, or"],
    [
      ["list"],
      { GIFTCARD_BASE_URL: "cards", GIFTCARD_API_KEY: "known-secret" },
      2,
      "GIFTCARD_BASE_URL must be",
    ],
    [["list", "tickets"], {}, 2, "Allowed choices are"],
    [["list", "concepts", "--json-ld"], {}, 2, "Only events"],
    [["push"], {}, 2, "missing required argument"],
    [["push", "absent.csv"], {}, 2, "cannot be read (ENOENT)"],
    [["sell"], {}, 2, "unknown command"],
  ])("%j with %j ends with %i", async (args, env, exitCode, message) => {
    const result = await run(args, env as Record<string, string>);
    expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  });

  test("a refused key is said without showing it; a service that isn't there is told from one that refuses", async () => {
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

  test.each([[[]], [["push"]], [["list"]], [["concept"]], [["concept", "create"]]])(
    "%j --help",
    async (args) => {
      const result = await run([...args, "--help"]);
      expect([result.exitCode, result.stdout]).toEqual([
        0,
        expect.stringContaining("Usage: giftcard-events"),
      ]);
    },
  );
});
