import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, type WireAnswer } from "./wire.js";

// A database of version 0.1.0, with data in every state, is migrated to this version, and all of its data still works.

const migrations = path.join(import.meta.dirname, "../migrations");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-upgrade-"));
const secretsFile = path.join(folder, "secrets.json");
const wire = { apikey: "K".repeat(60), company_id: 1 };
let service: TestService;
let before: { name: string; rows: string }[];

/** Writes a secrets file with two generations. Each key is a repeated byte. */
function writeSecrets(): void {
  const generation = (first: number) =>
    Object.fromEntries(
      ["cardNumber", "pin", "cancelToken", "idempotency"].map((name, index) => [
        name,
        Buffer.alloc(32, first + index).toString("base64url"),
      ]),
    );
  const secrets = { ...generation(11), previous: [generation(1)] };
  fs.writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
}

async function countRows(db: pg.Client) {
  const { rows } = await db.query(
    `select table_name as name, (xpath('/row/n/text()', query_to_xml(
       format('select count(*) as n from %I', table_name), false, true, '')))[1]::text as rows
     from information_schema.tables where table_schema = 'public' and table_name <> 'migrations' order by 1`,
  );
  return rows;
}

const connect = async (databaseUrl: string) => {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  return db;
};

beforeAll(async () => {
  writeSecrets();
  const databaseUrl = await testDatabase();
  const db = await connect(databaseUrl);
  await db.query(
    "create table migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
  await db.query("insert into migrations (version, name) values (1, '0001-initial')");
  await db.query(fs.readFileSync(path.join(migrations, "0001-initial.sql"), "utf8"));
  await db.query(fs.readFileSync(path.join(import.meta.dirname, "releases/0.1.0.sql"), "utf8"));
  // Entries that named accounts by their email addresses. The last one is of another account with the first one's address.
  await db.query(
    `insert into audit_log (operator, os_user, action, company_id, details) values
       ('Mila', 'mila', 'company create', 1, '{"name": "A shop", "email": "SHOP@example.nl"}'),
       ('Mila', 'mila', 'account add', 1, '{"account": 7, "email": "gone@example.nl"}'),
       ('Mila', 'mila', 'account remove', 1, '{"account": 7, "email": "gone@example.nl"}'),
       ('Mila', 'mila', 'company create', 2, '{"name": "Two", "email": "gone@example.nl"}'),
       ('Mila', 'mila', 'account remove', 1, '{"account": 8, "email": "shop@example.nl"}')`,
  );
  before = await countRows(db);
  await db.end();
  service = await startGiftcardService({ databaseUrl, secretsFile });
});

afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const onCard = (last: number) => ({ ...wire, cardnumber: `952800000000000000${last}`, pin: "012345" });
const devalue = (last: number, amount: number, key: string) =>
  call(service.url, "devalue", { ...onCard(last), amount }, { headers: { "Idempotency-Key": key } });
const cancel = (cancel_token: string) => call(service.url, "cancelDevalue", { ...wire, cancel_token });
const cancelKey = (key: string) => call(service.url, "cancelDevalue", wire, { headers: { "Idempotency-Key": key } });
const isReplay = ({ status, headers }: WireAnswer) => [status, headers.get("idempotency-replayed")];

test("nothing is lost, and the ledger adds up", async () => {
  const db = await connect(service.databaseUrl);
  const now = await countRows(db);
  expect(now).toEqual(expect.arrayContaining(before));
  await db.end();
  expect(await service.command("check")).toMatchObject({ ok: true, cards: 6, ledger_rows: 13, faults: [] });
  expect(await service.command("secrets", "status")).toMatchObject({ generation: 2, old_cards: 5 });
});

test("the audit log names accounts by their ids, without email addresses, and is still append-only", async () => {
  const db = await connect(service.databaseUrl);
  const { rows } = await db.query("select details from audit_log where operator = 'Mila' order by id");
  expect(rows.map(({ details }) => details)).toEqual([
    { name: "A shop", account: 1 },
    { account: 7 },
    { account: 7 },
    { name: "Two" },
    { account: 8 },
  ]);
  await expect(db.query("update audit_log set reason = 'x'")).rejects.toThrow("append-only");
  await db.end();
});

test("cards keep their balances and states, and a locked number stays locked", async () => {
  const cards = await Promise.all([1, 2, 3, 4, 5, 6].map((last) => call(service.url, "balance", onCard(last))));
  expect(cards.map(({ status, body }) => [status, body.balance, body.card_status])).toEqual([
    [200, 8300, "Active"],
    [200, 7500, "Blocked"],
    [200, 2500, "Expired"],
    [200, 0, "No balance"],
    [429, undefined, undefined],
    [200, 1100, "Active"],
  ]);
});

test("an earlier devalue is replayed, and its token reverses it once", async () => {
  const [held, newer] = [await devalue(1, 700, "held"), await devalue(6, 400, "new-secrets")];
  expect([held, newer].map(isReplay)).toEqual([held, newer].map(() => [200, "true"]));
  expect((await cancel(held.body.cancel_token)).body.card_new_balance).toBe(9000);
  expect((await cancel(newer.body.cancel_token)).body.card_new_balance).toBe(1500);
  expect((await cancel(held.body.cancel_token)).status).toBe(409);
});

test("a devalue stays reversed, and a key that was closed before its devalue arrived stays closed", async () => {
  expect((await cancelKey("ended")).status).toBe(409);
  expect((await cancelKey("closed")).status).toBe(404);
  expect((await devalue(1, 100, "closed")).status).toBe(409);
});

test("the account, its events and its keys work; a revoked key and a closed company do not", async () => {
  const login = (email: string) => call(service.url, "authenticate", {}, { headers: basic(email, "sesame") });
  expect((await login("shop@example.nl")).status).toBe(200);
  expect((await login("closed@example.nl")).status).toBe(401);
  for (const letter of ["C", "R"])
    expect((await call(service.url, "listEvents", { apikey: letter.repeat(60) })).status).toBe(401);
  const events = await call(service.url, "listEvents", wire);
  expect(events.body.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
});
