import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { openPool, retrying } from "../src/database/database.js";
import { migrate } from "../src/database/migrations.js";
import { defaultLimits } from "../src/limits/limits.js";
import { hashOf } from "../src/secrets/keyring.js";
import { inBatches } from "../src/store/card-calls.js";
import { createDevalue, devalueFunction } from "../src/store/devalue.js";
import { checkLedger } from "../src/store/ledger-check.js";
import { openKeyring } from "../src/store/secret-generations.js";

// A database of an earlier program, with many rows, is migrated while 16 callers devalue cards.

/** MIGRATION_ROWS=2000000, also with MIGRATION_HELD_MS=0, measures the figures of docs/service-scaling.md. */
const ROWS = Number(process.env.MIGRATION_ROWS ?? 100_000);
/** How long another transaction holds a table. */
const HELD_MS = Number(process.env.MIGRATION_HELD_MS ?? 2500);
const CARDS = ROWS / 20;
const CALLERS = 16;
const OLD = ["0001-initial", "0002-limits"];
/** Above the lock timeout of a migration: a caller waits for one try of it, and for a slow machine. */
const LONGEST_PAUSE_MS = 3000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-migration-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const number = (id: number) => new Secret(`9528${String(id).padStart(15, "0")}`);
const apiKey = new Secret("an API key of a test");

/** Makes the tables of the earlier program, with cards and rows. */
async function makeOld(pool: pg.Pool) {
  await pool.query(
    "create table migrations (version integer primary key, name text, applied_at timestamptz default now())",
  );
  for (const [index, name] of OLD.entries()) {
    await pool.query(fs.readFileSync(path.join(import.meta.dirname, "../migrations", `${name}.sql`), "utf8"));
    await pool.query("insert into migrations values ($1, $2)", [index + 1, name]);
  }
  const keys = await openKeyring(path.join(folder, "secrets.json"), pool);
  await pool.query("insert into companies (name) values ('A shop')");
  await pool.query("insert into api_keys (company_id, key_hash) values (1, $1)", [hashOf(apiKey)]);
  const ids = Array.from({ length: CARDS }, (_, index) => index + 1);
  await pool.query(
    `insert into cards (number_hash, pin_hash, last_four, expiry_date)
       select number, pin, '0000', '2099-12-31' from unnest($1::bytea[], $2::bytea[]) as given (number, pin)`,
    [
      ids.map((id) => keys.cardNumbers(number(id)).at(-1)),
      ids.map((id) => keys.pins(number(id), new Secret("1234")).at(-1)),
    ],
  );
  return keys;
}

async function fill(pool: pg.Pool) {
  const client = await pool.connect();
  try {
    await client.query("set statement_timeout = 0");
    await client.query("set session_replication_role = replica");
    await client.query("insert into ledger (card_id, kind, amount_cents) select id, 'issue', 10000000 from cards");
    await client.query(`insert into ledger
        (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, created_at)
      select 1 + n % ${CARDS}, 'devalue', -5, 1, 5, gen_random_uuid(), decode(md5(n::text), 'hex'), sha256(n::text::bytea),
        now() - interval '1 year' + n * interval '1 second' from generate_series(1, ${ROWS - CARDS}) n`);
    await client.query(`update cards c set balance_cents = s.cents
      from (select card_id, sum(amount_cents) as cents from ledger group by card_id) s where s.card_id = c.id`);
  } finally {
    client.release(true);
  }
}

test("no caller waits for long or fails while the database is migrated, even if a transaction holds a table", {
  tags: "long",
}, async () => {
  const pool = openPool(await testDatabase(), () => {}, CALLERS + 4);
  const keys = await makeOld(pool);
  await fill(pool);
  const devalue = createDevalue(inBatches(retrying(pool), devalueFunction), keys, defaultLimits.card);
  const pauses: number[] = [];
  const failures: unknown[] = [];
  let isDone = false;
  const caller = async (index: number) => {
    for (let n = 0; !isDone; n++) {
      const startedAtMs = performance.now();
      const order = {
        ...{ companyId: 1, apiKeyHash: hashOf(apiKey), amountCents: cents(1), pin: new Secret("1234") },
        ...{ cardNumber: number(1 + ((index + n * CALLERS) % CARDS)), idempotencyKey: `${index}-${n}` },
      };
      const outcome = await devalue(order).then((done) => done.outcome, String);
      if (outcome !== "done") failures.push(outcome);
      pauses.push(performance.now() - startedAtMs);
    }
  };
  const calls = Array.from({ length: CALLERS }, (_, index) => caller(index));
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await sleep(3000);
  const before = pauses.splice(0);
  // Such as a person's transaction, or a long import.
  const holder = await pool.connect();
  await holder.query("begin; select from companies for key share");
  const startedAtMs = performance.now();
  const migrating = migrate(pool);
  await sleep(HELD_MS);
  await holder.query("commit");
  holder.release();
  const applied = await migrating;
  const migratedMs = performance.now() - startedAtMs;
  await sleep(1000);
  isDone = true;
  await Promise.all(calls);
  const longest = (all: number[]) => Math.round(all.reduce((most, one) => Math.max(most, one), 0));
  console.log({
    rows: ROWS,
    callsBefore: before.length,
    longestBeforeMs: longest(before),
    callsMeanwhile: pauses.length,
    longestMs: longest(pauses),
    migratedMs: Math.round(migratedMs),
  });
  expect(applied[0]).toBe("0003-suspended-companies");
  expect(failures).toEqual([]);
  expect(longest(pauses)).toBeLessThan(LONGEST_PAUSE_MS);
  const { faults, ledgerRows } = await checkLedger(pool);
  expect(faults).toEqual([]);
  expect(ledgerRows).toBe(ROWS + before.length + pauses.length);
  await pool.end();
});
