// @module-tag long

import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, credentials, eventInput, onCard } from "./wire.js";

const EVENTS = 20;
const CONCEPTS = 3;
const KEYS = 5;
const WRONG_PINS = 12;
const DAY_SECONDS = 24 * 60 * 60;

let service: TestService;
let company: TestCompany;
let provider: number;
let db: pg.Client;

beforeAll(async () => {
  const limits = {
    storage: { events: EVENTS, eventBytes: 1_000_000, concepts: CONCEPTS, closedKeys: KEYS },
    card: { failures: 5, slowFailures: WRONG_PINS },
  };
  service = await startGiftcardService({ databaseUrl: await testDatabase(), limits });
  provider = (await service.createProvider()).id;
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
});
afterAll(async () => {
  await db.end();
  await service.stop();
});

const newEvents = (count: number, more: Record<string, unknown> = {}, of = company) =>
  call(service.url, "createEvents", {
    apikey: of.apiKey,
    events: Array.from({ length: count }, () => eventInput(provider, more)),
  });
const REASON = ["--reason", "agreed"];
const command = async (...words: string[]) => service.command(...words);
/** Returns the storage of the company, and what its events take if they are added up. */
async function storage() {
  const list = (await command("company", "list")) as { company_id: number; events: number; event_bytes: number }[];
  const { events, event_bytes } = list.find(
    ({ company_id }) => company_id === company.companyId,
  ) as (typeof list)[number];
  const { rows } = await db.query(
    "select count(*)::int as events, coalesce(sum(octet_length(e::text)), 0)::int as event_bytes from events e where company_id = $1",
    [company.companyId],
  );
  expect({ events, event_bytes }).toEqual(rows[0]);
  return rows[0];
}

describe("a company's events", () => {
  beforeAll(async () => {
    company = await service.createCompany();
  });

  test("are limited by number, all or nothing, even if calls race, and for this company only", async () => {
    expect((await newEvents(EVENTS - 3)).status).toBe(200);
    const refused = await newEvents(4);
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [{ path: "events", message: expect.stringMatching(/exceeds what this company may store.*card issuer/) }],
    ]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => newEvents(1)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect((await storage()).events).toBe(EVENTS);
    expect((await newEvents(1, {}, await service.createCompany())).status).toBe(200);
  });

  test("can be deleted by the operator after a dry run, with an entry in the audit log", async () => {
    const remove = (...words: string[]) =>
      command("events", "remove", "--company", String(company.companyId), ...REASON, ...words);
    await db.query(
      "update events set created_at = '2026-01-31 12:00Z' where id in (select id from events where company_id = $1 limit 4)",
      [company.companyId],
    );
    const days = ["--from", "2026-01-31", "--to", "2026-01-31"];
    const counts = { company_id: company.companyId, events: 4, concepts: 0 };
    expect(await remove(...days, "--dry-run")).toEqual({ ...counts, dry_run: true });
    expect((await storage()).events).toBe(EVENTS);
    expect(await remove(...days)).toEqual({ ...counts, dry_run: false });
    expect((await storage()).events).toBe(EVENTS - 4);
    expect(((await command("audit")) as object[]).at(-1)).toMatchObject({
      action: "events remove",
      company_id: company.companyId,
      reason: "agreed",
      details: { events: 4, from: "2026-01-31" },
    });
    expect((await newEvents(4)).status).toBe(200);
    expect(await remove()).toMatchObject({ events: EVENTS });
    expect(await storage()).toEqual({ events: 0, event_bytes: 0 });
  });

  test("are limited by size, and their size is exact after changes and deletions", async () => {
    const text = "é".repeat(10_000);
    const answers = [];
    for (let round = 0; round < 4; round++)
      answers.push((await newEvents(EVENTS / 4, { event_introductiontext: text })).status);
    expect(answers).toEqual([200, 200, 200, 200]);
    await db.query("update events set introduction_text = repeat('x', 60000) where company_id = $1", [
      company.companyId,
    ]);
    expect((await storage()).event_bytes).toBeGreaterThan(1_000_000);
    await db.query("delete from events where id in (select id from events where company_id = $1 limit 2)", [
      company.companyId,
    ]);
    expect((await storage()).event_bytes).toBeGreaterThan(1_000_000);
    expect((await newEvents(1)).status).toBe(422);
    const metrics = await service.metrics();
    expect(metrics).toMatch(
      new RegExp(`^giftcard_company_event_bytes\\{company="${company.companyId}"\\} 1\\d{6}$`, "m"),
    );
    expect(metrics).toMatch(/^giftcard_database_bytes \d{7,}$/m);
  });
});

test("a company's event concepts are limited", async () => {
  const one = await service.createCompany();
  const create = () =>
    call(service.url, "createEventConcept", {
      apikey: one.apiKey,
      representative: "Zaal",
      register: "12345678",
      eventprovider_id: provider,
    });
  const statuses = [];
  for (let index = 0; index <= CONCEPTS; index++) statuses.push((await create()).status);
  expect(statuses).toEqual([200, 200, 200, 422]);
});

test("unused Idempotency-Keys that a company closes are limited by day, and reversals are not", async () => {
  const one = await service.createCompany();
  const card = await service.issueCard({ balanceCents: 1000 });
  const key = (name: string) => ({ headers: { "Idempotency-Key": name } });
  const close = (name: string) => call(service.url, "cancelDevalue", credentials(one), key(name));
  const devalued = await call(service.url, "devalue", { ...onCard(one, card), amount: 100 }, key("used"));
  expect(devalued.status).toBe(200);
  for (let index = 0; index < KEYS; index++) expect((await close(`unused-${index}`)).status).toBe(404);
  const limited = await close("one-more");
  expect([limited.status, Number(limited.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(DAY_SECONDS - 60);
  expect(await service.metrics()).toContain('giftcard_limited_total{limit="closed_keys"} 1');
  // A key that is closed already, and one with a devalue, store nothing new.
  expect((await close("unused-0")).status).toBe(404);
  expect((await close("used")).body).toMatchObject({ success: true, amount_refunded: 100 });
  // A refused key was not closed.
  expect((await call(service.url, "devalue", { ...onCard(one, card), amount: 100 }, key("one-more"))).status).toBe(200);
  await db.query("update idempotency_keys set created_at = created_at - interval '1 day' where company_id = $1", [
    one.companyId,
  ]);
  expect((await close("tomorrow")).status).toBe(404);
});

describe("slow guessing", () => {
  /** Moves all recorded failures into the past, as if this time had passed. */
  const pass = (interval: string) =>
    db.query(
      `update failed_attempts set expires_at = expires_at - $1::interval, slow_since = slow_since - $1::interval,
         locked_until = locked_until - $1::interval,
         failed_at = array(select t - $1::interval from unnest(failed_at) t)`,
      [interval],
    );
  const balance = (pin: string, cardNumber: string) =>
    call(service.url, "balance", { ...credentials(company), cardnumber: cardNumber, pin });

  test.each([
    ["a card", async () => (await service.issueCard({ balanceCents: 100 })).cardNumber],
    ["an unknown number", async () => "6064350000000009999"],
  ])("locks %s until a person unlocks it, although it never reaches the short limit", async (_what, make) => {
    const cardNumber = await make();
    for (let index = 0; index < WRONG_PINS; index++) {
      expect((await balance(`wrong-${index}`, cardNumber)).status).toBe(400);
      await pass("1 hour");
    }
    await pass("300 days");
    const locked = await balance("right", cardNumber);
    expect([locked.status, locked.body.result_code, locked.headers.get("retry-after")]).toEqual([
      429,
      9,
      String(DAY_SECONDS),
    ]);
  });

  test("is forgotten after the window, and by `card unlock`, which works for a lock without end", async () => {
    const { cardNumber, pin } = await service.issueCard({ balanceCents: 100 });
    const guess = async (times: number) => {
      for (let index = 0; index < times; index++) {
        expect((await balance(`wrong-${index}`, cardNumber)).status).toBe(400);
        await pass("1 hour");
      }
    };
    await guess(WRONG_PINS - 1);
    await pass("30 days");
    await guess(WRONG_PINS - 1);
    expect((await balance(pin, cardNumber)).status).toBe(200);
    await guess(1);
    expect((await balance(pin, cardNumber)).status).toBe(429);
    expect(await command("card", "show", cardNumber)).toMatchObject({ locked_until: "infinity" });
    expect(await command("card", "unlock", cardNumber, ...REASON)).toMatchObject({ was_locked: true });
    expect((await balance(pin, cardNumber)).status).toBe(200);
    await guess(WRONG_PINS - 1);
    expect((await balance(pin, cardNumber)).status).toBe(200);
  });
});
