import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Secret } from "@giftcard-pay/client/contract";
import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { runCommand, startGiftcardService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { checkOf, hashOf, Keyring, type SecretGeneration } from "../src/keyring.js";
import { checkBooks } from "../src/store/books.js";
import { call, credentials } from "./wire.js";

const migrations = path.join(import.meta.dirname, "..", "migrations");
const names = fs
  .readdirSync(migrations)
  .map((file) => path.basename(file, ".sql"))
  .sort();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-migrations-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Brings a database to a version and no further. */
async function migrateTo(pool: pg.Pool, last: string): Promise<void> {
  const known = names.slice(0, names.indexOf(last) + 1).map((name) => {
    const text = fs.readFileSync(path.join(migrations, `${name}.sql`), "utf8");
    return [name, { up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) }] as const;
  });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const provider = { getMigrations: async () => Object.fromEntries(known) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}

const secretsFile = path.join(folder, "secrets.json");
const purposes = ["cardNumber", "pin", "cancelToken", "idempotency"] as const;
const generation = Object.fromEntries(
  purposes.map((name, index) => [name, Buffer.alloc(32, index + 1)]),
) as unknown as SecretGeneration;
fs.writeFileSync(
  secretsFile,
  JSON.stringify(Object.fromEntries(purposes.map((name) => [name, generation[name].toString("base64url")]))),
  { mode: 0o600 },
);
const keys = new Keyring([generation]);
const card = { cardNumber: new Secret("9528000000000000001"), pin: new Secret("012345") };
const apiKey = new Secret("a".repeat(60));
const deduction = { id: "6b1c2f1e-3c1d-4a7e-9a57-0f4f4a0d9c11", nonce: Buffer.alloc(16, 9) };
const token = keys.cancelToken(deduction.id, deduction.nonce);

/** One of everything, as the first version wrote it. */
async function fillFirst(pool: pg.Pool): Promise<void> {
  await pool.query("insert into settings (key_check) values ($1)", [checkOf(generation)]);
  await pool.query("insert into companies (name) values ('A shop')");
  await pool.query("insert into accounts (company_id, email, password_hash) values (1, 'a@example.nl', 'x')");
  await pool.query("insert into api_keys (company_id, key_hash) values (1, $1)", [hashOf(apiKey)]);
  await pool.query("insert into providers (name) values ('P')");
  await pool.query(
    "insert into event_concepts (company_id, provider_id, representative, register) values (1, 1, 'R', 'C')",
  );
  await pool.query(
    `insert into events (company_id, provider_id, name, organiser, start_date, start_time, ticket_link, event_key)
       values (1, 1, 'E', 'O', '2099-01-01', '20:00', 'https://example.nl', 'one')`,
  );
  await pool.query(
    "insert into cards (number_hash, pin_hash, last_four, expiry_date) values ($1, $2, '0001', '2099-12-31'), ($3, $3, '0002', '2099-12-31')",
    [keys.cardNumbers(card.cardNumber)[0], keys.pins(card.cardNumber, card.pin)[0], Buffer.alloc(32, 7)],
  );
  await pool.query(
    "insert into ledger (card_id, kind, amount_cents) values (1, 'issue', 7500), (2, 'issue', 100)",
  );
  await pool.query("select * from devalue(1, $1, $2, 1000, 5000, $3, $4, $5, $6, $7)", [
    keys.cardNumbers(card.cardNumber)[0],
    keys.pins(card.cardNumber, card.pin)[0],
    deduction.id,
    deduction.nonce,
    hashOf(token),
    keys.idempotencyKey("first"),
    keys.parameters(card.cardNumber.reveal(), card.pin.reveal(), 1000)[0],
  ]);
}

const TABLES = [
  "companies",
  "accounts",
  "api_keys",
  "providers",
  "event_concepts",
  "events",
  "cards",
  "ledger",
  "idempotency_keys",
];
const countsOf = async (pool: pg.Pool) =>
  Promise.all(
    TABLES.map(async (table) => [table, (await pool.query(`select from ${table}`)).rowCount] as const),
  );

test("each migration takes a filled database of the version before, and loses nothing", async () => {
  const databaseUrl = await testDatabase();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const [first, ...later] = names as [string, ...string[]];
  await migrateTo(pool, first);
  await fillFirst(pool);
  const before = await countsOf(pool);
  expect(before.every(([, count]) => (count ?? 0) > 0)).toBe(true);
  expect(later.length).toBeGreaterThan(0);
  for (const name of later) {
    await migrateTo(pool, name);
    expect([name, await countsOf(pool)]).toEqual([name, before]);
    expect([name, (await checkBooks(pool)).faults]).toEqual([name, []]);
  }
  await pool.end();

  const service = await startGiftcardService({ databaseUrl, secretsFile });
  const company = { companyId: 1, apiKey: apiKey.reveal(), email: "", password: "" };
  const wire = { ...credentials(company), cardnumber: card.cardNumber.reveal(), pin: card.pin.reveal() };
  expect((await call(service.url, "balance", wire)).body.balance).toBe(6500);
  const replay = await call(
    service.url,
    "devalue",
    { ...wire, amount: 1000 },
    { headers: { "Idempotency-Key": "first" } },
  );
  expect([replay.headers.get("idempotency-replayed"), replay.body.cancel_token]).toEqual([
    "true",
    token.reveal(),
  ]);
  const cancelled = await call(service.url, "cancelDevalue", {
    ...credentials(company),
    cancel_token: token.reveal(),
  });
  expect(cancelled.body.card_new_balance).toBe(7500);
  expect(await service.stop()).toBe(0);
});

test("of several processes that migrate at once, one does it", async () => {
  const databaseUrl = await testDatabase();
  const env = { GIFTCARD_DATABASE_URL: databaseUrl };
  const done = await Promise.all(Array.from({ length: 5 }, () => runCommand(["migrate", "--json"], env)));
  expect(done.map(({ exitCode }) => exitCode)).toEqual(done.map(() => 0));
  expect(done.flatMap(({ stdout }) => JSON.parse(stdout).applied).sort()).toEqual(names);
});
