import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Secret } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { checkOf, hashOf, Keyring, type SecretGeneration } from "../src/keyring.js";
import { hashPassword } from "../src/passwords.js";
import { basic, call } from "./wire.js";

// A database as the first version left it, filled, becomes one of this version, and everything in it works.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-upgrade-"));
const secretsFile = path.join(folder, "secrets.json");
const migrations = path.join(import.meta.dirname, "../migrations");
const card = { cardNumber: new Secret("9528000000000000017"), pin: new Secret("012345") };
const apiKey = new Secret("K".repeat(60));
const account = { email: "zaal@example.nl", password: "geheim" };
const headers = { "Idempotency-Key": "made-by-the-first-version" };
let db: pg.Client;
let service: TestService;

function makeSecrets(): SecretGeneration {
  const key = () => randomBytes(32);
  const keys = { cardNumber: key(), pin: key(), cancelToken: key(), idempotency: key() };
  const spelled = Object.entries(keys).map(([name, bytes]) => [name, bytes.toString("base64url")]);
  fs.writeFileSync(secretsFile, JSON.stringify(Object.fromEntries(spelled)), { mode: 0o600 });
  return keys;
}

/** Fills the tables through the first version's own functions. */
async function fill(secrets: SecretGeneration): Promise<void> {
  const keys = new Keyring([secrets]);
  const [number] = keys.cardNumbers(card.cardNumber);
  const [pin] = keys.pins(card.cardNumber, card.pin);
  await db.query("insert into settings (key_check) values ($1)", [checkOf(secrets)]);
  await db.query("insert into companies (name) values ('Zaal BV')");
  await db.query("insert into accounts (company_id, email, password_hash) values (1, $1, $2)", [
    account.email,
    await hashPassword(new Secret(account.password)),
  ]);
  await db.query("insert into api_keys (company_id, key_hash) values (1, $1)", [hashOf(apiKey)]);
  await db.query(
    "insert into cards (number_hash, pin_hash, last_four, expiry_date) values ($1, $2, '0017', '2099-12-31')",
    [number, pin],
  );
  await db.query("insert into ledger (card_id, kind, amount_cents) values (1, 'issue', 9000)");
  const [deduction, nonce] = ["11111111-1111-4111-8111-111111111111", randomBytes(16)];
  const { rows } = await db.query("select * from devalue(1, $1, $2, 700, 5000, $3, $4, $5, $6, $7)", [
    number,
    pin,
    deduction,
    nonce,
    hashOf(keys.cancelToken(deduction, nonce)),
    keys.idempotencyKey(headers["Idempotency-Key"]),
    keys.parameters(card.cardNumber.reveal(), card.pin.reveal(), 700)[0],
  ]);
  expect(rows[0].outcome).toBe("done");
}

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query(fs.readFileSync(path.join(migrations, "0001-initial.sql"), "utf8"));
  await db.query(`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
    create table kysely_migration_lock (id varchar(255) primary key, is_locked integer not null default 0);
    insert into kysely_migration values ('0001-initial', '2026-01-01T00:00:00.000Z');
    insert into kysely_migration_lock values ('migration_lock', 0)`);
  await fill(makeSecrets());
  service = await startGiftcardService({ databaseUrl, secretsFile });
});

afterAll(async () => {
  await db.end();
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

test("cards, keys, logins, tokens and kept answers of the first version work", async () => {
  const wire = { apikey: apiKey.reveal(), company_id: 1 };
  const onCard = { ...wire, cardnumber: card.cardNumber.reveal(), pin: card.pin.reveal() };
  expect((await call(service.url, "balance", onCard)).body.balance).toBe(8300);
  const replay = await call(service.url, "devalue", { ...onCard, amount: 700 }, { headers });
  expect([replay.status, replay.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  const cancel = { ...wire, cancel_token: replay.body.cancel_token };
  expect((await call(service.url, "cancelDevalue", cancel)).body.card_new_balance).toBe(9000);
  const login = await call(
    service.url,
    "authenticate",
    {},
    { headers: basic(account.email, account.password) },
  );
  expect(login.status).toBe(200);
  expect(await service.command("check")).toMatchObject({ ok: true });
  expect(await service.command("secrets", "status")).toMatchObject({ generation: 1, old_cards: 0 });
});
