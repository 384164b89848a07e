// @module-tag long
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { createPostgresStore } from "../src/index.js";

/** The charges of the month; `CHARGES=300000` is the long form. */
const CHARGES = Number(process.env.CHARGES ?? 20_000);
const COMPANY = 7;
const DAYS = { from: "2026-03-01", to: "2026-03-31" };
/** Too little memory for a reconciliation that keeps its rows. */
const SMALL_HEAP = "--max-old-space-size=28";
const SCRIPT = path.join(import.meta.dirname, "long-month.mjs");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-month-"));
const report = path.join(folder, "report.json");
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  await createPostgresStore({ pool }).migrate();
  // Spread over the month. The rows that they refer to are not needed.
  await pool.query("set session_replication_role = replica");
  const at = "timestamptz '2026-03-02' + n * interval '28 days' / $1::int";
  const numbers = "generate_series(1, $1::int) n";
  await pool.query(
    `insert into giftcard_charge (reference, tender_id, cart_id, external_id, order_id, environment, base_url, company_id,
       state, last_four, amount_cents, deducted_cents, sealed_token, balance_before_cents, created_at, sent_at, devalued_at)
     select 'gc_' || md5(n::text), 'gct_' || n, 'cart_' || n, 'session_' || n, 'order_' || n, 'sandbox', 'http://cards.example',
       ${COMPANY}, 'committed', lpad((n % 1000)::text, 4, '0'), 1000, 1000, 'sealed', 5000, ${at}, ${at}, ${at} from ${numbers}`,
    [CHARGES],
  );
  await pool.query("create table sale (order_id text primary key, cents integer, made_at timestamptz)");
  await pool.query(`insert into sale select 'order_' || n, 1000, ${at} from ${numbers}`, [CHARGES]);
  // A payment that the shop lost, and one that is only in the shop.
  await pool.query("update sale set order_id = 'order_none' where order_id = 'order_77'");
  await pool.query("create index on sale (made_at)");
  await pool.query("analyze");
  await pool.end();
  writeReport();
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Writes the service's report, in which one card has a devalue of a cent that the shop doesn't have. */
function writeReport(): void {
  const file = fs.openSync(report, "w");
  fs.writeSync(file, `${JSON.stringify(DAYS).slice(0, -1)},"cards":[`);
  for (let card = 1; card <= CHARGES; card++) {
    const last_four = String(card % 1000).padStart(4, "0");
    const row = { company_id: COMPANY, company: "A shop", card, last_four, devalued: 1000, canceled: 0 };
    if (card === 42) row.devalued = 1001;
    fs.writeSync(file, `${card === 1 ? "" : ","}${JSON.stringify(row)}`);
  }
  fs.writeSync(file, '],"companies":[],"total":{}}\n');
  fs.closeSync(file);
}

test(`a month of ${CHARGES} charges is held against both other books, and little of it is in memory`, async () => {
  const args = [SMALL_HEAP, SCRIPT, databaseUrl, String(COMPANY), DAYS.from, DAYS.to, report];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { differences, ...counts } = JSON.parse(stdout);
  expect(counts).toEqual({
    ...{ ...DAYS, charges: CHARGES, payments: CHARGES, cards: CHARGES, moving: 0 },
    progress: { charges: CHARGES, payments: CHARGES },
  });
  const [ours, theirs] = [(CHARGES / 1000) * 1000, (CHARGES / 1000) * 1000 + 1];
  expect(differences).toMatchObject([
    { kind: "payment_missing", orderId: "order_77", journal: { cents: 1000 } },
    { kind: "charge_missing", orderId: "order_none", other: { cents: 1000 } },
    { kind: "service", lastFour: "0042", journal: { cents: ours }, other: { cents: theirs } },
  ]);
});
