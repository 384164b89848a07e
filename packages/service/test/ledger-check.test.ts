import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runCommand, type TestCompany } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { call, credentials, onCard } from "./wire.js";

const service = serviceForFile();
const db = databaseForFile(service);
let shop: TestCompany;
let other: TestCompany;
const lastFours: string[] = [];

beforeAll(async () => {
  [shop, other] = [await service.createCompany(), await service.createCompany()];
  const [first, second] = [
    await service.issueCard({ balanceCents: 7500 }),
    await service.issueCard({ balanceCents: 900 }),
  ];
  lastFours.push(first.cardNumber.slice(-4), second.cardNumber.slice(-4));
  const take = async (company: TestCompany, card: typeof first, amount: number) =>
    (
      await call(
        service.url,
        "devalue",
        { ...onCard(company, card), amount },
        { headers: { "Idempotency-Key": `k${amount}` } },
      )
    ).body;
  const { cancel_token } = await take(shop, first, 1000);
  await call(service.url, "cancelDevalue", { ...credentials(shop), cancel_token });
  await take(shop, first, 2000);
  await take(shop, second, 300);
  await take(other, first, 450);
});

const env = () => ({ GIFTCARD_DATABASE_URL: service.databaseUrl });
async function check() {
  const { exitCode, stdout, stderr } = await runCommand(["check", "--json"], env());
  return { exitCode, stderr, ...JSON.parse(stdout) };
}

/**
 * Runs a statement without triggers and foreign keys, as the service never could. Returns the result of a check, and undoes
 * the statement.
 */
async function tamper(statement: string, undo: string) {
  const run = async (text: string) => {
    await db.query("set session_replication_role = replica");
    await db.query(text);
    await db.query("set session_replication_role = origin");
  };
  await run(statement);
  const found = await check();
  await run(undo);
  return found;
}

test("check accepts a correct ledger, and reports the cards, rows and balance that it checked", async () => {
  expect(await check()).toMatchObject({
    exitCode: 0,
    ok: true,
    cards: 2,
    ledger_rows: 7,
    balance: 5650,
    faults: [],
  });
});

test("check finds a cent that was moved by hand, reports both cards, and exits with 1", async () => {
  const found = await tamper(
    "update cards set balance_cents = balance_cents + case id when 1 then -1 else 1 end",
    "update cards set balance_cents = balance_cents - case id when 1 then -1 else 1 end",
  );
  expect(found).toMatchObject({ exitCode: 1, exit_code: 1, ok: false });
  const fault = { rule: "balance_is_ledger", ledger_row: null };
  expect(found.faults).toEqual([
    { ...fault, card: 1, last_four: lastFours[0], expected: 5050, found: 5049 },
    { ...fault, card: 2, last_four: lastFours[1], expected: 600, found: 601 },
  ]);
  expect(found.stderr).toContain("balance_is_ledger: card 1");
  expect((await check()).exitCode).toBe(0);
});

test("check finds a reversal of a wrong amount, a reversal of nothing, a negative balance, and a key with a wrong row", async () => {
  const canceled = await tamper(
    "update ledger set amount_cents = 999 where kind = 'cancel'",
    "update ledger set amount_cents = 1000 where kind = 'cancel'",
  );
  expect(canceled.faults).toContainEqual(
    expect.objectContaining({ rule: "one_reversal_each", expected: 1000, found: 999 }),
  );
  const orphaned = await tamper(
    "update ledger set reverses = 1 where kind = 'cancel'",
    "update ledger set reverses = 3 where kind = 'cancel'",
  );
  expect(orphaned.faults).toEqual([expect.objectContaining({ rule: "one_reversal_each", expected: null })]);
  const overdrawn = await tamper(
    "update ledger set amount_cents = 10 where card_id = 2 and kind = 'issue'",
    "update ledger set amount_cents = 900 where card_id = 2 and kind = 'issue'",
  );
  expect(overdrawn.faults).toContainEqual(expect.objectContaining({ rule: "never_below_zero", card: 2, found: -290 }));
  const keyed = await tamper(
    "update idempotency_keys set ledger_id = 1 where ledger_id = 3",
    "update idempotency_keys set ledger_id = 3 where ledger_id = 1",
  );
  expect(keyed.faults).toEqual([expect.objectContaining({ rule: "key_has_its_row", ledger_row: 1 })]);
  expect((await check()).exitCode).toBe(0);
});

const period = ["--from", "2000-01-01", "--to", "2100-01-01"];

test("report lists the money that each company took from and returned to each card, and the totals", async () => {
  const report = await service.command("report", ...period);
  const row = { company: "A shop", cancels: 0, canceled: 0 };
  const first = { card: 1, last_four: lastFours[0], balance: 5050 };
  expect(report).toEqual({
    from: "2000-01-01",
    to: "2100-01-01",
    cards: [
      {
        ...row,
        ...first,
        company_id: shop.companyId,
        devalues: 2,
        devalued: 3000,
        cancels: 1,
        canceled: 1000,
        outstanding: 2000,
      },
      {
        ...row,
        company_id: shop.companyId,
        card: 2,
        last_four: lastFours[1],
        balance: 600,
        devalues: 1,
        devalued: 300,
        outstanding: 300,
      },
      { ...row, ...first, company_id: other.companyId, devalues: 1, devalued: 450, outstanding: 450 },
    ],
    companies: [
      {
        company_id: shop.companyId,
        company: "A shop",
        devalues: 3,
        devalued: 3300,
        cancels: 1,
        canceled: 1000,
        outstanding: 2300,
      },
      {
        company_id: other.companyId,
        company: "A shop",
        devalues: 1,
        devalued: 450,
        cancels: 0,
        canceled: 0,
        outstanding: 450,
      },
    ],
    total: { devalues: 4, devalued: 3750, cancels: 1, canceled: 1000, outstanding: 2750 },
  });
  const alone = (await service.command("report", ...period, "--company", String(other.companyId))) as {
    total: object;
  };
  expect(alone.total).toMatchObject({ outstanding: 450 });
});

test("a report's period begins and ends at midnight in Amsterdam", async () => {
  await db.query("set session_replication_role = replica");
  await db.query("update ledger set created_at = '2030-06-30T22:30:00Z' where company_id = $1", [other.companyId]);
  await db.query("set session_replication_role = origin");
  const on = async (day: string) =>
    ((await service.command("report", "--from", day, "--to", day)) as { total: { devalues: number } }).total.devalues;
  expect([await on("2030-06-30"), await on("2030-07-01")]).toEqual([0, 1]);
});

test("a report is printed as a table, or as CSV in which no name can act as a spreadsheet formula", async () => {
  await db.query("update companies set name = '=1+2, \"Ltd\"' where id = $1", [other.companyId]);
  const csv = await runCommand(["report", ...period, "--csv", "--company", String(other.companyId)], env());
  expect(csv.stdout.split("\r\n")).toEqual([
    "company_id,company,card,last_four,devalues,devalued,cancels,canceled,outstanding,balance",
    `${other.companyId},"'=1+2, ""Ltd""",1,"${lastFours[0]}",1,450,0,0,450,5050`,
    "",
  ]);
  const table = await runCommand(["report", ...period], env());
  expect(table.stdout).toMatch(/total +4 +37\.50 +1 +10\.00 +27\.50/);
  expect((await runCommand(["report", ...period, "--csv", "--json"], env())).exitCode).toBe(2);
  expect((await runCommand(["report", "--from", "2030-02-02", "--to", "2030-02-01"], env())).exitCode).toBe(2);
});

test("check finds a move without its other half, an adjustment that differs from its audit entry, and money on a closed card", async () => {
  const card = await service.issueCard({ balanceCents: 700 });
  await service.command("card", "adjust", card.cardNumber, "--by", "50");
  const { replaces: old, card: made } = (await service.command("card", "reissue", card.cardNumber)) as {
    replaces: number;
    card: number;
  };
  expect((await check()).exitCode).toBe(0);
  const moved = await tamper(
    `update ledger set amount_cents = 751 where card_id = ${made}`,
    `update ledger set amount_cents = 750 where card_id = ${made}`,
  );
  expect(moved.faults).toContainEqual(
    expect.objectContaining({ rule: "move_has_two_halves", card: old, expected: 750, found: 751 }),
  );
  const misdirected = await tamper(
    `update cards set reissued_as = 2 where id = ${old}`,
    `update cards set reissued_as = ${made} where id = ${old}`,
  );
  expect(misdirected.faults).toEqual([expect.objectContaining({ rule: "move_has_two_halves", card: old })]);
  const adjusted = await tamper(
    "update audit_log set details = '{\"by\": 60}' where action = 'card adjust'",
    "update audit_log set details = '{\"by\": 50}' where action = 'card adjust'",
  );
  expect(adjusted.faults).toEqual([
    expect.objectContaining({ rule: "adjustment_has_its_entry", card: old, expected: 60, found: 50 }),
  ]);
  const closed = await tamper(
    `update cards set reissued_as = 1 where id = ${made}`,
    `update cards set reissued_as = null where id = ${made}`,
  );
  expect(closed.faults).toEqual([expect.objectContaining({ rule: "closed_is_empty", card: made })]);
  const inactive = await tamper(
    `update cards set inactive_cents = 5 where id = ${old}`,
    `update cards set inactive_cents = null where id = ${old}`,
  );
  expect(inactive.faults).toEqual([expect.objectContaining({ rule: "closed_is_empty", card: old })]);
  expect((await check()).exitCode).toBe(0);
});

test("check takes seconds after a bulk reissue that the planner does not know of yet", {
  timeout: 180_000,
}, async () => {
  const cards = 15_000;
  await db.query("alter table ledger set (autovacuum_enabled = false)");
  await db.query("alter table cards set (autovacuum_enabled = false)");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-reissued-"));
  const file = (name: string) => path.join(folder, name);
  const made = await service.command(
    ...["card", "issue", "--balance", "100", "--count", String(cards), "--out", file("old.csv")],
  );
  const { batch } = made as { batch: number };
  await db.query("analyze ledger, cards");
  await service.command(
    ...["card", "reissue", "--batch", String(batch), "--out", file("new.csv"), "--reason", "the numbers leaked"],
  );
  fs.rmSync(folder, { recursive: true });
  const startedAtMs = performance.now();
  expect(await check()).toMatchObject({ exitCode: 0, faults: [] });
  // A join of all moves with all replacements took 20 seconds.
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
});
