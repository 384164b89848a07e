import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, eventInput, onCard } from "./wire.js";

const OLD_KEYS = 20_000;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-sweep-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let company: TestCompany;
let db: pg.Client;

beforeAll(async () => {
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile });
  company = await service.createCompany();
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const countKeys = async (condition: string) =>
  (await db.query(`select count(*)::int as n from idempotency_keys where ${condition}`)).rows[0].n;

test("answers older than 24 hours are deleted in the background while calls are answered; their keys are kept forever", {
  tags: "long",
}, async () => {
  const provider = await service.createProvider();
  const card = await service.issueCard({ balanceCents: 5000 });
  const headers = { "Idempotency-Key": "today" };
  const events = { apikey: company.apiKey, events: [eventInput(provider.id)] };
  const stored = await call(service.url, "createEvents", events, { headers });
  await db.query(
    `insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, answer, created_at)
       select $1, 'newevent', sha256(n::text::bytea), sha256('p'), repeat('x', 500), now() - interval '25 hours'
       from generate_series(1, $2::int) n`,
    [company.companyId, OLD_KEYS],
  );
  await db.query(
    "insert into failed_attempts (subject, failed_at, expires_at) values ('past', '{}', now()), ('not yet', '{}', now() + interval '1 hour')",
  );
  await db.query(
    "insert into call_usage (kind, id, slot, granted) values ('key', 77, 1, '{}'), ('company', 77, 1e12, '{}')",
  );
  await db.query("insert into wrong_pins (company_id, minute, failures) values ($1, 1, 5), ($1, 1e12, 5)", [
    company.companyId,
  ]);
  await db.query(
    `insert into api_keys (company_id, key_hash, label, revoked_at, expires_at) values
       ($1, 'a', 'revoked long ago', now() - interval '91 days', null),
       ($1, 'b', 'expired long ago', null, now() - interval '91 days'),
       ($1, 'c', 'revoked', now() - interval '89 days', null),
       ($1, 'd', 'expires', null, now() + interval '1 day')`,
    [company.companyId],
  );
  // A process sweeps soon after it has started, and then every minute.
  const second = await startGiftcardService({
    databaseUrl: service.databaseUrl,
    secretsFile,
    args: ["--calls-per-minute", "0"],
  });
  try {
    const answersLeft = new Set<number>();
    for (const giveUpAt = Date.now() + 90_000; Date.now() < giveUpAt; ) {
      const answer = await call(second.url, "devalue", { ...onCard(company, card), amount: 1 });
      expect(answer.status).toBe(200);
      answersLeft.add(await countKeys("answer is not null"));
      if (answersLeft.has(1)) break;
      await sleep(20);
    }
    expect(await countKeys("answer is not null")).toBe(1);
    expect(await countKeys("true")).toBe(OLD_KEYS + 1);
    // Each statement of the sweep is small, so calls are answered between them.
    expect(answersLeft.size).toBeGreaterThan(3);
    const again = await call(second.url, "createEvents", events, { headers });
    expect([again.status, again.text]).toEqual([200, stored.text]);
    // The counts of failures and calls are swept after the answers.
    const subjects = async () =>
      (await db.query("select convert_from(subject, 'UTF8') as subject from failed_attempts")).rows;
    await expect.poll(subjects).toEqual([{ subject: "not yet" }]);
    const left = async (text: string) => (await db.query(text)).rows.map(({ what }) => what);
    await expect
      .poll(() => left("select label as what from api_keys where label is not null order by id"))
      .toEqual(["revoked", "expires"]);
    expect(await left("select kind as what from call_usage where id = 77")).toEqual(["company"]);
    expect(await left("select minute::text as what from wrong_pins")).toEqual(["1000000000000"]);
  } finally {
    await second.stop();
  }
});
