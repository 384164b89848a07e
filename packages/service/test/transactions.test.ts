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

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-transactions-"));
let service: TestService;
let shop: TestCompany;
let other: TestCompany;
let card: TestCard;
let db: pg.Client;
let env: NodeJS.ProcessEnv;
const tokens: string[] = [];

beforeAll(async () => {
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile });
  env = { GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile };
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  [shop, other] = [await service.createCompany(), await service.createCompany()];
  card = await service.issueCard({ balanceCents: 9000, expires: "2031-05-31" });
  const take = async (company: TestCompany, amount: number, key: string) => {
    const headers = { "Idempotency-Key": key };
    tokens.push(
      (await call(service.url, "devalue", { ...onCard(company, card), amount }, { headers })).body.cancel_token,
    );
  };
  await take(shop, 1000, "gc_first");
  await take(shop, 9000, "gc_second");
  await take(other, 200, "gc_first");
  await call(service.url, "cancelDevalue", { ...credentials(shop), cancel_token: tokens[0] });
  await call(service.url, "cancelDevalue", credentials(shop), { headers: { "Idempotency-Key": "gc_never" } });
});

afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

interface Row {
  readonly id: number;
  readonly kind: string;
  readonly amount: number;
}
// biome-ignore lint/suspicious/noExplicitAny: the output of any command
const list = (...words: string[]): Promise<any> => service.command("transactions", ...words);
const amounts = (rows: Row[]) => rows.map(({ kind, amount }) => `${kind} ${amount}`);

test("a reference finds its devalue and the reversal, of every company that used it", async () => {
  const rows = await list("--reference", "gc_first", "--company", String(shop.companyId));
  const of = { company_id: shop.companyId, company: "A shop", card: 1, last_four: card.cardNumber.slice(-4) };
  const at = expect.stringMatching(/^\d{4}-.*Z$/);
  const none = {
    requested: null,
    reverses: null,
    reversed_by: null,
    reversed_at: null,
    audit: null,
    other_card: null,
  };
  expect(rows).toEqual([
    {
      ...none,
      ...of,
      id: 2,
      at,
      kind: "devalue",
      amount: -1000,
      requested: 1000,
      reversed_by: 5,
      reversed_at: at,
    },
    { ...none, ...of, id: 5, at, kind: "cancel", amount: 1000, reverses: 2 },
  ]);
  expect(amounts(await list("--reference", "gc_first"))).toEqual(["devalue -1000", "devalue -200", "cancel 1000"]);
  expect(JSON.stringify(rows)).not.toContain(card.cardNumber);
});

test("an unknown reference is distinguished from one that was resolved before its devalue arrived", async () => {
  const find = (reference: string) => runCommand(["transactions", "--reference", reference, "--json"], env);
  const [ended, unknown] = [await find("gc_never"), await find("gc_unknown")];
  expect([ended.stdout, unknown.stdout]).toEqual(["[]\n", "[]\n"]);
  expect(ended.stderr).toMatch(/resolved this reference at .*Z, before its devalue came: nothing was taken/);
  expect(unknown.stderr).toMatch(/this reference is unknown/);
});

test("a cancel token finds its devalue, and can be read from standard input", async () => {
  const [first, second] = tokens as [string, string];
  expect(amounts(await list("--token", second))).toEqual(["devalue -5000"]);
  const byInput = await runCommand(["transactions", "--token", "-", "--json"], env, `${first}\n`);
  expect(amounts(JSON.parse(byInput.stdout))).toEqual(["devalue -1000", "cancel 1000"]);
  expect(byInput.stdout).not.toContain(first);
  const unknown = await runCommand(["transactions", "--token", "x"], env);
  expect([unknown.stdout, unknown.stderr]).toEqual(["no movements\n", "warning: no devalue has this token\n"]);
});

test("movements are found by card, by company and by day, and by combinations of these", async () => {
  expect(amounts(await list("--card", "1"))).toEqual([
    "issue 9000",
    "devalue -1000",
    "devalue -5000",
    "devalue -200",
    "cancel 1000",
  ]);
  expect(amounts(await list("--company", String(other.companyId), "--card", "1"))).toEqual(["devalue -200"]);
  await db.query("set session_replication_role = replica");
  await db.query("update ledger set created_at = '2030-06-30T22:30:00Z' where id = 4");
  await db.query("set session_replication_role = origin");
  const on = (day: string) => list("--from", day, "--to", day);
  expect([amounts(await on("2030-06-30")), amounts(await on("2030-07-01"))]).toEqual([[], ["devalue -200"]]);
});

test("movements by an operator are listed too, with their entries in the audit log", async () => {
  await service.command("card", "adjust", card.cardNumber, "--by", "50");
  const made = (await service.command("card", "reissue", card.cardNumber)) as { card: number };
  const rows = await list("--card", "1");
  expect(rows.slice(-2)).toEqual([
    expect.objectContaining({ kind: "adjust", amount: 50, audit: expect.any(Number), company_id: null }),
    expect.objectContaining({ kind: "move", amount: -3850, other_card: made.card }),
  ]);
  expect((await list("--card", String(made.card)))[0]).toMatchObject({ amount: 3850, other_card: 1 });
  const text = await runCommand(["transactions", "--card", "1"], env);
  expect(text.stdout).toMatch(
    /devalue +-10\.00 {2}card 1 \(…\d{4}\) {2}company \d+ A shop {2}row 2 {2}reversed by row 5/,
  );
});

test("any number of movements can be printed as CSV, in which no name can act as a spreadsheet formula", async () => {
  await db.query("update companies set name = '=1+2' where id = $1", [other.companyId]);
  const { stdout } = await runCommand(["transactions", "--company", String(other.companyId), "--csv"], env);
  const lastFour = card.cardNumber.slice(-4);
  expect(stdout.split("\r\n")).toEqual([
    "id,at,kind,amount,company_id,company,card,last_four,requested,reverses,reversed_by,reversed_at,audit,other_card",
    `4,"2030-06-30T22:30:00.000Z","devalue",-200,${other.companyId},"'=1+2",1,"${lastFour}",200,,,,,`,
    "",
  ]);
  await db.query(
    `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
       select 2, 'devalue', -1, $1, 1, gen_random_uuid(), 'n', sha256(n::text::bytea) from generate_series(1, 3850) n`,
    [other.companyId],
  );
  const many = await runCommand(["transactions", "--company", String(other.companyId), "--csv"], env);
  expect(many.stdout.split("\r\n")).toHaveLength(3850 + 3);
});

test("liability lists the balances of cards by expiry, with the same total as check", async () => {
  await service.issueCard({ balanceCents: 700, expires: "2020-02-29" });
  const blocked = await service.issueCard({ balanceCents: 300, expires: "2031-05-01" });
  await service.command("card", "block", blocked.cardNumber);
  await service.command("card", "issue", "--balance", "5000", "--inactive");
  const liability = await service.command("liability", "--by", "month");
  const none = { expired_cards: 0, expired_balance: 0, blocked_cards: 0, blocked_balance: 0 };
  expect(liability).toEqual({
    at: expect.stringMatching(/Z$/),
    by: "month",
    periods: [
      { ...none, expires: "2020-02", cards: 1, balance: 700, expired_cards: 1, expired_balance: 700 },
      { ...none, expires: "2031-05", cards: 1, balance: 300, blocked_cards: 1, blocked_balance: 300 },
    ],
    total: {
      cards: 2,
      balance: 1000,
      expired_cards: 1,
      expired_balance: 700,
      blocked_cards: 1,
      blocked_balance: 300,
    },
    inactive_cards: 1,
    inactive_balance: 5000,
  });
  expect(await service.command("check")).toMatchObject({ ok: true, balance: 1000 });
  const text = await runCommand(["liability"], env);
  expect(text.stdout).toMatch(/2031 +1 +3\.00 +0\.00 +3\.00\ntotal +2 +10\.00 +7\.00 +3\.00\nnot sold yet: 1 cards/);
});
