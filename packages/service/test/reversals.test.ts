import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  runCommand,
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, credentials, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-reversals-"));
let service: TestService;
let shop: TestCompany;
let other: TestCompany;
let db: pg.Client;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile });
  env = { GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile };
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  [shop, other] = [await service.createCompany(), await service.createCompany()];
});

afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const issue = () => service.issueCard({ balanceCents: 5000, expires: "2031-05-31" });
const change = (action: string, card: { cardNumber: string }, ...words: string[]) =>
  service.command("card", action, card.cardNumber, ...words);

/** Devalues a card. @returns a function that reverses the devalue */
async function charge(card: TestCard, amount: number, company = shop) {
  const { body } = await call(service.url, "devalue", { ...onCard(company, card), amount });
  return async () => {
    const answer = await call(service.url, "cancelDevalue", {
      ...credentials(company),
      cancel_token: body.cancel_token,
    });
    expect(answer.status).toBe(200);
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the output of the command
const list = (...words: string[]): Promise<any> => service.command("reversals", ...words);

/** Returns the card's status at the reversal and its present status, for each listed reversal of this amount. */
const statusesOf = async (amount: number) => {
  const rows: { amount: number; status_then: string; card_status: string }[] = await list();
  return rows.filter((row) => row.amount === amount).map((row) => [row.status_then, row.card_status]);
};

test("reversals lists no reversal onto a card that could be spent then and still can", async () => {
  await (await charge(await issue(), 100))();
  expect(await list()).toEqual([]);
  const text = await runCommand(["reversals"], env);
  expect(text.stdout).toBe("no reversals onto blocked or expired cards\n");
});

test("reversals lists a reversal by key onto a blocked card, with company, amount, time and last four digits", async () => {
  const card = await issue();
  const headers = { "Idempotency-Key": "gc_blocked" };
  await call(service.url, "devalue", { ...onCard(shop, card), amount: 200 }, { headers });
  await change("block", card);
  const ended = await call(service.url, "cancelDevalue", credentials(shop), { headers });
  expect(ended.status).toBe(200);
  const [row, ...more] = await list();
  expect(more).toEqual([]);
  expect(row).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    amount: 200,
    company_id: shop.companyId,
    company: "A shop",
    card: expect.any(Number),
    last_four: card.cardNumber.slice(-4),
    status_then: "Blocked",
    reissued_as: null,
    card_status: "Blocked",
    balance: 5000,
  });
  expect(Math.abs(Date.parse(row.at) - Date.now())).toBeLessThan(120_000);
  const text = await runCommand(["reversals"], env);
  expect(text.stdout).toMatch(
    /Z +2\.00 {2}card \d+ \(…\d{4}\) {2}company \d+ A shop {2}then Blocked {2}now Blocked, holds 50\.00\n$/,
  );
  expect(text.stdout).not.toContain(card.cardNumber);
});

test("reversals still lists a reversal onto a blocked card after the card is unblocked", async () => {
  const card = await issue();
  const [blocked, unblocked] = [await charge(card, 301), await charge(card, 302)];
  await change("block", card);
  await blocked();
  await change("unblock", card);
  await unblocked();
  expect(await statusesOf(301)).toEqual([["Blocked", "Active"]]);
  expect(await statusesOf(302)).toEqual([]);
});

test("reversals lists a reversal onto a card that is blocked only later", async () => {
  const card = await issue();
  await (await charge(card, 400))();
  await change("block", card);
  expect(await statusesOf(400)).toEqual([["Active", "Blocked"]]);
});

/** Changes rows in ways that no command can, such as the time of a ledger row. */
async function rewrite(statement: string, values: unknown[]) {
  await db.query("set session_replication_role = replica");
  await db.query(statement, values);
  await db.query("set session_replication_role = origin");
}
const expire = ({ cardNumber }: TestCard) =>
  rewrite("update cards set expiry_date = (now() at time zone 'Europe/Amsterdam')::date - 1 where last_four = $1", [
    cardNumber.slice(-4),
  ]);

test("reversals judges expiry by the date that the card had when the money was refunded", async () => {
  const card = await issue();
  const [before, expired, extended] = [await charge(card, 501), await charge(card, 502), await charge(card, 503)];
  await before();
  await rewrite("update ledger set created_at = created_at - interval '9 days' where amount_cents = 501", []);
  await expire(card);
  await expired();
  expect(await statusesOf(501)).toEqual([["Active", "Expired"]]);
  expect(await statusesOf(502)).toEqual([["Expired", "Expired"]]);
  await change("extend", card, "--expires", "2032-05-31");
  await extended();
  expect(await statusesOf(501)).toEqual([]);
  expect(await statusesOf(502)).toEqual([["Expired", "Active"]]);
  expect(await statusesOf(503)).toEqual([]);
});

test("reversals judges a reissued card by the card that got the money", async () => {
  const card = await issue();
  const [atOnce, later] = [await charge(card, 601), await charge(card, 602)];
  await change("block", card);
  const made = (await change("reissue", card)) as { card: number; cardnumber: string };
  await atOnce();
  expect(await statusesOf(601)).toEqual([]);
  await change("block", { cardNumber: made.cardnumber });
  await later();
  expect(await statusesOf(601)).toEqual([["Active", "Blocked"]]);
  expect(await statusesOf(602)).toEqual([["Blocked", "Blocked"]]);
  const row = (await list()).find(({ amount }: { amount: number }) => amount === 602);
  expect(row).toMatchObject({
    last_four: card.cardNumber.slice(-4),
    reissued_as: made.card,
    balance: 5000,
  });
});

test("reversals filters by company and day, and prints CSV", async () => {
  const card = await issue();
  await (await charge(card, 701, other))();
  await change("block", card);
  const ofOther = await list("--company", String(other.companyId));
  expect(ofOther.map(({ amount }: { amount: number }) => amount)).toEqual([701]);
  await rewrite("update ledger set created_at = '2030-06-30T22:30:00Z' where amount_cents = 701", []);
  const amountsOn = async (...words: string[]) =>
    (await list(...words)).map(({ amount }: { amount: number }) => amount);
  expect(await amountsOn("--from", "2030-07-01", "--to", "2030-07-01")).toEqual([701]);
  expect(await amountsOn("--from", "2030-07-02")).toEqual([]);
  expect(await amountsOn("--to", "2030-06-30")).not.toContain(701);
  await db.query("update companies set name = '=1+2' where id = $1", [other.companyId]);
  const { stdout } = await runCommand(["reversals", "--company", String(other.companyId), "--csv"], env);
  const lastFour = card.cardNumber.slice(-4);
  expect(stdout.split("\r\n")).toEqual([
    "id,at,amount,company_id,company,card,last_four,status_then,reissued_as,card_status,balance",
    expect.stringMatching(
      new RegExp(
        `^\\d+,"2030-06-30T22:30:00.000Z",701,${other.companyId},"'=1\\+2",\\d+,"${lastFour}","Blocked",,"Blocked",5000$`,
      ),
    ),
    "",
  ]);
});
