// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { call, credentials, onCard } from "./wire.js";

// Each test ends with all of its rows moved to an earlier day, so that the next one works on another day.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-liability-"));
let service: TestService;
let company: TestCompany;
let db: pg.Client;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl, secretsFile });
  shell = operatorShell(databaseUrl, secretsFile);
  company = await service.createCompany();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  expect(await shell.succeed("check")).toMatchObject({ ok: true, faults: [] });
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const WHY = ["--reason", "a test"];
const devalue = async (card: TestCard, amount: number): Promise<string> =>
  (await call(service.url, "devalue", { ...onCard(company, card), amount })).body.cancel_token;
const cancel = (cancel_token: string) => call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
const dayAgo = async (days: number): Promise<string> =>
  (await db.query("select ((now() at time zone 'Europe/Amsterdam')::date - $1::int)::text as day", [days])).rows[0].day;
/** Moves everything that happened so far into the past, without the triggers that keep the ledger append-only. */
async function passDays(days: number): Promise<void> {
  await db.query("set session_replication_role = replica");
  for (const table of ["ledger", "audit_log", "cards"])
    await db.query(`update ${table} set created_at = created_at - make_interval(days => $1)`, [days]);
  await db.query("set session_replication_role = default");
}
const expectBalance = async (card: TestCard, balance: number, card_status: string) =>
  expect((await call(service.url, "balance", onCard(company, card))).body).toMatchObject({ balance, card_status });

test("the liability of a past day, and what happened since, add up from the ledger", async () => {
  const card = await service.issueCard({ balanceCents: 9000, expires: "2031-05-31" });
  const extended = await service.issueCard({ balanceCents: 700, expires: "2020-01-01" });
  const stock = await shell.succeed("card", "issue", "--balance", "2500", "--inactive", "--expires", "2032-01-01");
  const kept = await devalue(card, 1000);
  const first = await shell.succeed("liability");
  await passDays(10);
  const day = await dayAgo(10);
  // All of this comes later, and must not change that day.
  await devalue(card, 2000);
  await cancel(kept);
  await shell.succeed("card", "extend", extended.cardNumber, "--expires", "2033-01-01", ...WHY);
  await shell.succeed("card", "block", extended.cardNumber, ...WHY);
  await shell.succeed("card", "activate", stock.cardnumber);
  await shell.succeed("card", "adjust", card.cardNumber, "--by", "-50", ...WHY);
  await shell.succeed("card", "reissue", card.cardNumber, ...WHY);
  await service.issueCard({ balanceCents: 300, expires: "2031-05-31" });
  const { at: _at, ...expected } = first;
  expect(await shell.succeed("liability", "--at", day)).toEqual({ ...expected, day, at: expect.any(String) });
  expect(first).toMatchObject({
    total: { cards: 2, balance: 8700, expired_cards: 1, expired_balance: 700, blocked_cards: 0 },
    inactive_cards: 1,
    inactive_balance: 2500,
  });
  expect(await shell.succeed("liability", "--at", await dayAgo(11))).toMatchObject({
    total: { cards: 0, balance: 0 },
    periods: [],
    inactive_cards: 0,
  });
  const today = await dayAgo(0);
  const now = await shell.succeed("liability");
  expect((await shell.succeed("liability", "--at", today)).total).toEqual(now.total);
  const forward = (from: string, to: string) => shell.succeed("liability", "--from", from, "--to", to);
  expect(await forward(await dayAgo(9), today)).toEqual({
    from: await dayAgo(9),
    to: today,
    opening: 8700,
    issued: 300,
    activated: 2500,
    redeemed: -2000,
    reversed: 1000,
    adjusted: -50,
    expired: 0,
    moved: 0,
    closing: now.total.balance,
  });
  const before = await forward(day, await dayAgo(1));
  expect(before).toMatchObject({ opening: 0, issued: 9700, redeemed: -1000, closing: 8700 });
  const { from: _from, to: _to, opening, closing, ...causes } = before;
  expect(opening + Object.values(causes as Record<string, number>).reduce((sum, cents) => sum + cents, 0)).toBe(
    closing,
  );
});

test("expired balances are written off with a row of their own, and a later refund still works", async () => {
  const [expired, blocked, late, lasting] = [
    await service.issueCard({ balanceCents: 1500, expires: "2020-01-01" }),
    await service.issueCard({ balanceCents: 400, expires: "2020-01-01" }),
    await service.issueCard({ balanceCents: 600, expires: "2031-01-01" }),
    await service.issueCard({ balanceCents: 800, expires: "2031-01-01" }),
  ];
  const setExpiry = (card: TestCard, day: string) =>
    shell
      .succeed("card", "show", card.cardNumber)
      .then(({ card: id }) => db.query("update cards set expiry_date = $2 where id = $1", [id, day]));
  await setExpiry(expired, "2031-01-01");
  const [token, lateToken] = [await devalue(expired, 500), await devalue(late, 100)];
  await setExpiry(expired, "2020-01-01");
  await setExpiry(late, "2020-01-01");
  await shell.succeed("card", "block", blocked.cardNumber, ...WHY);
  await passDays(30);
  // A refund after the day of the rule keeps its card.
  await cancel(lateToken);
  const before = await dayAgo(5);
  const expire = ["expire", "--before", before, ...WHY];
  expect(await shell.succeed(...expire, "--dry-run")).toEqual({ before, cards: 1, balance: 1000, dry_run: true });
  await expectBalance(expired, 1000, "Expired");
  const sum = async () => (await shell.succeed("liability")).total.balance;
  const held = await sum();
  expect(await shell.succeed(...expire)).toEqual({ before, cards: 1, balance: 1000, dry_run: false });
  expect(await sum()).toBe(held - 1000);
  await expectBalance(expired, 0, "Expired");
  await expectBalance(blocked, 400, "Blocked");
  await expectBalance(late, 600, "Expired");
  await expectBalance(lasting, 800, "Active");
  const { card, history } = await shell.succeed("card", "show", expired.cardNumber, "--history");
  const entry = (await shell.succeed("audit", "--card", String(card))).at(-1);
  expect(entry).toMatchObject({
    action: "expire",
    reason: WHY[1],
    details: { balance: 1000, expiry_date: "2020-01-01" },
  });
  expect(history.at(-1)).toMatchObject({ kind: "expire", amount: -1000, balance: 0, audit: entry.id });
  expect(await shell.succeed(...expire)).toMatchObject({ cards: 0, balance: 0 });
  const today = await dayAgo(0);
  expect((await shell.succeed("liability", "--from", today, "--to", today)).expired).toBe(-1000);
  // The contract: a cancel reloads an expired card too.
  const refunded = await cancel(token);
  expect([refunded.status, refunded.body]).toEqual([
    200,
    { success: true, amount_refunded: 500, card_new_balance: 500 },
  ]);
  await expectBalance(expired, 500, "Expired");
  expect(await shell.succeed(...expire)).toMatchObject({ cards: 0 });
});

test("a refund that is committed while expired balances are written off keeps its card's money", async () => {
  const card = await service.issueCard({ balanceCents: 2000, expires: "2031-01-01" });
  await devalue(card, 700);
  const { card: id } = await shell.succeed("card", "show", card.cardNumber);
  await db.query("update cards set expiry_date = '2020-01-01' where id = $1", [id]);
  await passDays(30);
  await db.query("begin");
  await db.query("select reverse_deduction(id) from ledger where card_id = $1 and kind = 'devalue'", [id]);
  const expiring = shell.run(["expire", "--before", await dayAgo(5), ...WHY]);
  const blocked = "select count(*)::int as n from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))";
  const waiting = async () => (await db.query(blocked)).rows[0].n;
  await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThan(0);
  await db.query("commit");
  expect((await expiring).exitCode).toBe(0);
  await expectBalance(card, 2000, "Expired");
});

test("a write-off whose audit entry says otherwise is found by `check`", async () => {
  await db.query("set session_replication_role = replica");
  const change = (by: number) =>
    db.query(
      `update audit_log set details = details || jsonb_build_object('balance', (details ->> 'balance')::int + $1)
         where id = (select min(id) from audit_log where action = 'expire')`,
      [by],
    );
  await change(1);
  expect((await shell.run(["check"])).value.faults).toEqual([
    expect.objectContaining({ rule: "write_off_has_its_entry", expected: 1001, found: 1000 }),
  ]);
  await change(-1);
  await db.query("set session_replication_role = default");
});
