import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { call, credentials, onCard } from "./wire.js";

// Each test loses charges: it copies the database first, as a restore does, and goes on with the copy.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-lost-"));
const secretsFile = path.join(folder, "secrets.json");
const args = ["--calls-per-minute", "0"];
let lost: TestService;
let company: TestCompany;
let card: TestCard;
let kept: { service: TestService; db: pg.Client; shell: ReturnType<typeof operatorShell> };

/** A charge as a merchant's journal has it. */
interface Charge {
  readonly reference: string;
  readonly requested: number;
  readonly deducted: number;
  readonly token: string;
  readonly reversed?: boolean;
  readonly of: TestCard;
}

beforeAll(async () => {
  lost = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile, args });
  company = await lost.createCompany();
});
beforeEach(async () => {
  card = await lost.issueCard({ balanceCents: 10_000 });
});
afterAll(async () => {
  await lost.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Makes charges, and returns a service on the database as it was before them. */
async function lose(make: () => Promise<Charge[]>): Promise<Charge[]> {
  const url = await testDatabase();
  const nameOf = (address: string) => new URL(address).pathname.slice(1);
  const server = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: "/postgres" }).href });
  await server.connect();
  await server.query(`drop database "${nameOf(url)}"`);
  // The copy needs a database without connections; the service opens new ones.
  const copy = async () => {
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      nameOf(lost.databaseUrl),
    ]);
    await server.query(`create database "${nameOf(url)}" template "${nameOf(lost.databaseUrl)}"`);
  };
  await expect.poll(() => copy().then(() => "copied", String)).toBe("copied");
  await server.end();
  const charges = await make();
  const service = await startGiftcardService({ databaseUrl: url, secretsFile, args });
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  kept = { service, db, shell: operatorShell(url, secretsFile) };
  return charges;
}
const endKept = async () => {
  await kept.db.end();
  await kept.service.stop();
};

const devalue = (url: string, reference: string, amount: number, of: TestCard) =>
  call(url, "devalue", { ...onCard(company, of), amount }, { headers: { "Idempotency-Key": reference } });

async function charge(reference: string, amount: number, of = card): Promise<Charge> {
  const { status, body } = await devalue(lost.url, reference, amount, of);
  expect(status).toBe(200);
  return { reference, requested: amount, deducted: body.amount_deducted, token: body.cancel_token, of };
}

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
function write(charges: readonly Charge[], change: Record<string, string | number> = {}): string {
  const file = path.join(folder, `${Math.random()}.csv`);
  const columns = ["reference", "company", "requested", "deducted", "last_four", "token_sha256", "reversed_at"];
  const lines = charges.map(({ reference, requested, deducted, token, reversed, of }) => {
    const row: Record<string, string | number> = {
      reference,
      company: company.companyId,
      requested,
      deducted,
      last_four: of.cardNumber.slice(-4),
      token_sha256: token && hashOf(token),
      reversed_at: reversed ? "2026-01-01T00:00:00Z" : "",
      ...change,
    };
    return columns.map((name) => row[name]).join(",");
  });
  fs.writeFileSync(file, [columns.join(","), ...lines, ""].join("\n"));
  return file;
}
const importFile = (file: string, ...words: string[]) => kept.shell.run(["transactions", "import", file, ...words]);
const outcomesOf = ({ value }: { value: { rows: { outcome: string }[] } }) => value.rows.map(({ outcome }) => outcome);
const balance = async (of = card) => (await call(kept.service.url, "balance", onCard(company, of))).body.balance;
const check = () => kept.shell.succeed("check");

test("a charge is refused if anything in it differs from the one that was made", async () => {
  const other = await lost.issueCard({ balanceCents: 10_000 });
  const [one] = await lose(async () => [await charge("differs", 1000)]);
  const stranger = await kept.service.createCompany();
  const changes = [
    { reference: "another" },
    { company: stranger.companyId },
    { requested: 1001 },
    { last_four: other.cardNumber.slice(-4) },
    { token_sha256: "0".repeat(64) },
    { token_sha256: "" },
  ];
  for (const change of changes) {
    const result = await importFile(write([one as Charge], change));
    expect([change, result.exitCode, outcomesOf(result)]).toEqual([change, 4, ["card_unproven"]]);
  }
  const unknown = await importFile(write([one as Charge], { company: 999 }));
  expect([unknown.exitCode, outcomesOf(unknown)]).toEqual([4, ["company_unknown"]]);
  const faulty = [
    { deducted: 1001 },
    { deducted: 0 },
    { requested: "ten" },
    { reversed_at: "later" },
    { reversed_at: 0 },
  ];
  for (const change of faulty) {
    const result = await importFile(write([one as Charge], change));
    expect([change, result.exitCode, result.value.fault_count]).toEqual([change, 4, 1]);
  }
  expect(await balance()).toBe(10_000);
  expect(outcomesOf(await importFile(write([one as Charge])))).toEqual(["booked"]);
  // The import knows neither number nor PIN, so a repeated call is compared with the charge itself.
  for (const [amount, of] of [
    [1001, card],
    [1000, other],
    [1000, { ...card, pin: other.pin }],
  ] as const) {
    const { status, body } = await devalue(kept.service.url, "differs", amount, of);
    expect([status, body.error]).toEqual([422, expect.stringContaining("used with other parameters")]);
  }
  expect((await devalue(kept.service.url, "differs", 1000, card)).body.cancel_token).toBe(one?.token);
  const again = await importFile(write([one as Charge], { deducted: 999 }));
  expect([again.exitCode, outcomesOf(again)]).toEqual([4, ["differs"]]);
  expect(await balance()).toBe(9000);
  await endKept();
});

test("a reference that the shop resolved after the restore is not booked", async () => {
  const [one] = await lose(async () => [await charge("resolved", 1000)]);
  const headers = { "Idempotency-Key": "resolved" };
  await call(kept.service.url, "cancelDevalue", credentials(company), { headers });
  const result = await importFile(write([one as Charge]));
  expect([result.exitCode, outcomesOf(result)]).toEqual([4, ["key_closed"]]);
  expect(outcomesOf(await importFile(write([{ ...(one as Charge), reversed: true }])))).toEqual(["unchanged"]);
  expect(await balance()).toBe(10_000);
  await endKept();
});

test("a cancel without a token is refused, unless the operator names its company as the sender", async () => {
  await lose(async () => []);
  const { cancel_token: token } = (await devalue(kept.service.url, "guessed", 1000, card)).body;
  const stranger = await kept.service.createCompany();
  const forged = write([{ reference: "guessed", requested: 1000, deducted: 1, token: "", reversed: true, of: card }]);
  for (const words of [[], ["--company", String(stranger.companyId)], ["--dry-run"]]) {
    const result = await importFile(forged, ...words);
    expect([words, result.exitCode, outcomesOf(result)]).toEqual([words, 4, ["cancel_unproven"]]);
  }
  // Nor does it come along with a row that is booked.
  const genuine = { reference: "guessed", requested: 1000, deducted: 1000, token, of: card };
  const both = await importFile(write([{ ...genuine, token: "", reversed: true }, genuine]));
  expect([both.exitCode, outcomesOf(both)]).toEqual([4, ["cancel_unproven", "unchanged"]]);
  expect(await balance()).toBe(9000);
  const own = await importFile(forged, "--company", String(company.companyId));
  expect([own.exitCode, outcomesOf(own)]).toEqual([0, ["reversed"]]);
  expect(await balance()).toBe(10_000);
  expect(await check()).toMatchObject({ ok: true });
  await endKept();
});

test("a forged row does not hide the genuine one with its reference", async () => {
  const [one, other] = await lose(async () => [await charge("hidden", 1000), await charge("beside", 500)]);
  const forged = { ...(one as Charge), token: "forged" };
  const dry = await importFile(write([forged, one as Charge]), "--dry-run");
  expect([dry.exitCode, outcomesOf(dry)]).toEqual([4, ["card_unproven", "booked"]]);
  const { value } = await importFile(write([forged, one as Charge]));
  expect(outcomesOf({ value })).toEqual(["card_unproven", "booked"]);
  expect(await balance()).toBe(9000);
  // A cancel without a token stays out also if the charge is booked by a row of the same file.
  const late = await importFile(write([other as Charge, { ...(other as Charge), token: "", reversed: true }]));
  expect(outcomesOf(late)).toEqual(["booked", "cancel_unproven"]);
  expect(await balance()).toBe(8500);
  await endKept();
});

test("a devalue that was repeated after the restore gets the same token, and is not booked again", async () => {
  const [one] = await lose(async () => [await charge("repeated", 1000)]);
  const { body } = await devalue(kept.service.url, "repeated", 1000, card);
  expect(body.cancel_token).toBe(one?.token);
  expect(outcomesOf(await importFile(write([one as Charge])))).toEqual(["unchanged"]);
  expect(await balance()).toBe(9000);
  await endKept();
});

test("a charge of a card that was rehashed in the lost time after a rotation is booked once its number is given", async () => {
  await operatorShell(lost.databaseUrl, secretsFile).succeed("secrets", "rotate", "--reason", "a test");
  const rotated = await lose(async () => [await charge("rehashed", 1000)]);
  const without = await importFile(write(rotated));
  expect([without.exitCode, outcomesOf(without)]).toEqual([4, ["card_unproven"]]);
  const words = ["transactions", "import", write(rotated), "--numbers-stdin"];
  const given = await kept.shell.run(words, `9528000000000000000\n${card.cardNumber}\n`);
  expect([given.exitCode, outcomesOf(given)]).toEqual([0, ["booked"]]);
  expect(await balance()).toBe(9000);
  await endKept();
});

test("if an import is killed midway, the next one books the rest", async () => {
  const charges = await lose(async () => {
    const made: Charge[] = [];
    for (let n = 0; n < 20; n++) made.push(await charge(`killed-${n}`, 100));
    return made;
  });
  const file = write(charges);
  await kept.db.query(`create function stop() returns trigger language plpgsql as $$
    begin if (select count(*) from ledger where audit_id is not null and kind = 'devalue') >= 7 then
      perform pg_advisory_xact_lock(4711); end if; return new; end $$`);
  await kept.db.query("create trigger stop before insert on ledger for each row execute function stop()");
  await kept.db.query("select pg_advisory_lock(4711)");
  const running = importFile(file);
  const waiting = async () =>
    (await kept.db.query("select pid from pg_locks where locktype = 'advisory' and not granted")).rows[0]?.pid;
  await expect.poll(waiting).toBeDefined();
  await kept.db.query("select pg_terminate_backend($1)", [await waiting()]);
  expect((await running).exitCode).not.toBe(0);
  await kept.db.query("select pg_advisory_unlock(4711)");
  await kept.db.query("drop trigger stop on ledger");
  expect(await balance()).toBe(9300);
  const { value } = await importFile(file);
  expect(value).toMatchObject({ booked: 13, unchanged: 7, failed: 0 });
  expect(await balance()).toBe(8000);
  expect(await check()).toMatchObject({ ok: true });
  await endKept();
});

test("two imports of a file, beside devalues and cancels of the same cards, book each charge once", async () => {
  const second = await lost.issueCard({ balanceCents: 10_000 });
  const charges = await lose(async () => {
    const made: Charge[] = [];
    for (let n = 0; n < 30; n++) {
      const { token, ...one } = await charge(`raced-${n}`, 100, n % 2 ? card : second);
      if (n >= 20) await call(lost.url, "cancelDevalue", { ...credentials(company), cancel_token: token });
      made.push({ ...one, token, reversed: n >= 20 });
    }
    return made;
  });
  const [file, again] = [write(charges), write(charges)];
  let isDone = false;
  const taken = { count: 0, canceled: 0 };
  const live = async (of: TestCard, name: string) => {
    for (let n = 0; !isDone; n++) {
      const { status, body } = await devalue(kept.service.url, `${name}-${n}`, 7, of);
      expect(status).toBe(200);
      taken.count += 1;
      const cancel_token = n % 3 ? charges[n % 20]?.token : body.cancel_token;
      const canceled = await call(kept.service.url, "cancelDevalue", { ...credentials(company), cancel_token });
      expect([200, 404, 409]).toContain(canceled.status);
      if (canceled.status === 200) taken.canceled += canceled.body.amount_refunded;
    }
  };
  const calls = [card, second, card, second].map((of, index) => live(of, `live-${index}`));
  const results = await Promise.all([kept.shell.run(["transactions", "import", file]), importFile(again)]);
  isDone = true;
  await Promise.all(calls);
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(results.reduce((sum, { value }) => sum + value.booked, 0)).toBe(30);
  expect((await balance()) + (await balance(second))).toBe(20_000 - 2000 - 7 * taken.count + taken.canceled);
  expect(await check()).toMatchObject({ ok: true });
  await endKept();
});
