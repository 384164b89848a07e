import { beforeAll, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { databaseForFile, sharedServiceForFile } from "./service-for-file.js";
import { call, onCard } from "./wire.js";

const service = sharedServiceForFile();
const db = databaseForFile(service);
let company: TestCompany;

beforeAll(async () => {
  company = await service.createCompany();
});

async function issue(count: number): Promise<TestCard[]> {
  const made = await service.command("card", "issue", "--balance", "7500", "--count", String(count));
  return (made as { cardnumber: string; pin: string; expiry_date: string }[]).map((card) => ({
    cardNumber: card.cardnumber,
    pin: card.pin,
    expiryDate: card.expiry_date,
  }));
}
const devalue = (card: TestCard, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  call(service.url, "devalue", { ...onCard(company, card), amount: 100, ...more }, { headers });
/** The ids of the latest cards, in the order of their issue. */
const latest = async (count: number): Promise<number[]> =>
  (await db.query("select id from cards order by id desc limit $1", [count])).rows
    .map(({ id }) => Number(id))
    .reverse();
/** Counts the cards' devalues in the ledger, and the commits that wrote them. */
const written = async (ids: number[]) =>
  (
    await db.query(
      "select count(*)::int as rows, count(distinct xmin::text)::int as commits from ledger where card_id = any($1) and kind = 'devalue'",
      [ids],
    )
  ).rows[0];

test("concurrent devalues share commits", async () => {
  const cards = await issue(60);
  const answers = await Promise.all(cards.map((card) => devalue(card)));
  expect(answers.map(({ body }) => body.amount_deducted)).toEqual(cards.map(() => 100));
  expect(new Set(answers.map(({ body }) => body.cancel_token)).size).toBe(60);
  const { rows, commits } = await written(await latest(60));
  expect(rows).toBe(60);
  expect(commits).toBeLessThan(rows);
});

test("each devalue of a batch gets its own answer", async () => {
  const cards = await issue(20);
  const [blocked, empty, wrong, keyed] = cards as [TestCard, TestCard, TestCard, TestCard];
  await db.query("update cards set blocked = true where id = $1", [(await latest(20))[0]]);
  await devalue(empty, { amount: 5000 });
  await devalue(empty, { amount: 5000 });
  await devalue(keyed, {}, { "Idempotency-Key": "twice" });
  const answers = await Promise.all([
    devalue(blocked),
    devalue(empty),
    devalue(wrong, { pin: "999999x" }),
    devalue(keyed, {}, { "Idempotency-Key": "twice" }),
    devalue(keyed, { amount: 101 }, { "Idempotency-Key": "twice" }),
    ...cards.slice(4).map((card) => devalue(card)),
  ]);
  expect(answers.slice(0, 5).map(({ status, body }) => [status, body.card_status ?? body.amount_deducted])).toEqual([
    [400, "Blocked"],
    [400, "No balance"],
    [400, undefined],
    [200, 100],
    [422, undefined],
  ]);
  expect(answers.slice(5).map(({ status }) => status)).toEqual(cards.slice(4).map(() => 200));
});

test("devalues of cards that another transaction has locked wait without delaying others", async () => {
  const cards = await issue(20);
  const ids = await latest(20);
  const locked = cards.slice(0, 5);
  await db.query("begin");
  await db.query("select from cards where id = any($1) for update", [ids.slice(0, 5)]);
  let answered = 0;
  const wait = async (card: TestCard) => {
    const answer = await devalue(card);
    answered += 1;
    return answer;
  };
  const waiting = locked.map(wait);
  for (let round = 0; round < 3; round++) {
    if (round === 1) waiting.push(...locked.map(wait));
    const others = await Promise.all(cards.slice(5).map((card) => devalue(card)));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
  }
  expect(answered).toBe(0);
  await db.query("commit");
  expect((await Promise.all(waiting)).map(({ body }) => body.amount_deducted)).toEqual(waiting.map(() => 100));
});

test("a devalue that fails writes nothing, and does not make others fail", async () => {
  const cards = await issue(24);
  const ids = await latest(24);
  await db.query(`create function fail_this() returns trigger language plpgsql as $$ begin
      if new.card_id = ${ids[5]} then raise exception 'broken'; end if; return new; end $$`);
  await db.query("create trigger fail_this before insert on ledger for each row execute function fail_this()");
  const answers = await Promise.all(cards.map((card) => devalue(card)));
  await db.query("drop trigger fail_this on ledger");
  expect(answers.map(({ status }) => status)).toEqual(cards.map((_, index) => (index === 5 ? 500 : 200)));
  expect((await written(ids)).rows).toBe(23);
  expect((await call(service.url, "balance", onCard(company, cards[5] as TestCard))).body.balance).toBe(7500);
});

const balance = (card: TestCard) => call(service.url, "balance", onCard(company, card));

test("concurrent balances share transactions, and each gets its own answer", async () => {
  const cards = await issue(64);
  const [spent, blocked] = cards as [TestCard, TestCard];
  const [, blockedId] = await latest(64);
  await devalue(spent, { amount: 5000 });
  await db.query("update cards set blocked = true where id = $1", [blockedId]);
  await balance(spent);
  // Each wrong PIN writes its row, so that the commits can be counted.
  const answers = await Promise.all(
    cards.map((card, index) => balance(index % 2 ? card : { ...card, pin: `wrong-${index}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(cards.map((_, index) => (index % 2 ? 200 : 400)));
  expect(answers[1]?.body.card_status).toBe("Blocked");
  expect((await balance(blocked)).body.card_status).toBe("Blocked");
  expect((await balance(spent)).body.balance).toBe(2500);
  const { rows } = await db.query(
    "select count(*)::int as rows, count(distinct xmin::text)::int as commits from failed_attempts",
  );
  expect(rows[0].rows).toBeGreaterThanOrEqual(32);
  expect(rows[0].commits).toBeLessThan(rows[0].rows);
});

test("a balance answers while another transaction holds the card's row", async () => {
  const [card] = (await issue(1)) as [TestCard];
  await db.query("begin");
  await db.query("select from cards where id = $1 for update", [(await latest(1))[0]]);
  expect((await balance(card)).body.balance).toBe(7500);
  await db.query("commit");
});

test("if one balance of a batch fails, the others are answered, and a wrong PIN among them is counted once", async () => {
  const cards = await issue(16);
  await db.query("delete from failed_attempts");
  await db.query(`create function fail_fourth() returns trigger language plpgsql as $$ begin
      if cardinality(new.failed_at) = 4 then raise exception 'broken'; end if; return new; end $$`);
  await db.query(
    "create trigger fail_fourth before insert or update on failed_attempts for each row execute function fail_fourth()",
  );
  const wrong = (index: number) => balance({ ...(cards[index] as TestCard), pin: "wrong1" });
  for (let guess = 0; guess < 3; guess++) await wrong(0);
  const answers = await Promise.all([wrong(0), wrong(1), ...cards.slice(2).map(balance)]);
  await db.query("drop trigger fail_fourth on failed_attempts");
  expect(answers.map(({ status }) => status)).toEqual([500, 400, ...cards.slice(2).map(() => 200)]);
  const { rows } = await db.query("select cardinality(failed_at) as failures from failed_attempts order by failures");
  expect(rows).toEqual([{ failures: 1 }, { failures: 3 }]);
});
