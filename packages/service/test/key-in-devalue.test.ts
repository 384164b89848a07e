import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { openPool } from "../src/database/database.js";
import { defaultLimits } from "../src/limits/limits.js";
import { hashOf } from "../src/secrets/keyring.js";
import { inBatches } from "../src/store/card-calls.js";
import { createDevalue, type Devalue } from "../src/store/devalue.js";
import { openKeyring } from "../src/store/secret-generations.js";
import { call, onCard } from "./wire.js";

// A devalue or balance checks its API key in the same statement that uses the card.

const LIMIT = 200;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-key-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let db: pg.Pool;
let company: TestCompany;
let other: TestCompany;
let cards: TestCard[];
let ids: number[];
let devalue: Devalue;

beforeAll(async () => {
  const args = ["--calls-per-minute", String(LIMIT)];
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile, args });
  other = await service.createCompany();
  db = openPool(service.databaseUrl, () => {});
  devalue = createDevalue(inBatches(db, "devalue"), await openKeyring(secretsFile, db), defaultLimits.card);
});
beforeEach(async () => {
  company = await service.createCompany();
  const made = await service.command("card", "issue", "--balance", "7500", "--count", "4");
  cards = (made as { cardnumber: string; pin: string }[]).map(({ cardnumber, pin }) => ({
    cardNumber: cardnumber,
    pin,
    expiryDate: "",
  }));
  const { rows } = await db.query("select id from cards order by id desc limit 4");
  ids = rows.map(({ id }) => id).reverse();
});
afterEach(() => db.query("drop trigger if exists meddle on ledger"));
afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const keyOf = ({ apiKey }: TestCompany) => hashOf(new Secret(apiKey));
const invalidateKey = (whose: TestCompany, column = "revoked_at") =>
  db.query(`update api_keys set ${column} = now() where key_hash = $1`, [keyOf(whose)]);

/** Devalues a card for each of these companies, all in one statement. Returns the outcomes. */
const devalueTogether = (...companies: TestCompany[]) =>
  Promise.all(
    companies.map((whose, index) => {
      const { cardNumber, pin } = cards[index] as TestCard;
      const card = { cardNumber: new Secret(cardNumber), pin: new Secret(pin), amountCents: cents(100) };
      const who = { companyId: whose.companyId, apiKeyHash: keyOf(whose), idempotencyKey: undefined };
      return devalue({ ...who, ...card }).then(
        ({ outcome }) => outcome,
        () => "failed",
      );
    }),
  );

/** Runs SQL when this card gets a row in the ledger. */
const whenDevalued = async (id: number | undefined, sql: string) => {
  await db.query(`create or replace function meddle() returns trigger language plpgsql as $$ begin
      if new.card_id = ${id} then ${sql}; end if; return new; end $$`);
  await db.query("create trigger meddle before insert on ledger for each row execute function meddle()");
};
const devalued = async () => {
  const { rows } = await db.query(
    "select card_id, xmin::text as commit from ledger where card_id = any($1) and kind = 'devalue' order by card_id",
    [ids],
  );
  return {
    cards: rows.map(({ card_id }) => ids.indexOf(card_id)),
    commits: new Set(rows.map((row) => row.commit)).size,
  };
};

test("if a key is revoked between two devalues of one statement, its later devalues are refused", async () => {
  const hash = keyOf(company).toString("hex");
  await whenDevalued(ids[1], `update api_keys set revoked_at = now() where key_hash = '\\x${hash}'`);
  expect(await devalueTogether(company, other, company, other)).toEqual(["done", "done", "unauthorized", "done"]);
  expect(await devalued()).toEqual({ cards: [0, 1, 3], commits: 1 });
});

test("if one devalue of a statement fails, the others are retried, and each still needs a valid key", async () => {
  await invalidateKey(company);
  await whenDevalued(ids[1], "raise exception 'broken'");
  expect(await devalueTogether(other, other, company, other)).toEqual(["done", "failed", "unauthorized", "done"]);
  expect((await devalued()).cards).toEqual([0, 3]);
});

test("a key takes nothing if it is sent with another company's id", async () => {
  const stranger = { ...company, companyId: other.companyId };
  expect(await devalueTogether(stranger, company)).toEqual(["unauthorized", "done"]);
  expect((await devalued()).cards).toEqual([1]);
});

const devalueOverHttp = (whose: TestCompany, headers: Record<string, string> = {}) =>
  call(service.url, "devalue", { ...onCard(whose, cards[0] as TestCard), amount: 100 }, { headers });
const lineOf = async (id: string | null) => {
  const find = () =>
    service
      .logs()
      .split("\n")
      .find((one) => one.includes(String(id)));
  await expect.poll(find).toBeDefined();
  return JSON.parse(find() as string);
};

test.each(["revoked_at", "expires_at"])(
  "a key that a process has already accepted is refused immediately after its %s",
  async (column) => {
    const first = await devalueOverHttp(company, { "Idempotency-Key": `first-${column}` });
    expect(first.status).toBe(200);
    await invalidateKey(company, column);
    const known = { "Idempotency-Key": `first-${column}` };
    const fresh = { "Idempotency-Key": `second-${column}` };
    for (const headers of [known, fresh, {}]) {
      const { status, body } = await devalueOverHttp(company, headers);
      expect([status, body.success]).toEqual([401, false]);
    }
    const { status, body } = await call(service.url, "balance", onCard(company, cards[0] as TestCard));
    expect([status, Object.keys(body)]).toEqual([401, ["error"]]);
    expect((await devalued()).cards).toEqual([0]);
    const { rows } = await db.query("select from idempotency_keys where company_id = $1", [company.companyId]);
    expect(rows).toHaveLength(1);
  },
);

test("a balance with a key that a process has already accepted is refused immediately after the key is revoked", async () => {
  const [card, wrong] = [cards[0] as TestCard, { ...(cards[0] as TestCard), pin: "wrong1" }];
  const balance = (asked: TestCard) => call(service.url, "balance", onCard(company, asked));
  expect((await balance(card)).status).toBe(200);
  await invalidateKey(company);
  expect((await balance(wrong)).status).toBe(401);
  expect((await balance(card)).status).toBe(401);
  const { rows } = await db.query("select from wrong_pins where company_id = $1", [company.companyId]);
  expect(rows).toHaveLength(0);
});

test("a call whose key is no longer valid is logged without the key's id", async () => {
  await devalueOverHttp(company);
  await invalidateKey(company);
  const { headers } = await devalueOverHttp(company);
  const line = await lineOf(headers.get("x-request-id"));
  expect(line).toMatchObject({ operation: "devalue", status: 401, outcome: "unauthorized" });
  expect(line).not.toHaveProperty("keyId");
});

test("a key that is no longer valid gets 401 even if its calls are above the limit", async () => {
  const answers = await Promise.all(Array.from({ length: LIMIT + 20 }, () => devalueOverHttp(company)));
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  expect((await devalueOverHttp(company)).status).toBe(429);
  await invalidateKey(company);
  expect((await devalueOverHttp(company)).status).toBe(401);
});
