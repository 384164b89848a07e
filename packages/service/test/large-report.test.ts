// @module-tag long
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";

/** The cards that are used in each month. `CARDS=300000` runs a longer test. */
const CARDS = Number(process.env.CARDS ?? 60_000);
const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-service.js");
const PERIOD = ["--from", "2030-01-01", "--to", "2030-01-31"];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-report-"));
let env: Record<string, string>;
let db: pg.Client;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  env = { GIFTCARD_DATABASE_URL: databaseUrl, GIFTCARD_SECRETS_FILE: path.join(folder, "secrets.json") };
  expect((await runCommand(["migrate"], env)).exitCode).toBe(0);
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query("insert into companies (name) values ('A shop')");
  // The rows are in order of time, as the service would write them. The trigger that updates balances is off: with it,
  // inserting them would take far longer.
  await db.query("set session_replication_role = replica");
  await db.query(
    `insert into cards (number_hash, pin_hash, last_four, expiry_date)
       select int8send(n), '', lpad((n % 10000)::text, 4, '0'), '2099-12-31' from generate_series(1, $1::int) n`,
    [CARDS],
  );
  for (const [first, days] of [
    ["2029-12-01", 31],
    ["2030-01-01", 31],
    ["2030-02-01", 28],
  ] as const) {
    await db.query(
      `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, created_at)
         select n, 'devalue', -100, 1, 100, gen_random_uuid(), '', sha256((n::text || $2)::bytea),
           $2::timestamptz + $3::int * interval '1 day' * n / $1 from generate_series(1, $1::int) n`,
      [CARDS, first, days],
    );
  }
  await db.query("set session_replication_role = origin");
  await db.query("vacuum analyze ledger");
});
afterAll(async () => {
  await db.end();
  fs.rmSync(folder, { recursive: true });
});

interface Run {
  readonly lines: number;
  readonly last: string;
  readonly bytes: number;
  readonly exitCode: number | null;
  /** The peak memory of the process, in megabytes. */
  readonly peakMb: number;
}

/** Node frees memory only when it must. With this small heap, a command that keeps all rows in memory fails. */
const SMALL_HEAP = "--max-old-space-size=24";

/** Runs the report with its output to a pipe, and counts the lines and bytes that arrive. */
async function report(...args: string[]): Promise<Run> {
  const child = spawn(process.execPath, [SMALL_HEAP, PROGRAM, "report", ...PERIOD, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let [lines, bytes, last, peakMb] = [0, 0, "", 0];
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (process.platform !== "linux") return;
    try {
      const status = fs.readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakMb = Math.max(peakMb, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // The process has exited. These are the last bytes that it wrote.
    }
  });
  for await (const line of createInterface(child.stdout)) {
    lines += 1;
    last = line;
  }
  return { lines, bytes, last, peakMb, exitCode: await exited };
}

test(`a month of ${CARDS} cards is printed in every format, and the memory of the command does not grow with it`, async () => {
  const table = await report();
  expect([table.exitCode, table.lines]).toEqual([0, CARDS + 2]);
  expect(table.last).toMatch(new RegExp(`^total +${CARDS} +`));
  const csv = await report("--csv");
  expect([csv.exitCode, csv.lines]).toEqual([0, CARDS + 1]);
  const json = await report("--json");
  expect(json.exitCode).toBe(0);
  const { cards, companies, total } = JSON.parse(json.last);
  expect(cards).toHaveLength(CARDS);
  const taken = { devalues: CARDS, devalued: CARDS * 100, cancels: 0, canceled: 0, outstanding: CARDS * 100 };
  expect(companies).toEqual([{ company_id: 1, company: "A shop", ...taken }]);
  expect(total).toEqual(taken);
  // The report of a day, a thirtieth, is the baseline: a report keeps only one page in memory.
  const day = await report("--json", "--from", "2030-01-15", "--to", "2030-01-15");
  expect(day.bytes).toBeLessThan(json.bytes / 10);
  if (process.platform === "linux") expect(json.peakMb / day.peakMb).toBeLessThan(1.5);
});

test("a reader that stops early, such as `head`, ends the report without an error message", async () => {
  const child = spawn(process.execPath, [PROGRAM, "report", ...PERIOD, "--csv"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.once("data", () => child.stdout.destroy());
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const exitCode = await new Promise((resolve) => child.once("close", resolve));
  expect([exitCode, errors.replaceAll(/^\d+ cards\n/gm, "")]).toEqual([0, ""]);
});

test("the rows of a day are found by an index, not by reading the whole ledger", async () => {
  const { rows } = await db.query(
    `explain (costs off) select from ledger where created_at >= '2030-01-15' and created_at < '2030-01-16'`,
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toContain("ledger_created");
});
