// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { call, onCard } from "./wire.js";

// A database whose settings differ from PostgreSQL's defaults, as a server for several programs may have them.

const SETTINGS = [
  "datestyle = 'German'",
  "timezone = 'Pacific/Auckland'",
  "default_transaction_isolation = 'serializable'",
  "bytea_output = 'escape'",
];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-settings-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const name = new URL(databaseUrl).pathname.slice(1);
  for (const setting of SETTINGS) await db.query(`alter database "${name}" set ${setting}`);
  await db.end();
  service = await startGiftcardService({ databaseUrl, secretsFile });
  shell = operatorShell(databaseUrl, secretsFile);
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

test("dates are answered as yyyy-mm-dd", async () => {
  const company = await service.createCompany();
  const card = await service.issueCard({ balanceCents: 2500, expires: "2040-01-31" });
  const { body } = await call(service.url, "balance", onCard(company, card));
  expect(body).toMatchObject({ balance: 2500, expiry_date: "2040-01-31" });
  expect(await shell.succeed("liability", "--by", "day")).toMatchObject({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    periods: [{ expires: "2040-01-31", balance: 2500 }],
  });
});

test("the validity of a card can't be shortened", async () => {
  const [{ card }] = await shell.succeed(
    "card",
    "issue",
    "--balance",
    "100",
    "--expires",
    "2041-02-01",
    "--count",
    "1",
  );
  const extend = (day: string) =>
    shell.run(["card", "extend", "--card", String(card), "--expires", day, "--reason", "a test"]);
  expect((await extend("2041-01-31")).exitCode).toBe(4);
  expect((await extend("2041-02-02")).value).toMatchObject({ expiry_date: "2041-02-02" });
});

test("a key with a last day is shown when it is created", async () => {
  const { companyId } = await service.createCompany();
  const key = await shell.succeed("key", "create", "--company", String(companyId), "--expires", "2040-07-31");
  expect(key).toMatchObject({ apikey: expect.any(String), expires_at: "2040-07-31T22:00:00.000Z" });
});
