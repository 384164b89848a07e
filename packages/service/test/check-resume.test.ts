import { expect, test } from "vitest";
import { runCommand, type TestCard, type TestCompany } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { call, credentials, onCard } from "./wire.js";

const service = serviceForFile({ args: ["--calls-per-minute", "0"] });
const db = databaseForFile(service);
let company: TestCompany;
let card: TestCard;

async function check(...words: string[]) {
  const env = { GIFTCARD_DATABASE_URL: service.databaseUrl };
  const { exitCode, stdout, stderr } = await runCommand(["check", ...words, "--json"], env);
  return { exitCode, stderr, ...JSON.parse(stdout) };
}
const resume = () => check("--resume", "--seconds", "5");
const take = async (amount: number) =>
  (await call(service.url, "devalue", { ...onCard(company, card), amount })).body.cancel_token as string;
const cancel = (cancel_token: string) => call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
/** Runs a statement without triggers and foreign keys, as the service never could. */
async function tamper(text: string) {
  await db.query("set session_replication_role = replica");
  await db.query(text);
  await db.query("set session_replication_role = origin");
}
const COLUMNS = `id, card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, reverses,
  created_at, audit_id, moved_from, moved_from_card`;
/** Runs `work` after a change that the service could not make, and undoes the change. */
async function whileTampered(text: string, work: () => Promise<void>) {
  await db.query("create table kept_ledger as table ledger; create table kept_cards as table cards");
  await tamper(text);
  await work().finally(() =>
    tamper(`delete from ledger;
    insert into ledger (${COLUMNS}) overriding system value select ${COLUMNS} from kept_ledger;
    update cards c set balance_cents = k.balance_cents from kept_cards k where k.id = c.id;
    drop table kept_ledger, kept_cards`),
  );
}
const newestRow = async () => (await db.query("select max(id)::int as id from ledger")).rows[0].id as number;

test("a run verifies only the rows that were added since the last one", async () => {
  company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 50_000 });
  const tokens = [await take(100), await take(200)];
  expect(await resume()).toMatchObject({ exitCode: 0, ok: true, new_rows: 3, through: 3, current: true, faults: [] });
  await cancel(tokens[0] as string);
  expect(await resume()).toMatchObject({ ok: true, new_rows: 1, through: 4, current: true });
  expect(await resume()).toMatchObject({ ok: true, new_rows: 0, through: 4, current: true });
});

test.each([
  ["one_reversal_each", "update ledger set amount_cents = amount_cents + 1 where kind = 'cancel' and id > 4"],
  ["balance_is_ledger", "update cards set balance_cents = balance_cents + 1"],
  [
    "never_below_zero",
    `update ledger set kind = 'adjust', amount_cents = -60000, audit_id = (select min(id) from audit_log), company_id = null,
      requested_cents = null, deduction_id = null, token_nonce = null, token_hash = null where id = 5`,
  ],
])("a new row that breaks %s is found at each run, until it is repaired", async (rule, statement) => {
  const before = await newestRow();
  if (before === 4) await cancel(await take(300));
  await whileTampered(statement, async () => {
    for (let run = 0; run < 2; run++) {
      const found = await resume();
      expect([found.exitCode, found.ok, found.through]).toEqual([1, false, 4]);
      expect(found.faults).toContainEqual(expect.objectContaining({ rule }));
    }
  });
});

test("after the repair, the rows are verified", async () => {
  expect(await resume()).toMatchObject({ ok: true, new_rows: 2, through: 6, current: true });
});

test.each([
  [
    "an amount, with the balance",
    "update ledger set amount_cents = -199 where id = 3; update cards set balance_cents = balance_cents + 1",
  ],
  ["a company", "update ledger set company_id = 999 where id = 3"],
  ["a time", "update ledger set created_at = created_at - interval '1 day' where id = 1"],
  ["a deleted row", "delete from ledger where id = 6"],
])(
  "a verified row that was changed is found by its digest, by a further run and by a check of all rows: %s",
  async (_, statement) => {
    const fault = expect.objectContaining({ rule: "verified_is_unchanged" });
    await whileTampered(statement, async () => {
      const found = await resume();
      expect([found.exitCode, found.faults]).toEqual([1, expect.arrayContaining([fault])]);
      expect((await check()).faults).toContainEqual(fault);
    });
    expect(await resume()).toMatchObject({ ok: true });
    expect(await check()).toMatchObject({ ok: true });
  },
);

test("a row whose transaction commits after a later row is not missed", async () => {
  const slow = "select pg_advisory_xact_lock(4711)";
  await db.query(`begin; ${slow}; insert into ledger (card_id, kind, amount_cents, audit_id)
    select c.id, 'adjust', 5, a.id from cards c, (select min(id) as id from audit_log) a`);
  const early = await newestRow();
  const other = await service.issueCard({ balanceCents: 700 });
  const running = resume();
  let isDone = false;
  void running.then(() => (isDone = true));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(isDone).toBe(false);
  await db.query("commit");
  const found = await running;
  // The adjustment has no entry of its own, so only a run that read its row finds it.
  expect(found.faults).toContainEqual(expect.objectContaining({ rule: "adjustment_has_its_entry", ledger_row: early }));
  expect(other.pin).toHaveLength(6);
});

test("concurrent runs beside devalues verify each row once", async () => {
  await tamper(
    "delete from ledger where kind = 'adjust'; update cards set balance_cents = balance_cents - 5 where id = 1",
  );
  let isDone = false;
  const selling = (async () => {
    while (!isDone) await cancel(await take(3));
  })();
  for (let round = 0; round < 3; round++) {
    const found = await Promise.all([resume(), resume(), resume()]);
    expect(found.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(found.map(() => [0, ""]));
  }
  isDone = true;
  await selling;
  const { through } = await resume();
  expect(through).toBe(await newestRow());
  const { rows } = await db.query("select sum(cents)::int as cents from checked_cards");
  expect(rows[0].cents).toBe((await check()).balance);
});
