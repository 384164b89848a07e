// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { errorDefinition } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { CallLimit } from "../src/limits/call-limit.js";
import { CompanyPins } from "../src/limits/company-pins.js";
import { call, credentials, onCard, type WireAnswer } from "./wire.js";

const LIMIT = 100;
const PINS = 5;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-company-limits-"));
let services: [TestService, TestService];
let db: pg.Client;

// Two processes share one database: a count that is kept in one process's memory would fail these tests.
beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  const limits = { companyCallsPerMinute: LIMIT, companyPins: { failures: PINS } };
  const start = () => startGiftcardService({ databaseUrl, secretsFile, limits });
  services = [await start(), await start()];
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  for (const service of services) await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const urlOf = (index: number) => services[index % 2 ? 1 : 0].url;
const count = (answers: WireAnswer[], status: number) => answers.filter((one) => one.status === status).length;
const limitedBy = async (service: TestService, limit: string) => {
  const text = await service.metrics();
  return Number(new RegExp(`giftcard_limited_total\\{limit="${limit}"\\} (\\d+)`).exec(text)?.[1]);
};

describe("calls of a company", () => {
  test("are limited across all of its keys and all processes; another company is not affected", async () => {
    const [own, other] = [await services[0].createCompany(), await services[0].createCompany()];
    const keys = [own.apiKey];
    for (let index = 0; index < 3; index++) {
      const made = await services[0].command("key", "create", "--company", String(own.companyId));
      keys.push((made as { apikey: string }).apikey);
    }
    const answers: WireAnswer[] = [];
    const startedAt = performance.now();
    for (let round = 0; round < 8; round++) {
      const calls = Array.from({ length: 20 }, (_, index) =>
        call(urlOf(index >> 2), "listEvents", { apikey: keys[index % 4] }),
      );
      answers.push(...(await Promise.all(calls)));
    }
    const passed = count(answers, 200);
    expect(passed).toBeGreaterThanOrEqual(LIMIT - 4);
    const allowed = LIMIT * (1 + (performance.now() - startedAt) / 60_000);
    expect(passed).toBeLessThanOrEqual(allowed * 1.05);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([`429 ${JSON.stringify({ error: errorDefinition("rate_limited").message })}`]),
    );
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    const counted = await Promise.all(services.map((service) => limitedBy(service, "company_calls")));
    expect((counted[0] as number) + (counted[1] as number)).toBe(refused.length);
    expect((await call(urlOf(0), "listEvents", { apikey: other.apiKey })).status).toBe(200);
  });

  test("are returned to the limit once if a process leaves them unused, even if the database's answer is lost", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { companyId } = await services[0].createCompany();
    let isLost = false;
    const query = async (...statement: Parameters<typeof db.query>) => {
      const result = await db.query(...statement);
      if (isLost) throw new Error("The answer is lost.");
      return result;
    };
    // Leases two calls at a time.
    const limit = new CallLimit({ query } as unknown as pg.Pool, "company", 100);
    await limit.take(companyId);
    vi.advanceTimersByTime(2000);
    isLost = true;
    await expect(limit.take(companyId)).rejects.toThrow("lost");
    isLost = false;
    await limit.take(companyId);
    const { rows } = await db.query(
      "select (select sum(n) from unnest(granted) n)::int as granted from call_usage where kind = 'company' and id = $1",
      [companyId],
    );
    expect(rows[0].granted).toBe(3 * 2 - 1);
  });
});

describe("wrong PINs of a company, across all cards,", () => {
  const balance = (company: TestCompany, card: TestCard, url: string) => call(url, "balance", onCard(company, card));
  const wrong = (index: number): TestCard => ({
    cardNumber: `600600000${index}`,
    pin: "000000",
    expiryDate: "",
  });

  test("block its balance and devalue calls in each process, even with the right PIN; reversals and other companies are not affected", async () => {
    const [guesser, other] = [await services[0].createCompany(), await services[0].createCompany()];
    const card = await services[0].issueCard({ balanceCents: 5000 });
    const taken = await call(urlOf(0), "devalue", { ...onCard(guesser, card), amount: 100 });
    for (let index = 0; index < PINS; index++) {
      const one = wrong(index);
      const answer =
        index % 2
          ? await balance(guesser, one, urlOf(0))
          : await call(urlOf(0), "devalue", { ...onCard(guesser, one), amount: 1 });
      expect(answer.status).toBe(400);
    }
    const { message } = errorDefinition("rate_limited");
    const refused = await balance(guesser, card, urlOf(0));
    expect([refused.status, refused.body.error]).toEqual([429, message]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3600 - 61);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(3600);
    const devalued = await call(urlOf(0), "devalue", { ...onCard(guesser, card), amount: 1 });
    expect([devalued.status, devalued.body]).toEqual([429, { success: false, error: message }]);
    // The other process notices the limit at its next wrong PIN.
    expect((await balance(guesser, wrong(90), urlOf(1))).status).toBe(400);
    expect((await balance(guesser, card, urlOf(1))).status).toBe(429);

    expect(await limitedBy(services[0], "company_pins")).toBe(2);
    const id = refused.headers.get("x-request-id") as string;
    await expect.poll(() => services[0].logs()).toContain(id);
    const line = services[0]
      .logs()
      .split("\n")
      .find((one) => one.includes(id)) as string;
    expect(JSON.parse(line)).toMatchObject({ limit: "company_pins", companyId: guesser.companyId });

    const { cancel_token } = taken.body;
    expect((await call(urlOf(0), "cancelDevalue", { ...credentials(guesser), cancel_token })).status).toBe(200);
    expect((await balance(other, card, urlOf(0))).body.balance).toBe(5000);
  });

  test("include guesses with the Idempotency-Key of an earlier devalue, which the card's lock does not count", async () => {
    const company = await services[0].createCompany();
    const card = await services[0].issueCard({ balanceCents: 5000 });
    const guess = (pin: string) => {
      const wire = { ...onCard(company, { ...card, pin }), amount: 100 };
      return call(urlOf(0), "devalue", wire, { headers: { "Idempotency-Key": "guessed-behind" } });
    };
    expect((await guess(card.pin)).status).toBe(200);
    for (let index = 0; index < PINS; index++) expect((await guess(`x${index}`)).status).toBe(422);
    expect([(await guess("x9")).status, (await guess(card.pin)).status]).toEqual([429, 429]);
  });

  test("are forgotten after an hour", async () => {
    const company = await services[0].createCompany();
    const guess = (index: number) => balance(company, wrong(100 + index), urlOf(0));
    for (let index = 0; index < PINS - 1; index++) expect((await guess(index)).status).toBe(400);
    await db.query("update wrong_pins set minute = minute - 60 where company_id = $1", [company.companyId]);
    for (let index = 0; index < PINS; index++) expect((await guess(20 + index)).status).toBe(400);
    expect((await guess(50)).status).toBe(429);
  });

  test("stop blocking the company when its wait is over, until its next wrong PIN", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { companyId } = await services[0].createCompany();
    const pins = new CompanyPins(db, { failures: PINS, windowSeconds: 3600 });
    for (let index = 0; index < PINS; index++) {
      expect(pins.waitSeconds(companyId)).toBeUndefined();
      await pins.count(companyId);
    }
    const seconds = pins.waitSeconds(companyId) as number;
    expect(seconds).toBeGreaterThan(3600 - 61);
    vi.advanceTimersByTime(seconds * 1000 - 1);
    expect(pins.waitSeconds(companyId)).toBeGreaterThan(0);
    vi.advanceTimersByTime(1);
    expect(pins.waitSeconds(companyId)).toBeUndefined();
    await pins.count(companyId);
    expect(pins.waitSeconds(companyId)).toBeGreaterThan(0);
  });

  test("are all counted if they are concurrent", async () => {
    const company = await services[0].createCompany();
    await Promise.all(Array.from({ length: 30 }, (_, index) => balance(company, wrong(200 + index), urlOf(index))));
    const { rows } = await db.query("select sum(failures)::int as n from wrong_pins where company_id = $1", [
      company.companyId,
    ]);
    expect(rows[0].n).toBeGreaterThanOrEqual(PINS);
    for (const url of [urlOf(0), urlOf(1)]) expect((await balance(company, wrong(300), url)).status).toBe(429);
  });
});
