// @module-tag long

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-audit-"));
const env: NodeJS.ProcessEnv = { GIFTCARD_SECRETS_FILE: path.join(folder, "secrets.json") };
const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-service.js");
const osUser = os.userInfo().username;
let db: pg.Client;

beforeAll(async () => {
  env.GIFTCARD_DATABASE_URL = await testDatabase();
  await runCommand(["migrate"], env);
  db = new pg.Client({ connectionString: env.GIFTCARD_DATABASE_URL });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  fs.rmSync(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: the output of any command
async function command(...words: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], env);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
const audit = (...words: string[]) => command("audit", ...words);
const newest = async () => (await audit()).at(-1);

/** Returns the expected entry of the user who runs this test. Fields that are not given are empty. */
const entry = (action: string, more: object = {}) => ({
  id: expect.any(Number),
  at: expect.stringMatching(/Z$/),
  operator: osUser,
  os_user: osUser,
  action,
  reason: null,
  card: null,
  last_four: null,
  batch: null,
  company_id: null,
  details: {},
  ...more,
});

test.each(["a\nFAKE LINE", "a\u001B[2J", "a\u2028b", "a\u202Eb"])("a reason with %j is refused", async (reason) => {
  const before = await audit();
  const refused = await runCommand(["provider", "create", "--name", "Kaartjes", "--reason", reason, "--json"], env);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("without control characters")]);
  expect(await audit()).toEqual(before);
});

test("a reason with an email address is refused, since nobody could erase it", async () => {
  const words = ["provider", "create", "--name", "Kaartjes", "--json"];
  const refused = await runCommand([...words, "--reason", "asked by jan@example.nl"], env);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("could never be erased")]);
  expect(await audit()).toEqual([]);
});

test("each command that changes something writes one entry: who, what, when and why", async () => {
  const as = ["--as", "Mila", "--reason", "as agreed"];
  const company = await command(
    "company",
    "create",
    "--name",
    "Zaal",
    "--email",
    "zaal@example.nl",
    "--password",
    "x",
    ...as,
  );
  const signed = { operator: "Mila", reason: "as agreed" };
  const company_id = company.company_id;
  expect(await newest()).toEqual(
    entry("company create", { ...signed, company_id, details: { name: "Zaal", account: 1 } }),
  );
  const provider = await command("provider", "create", "--name", "Kaartjes");
  expect(await newest()).toEqual(entry("provider create", { details: { provider: provider.id, name: "Kaartjes" } }));
  const issued = await command("card", "issue", "--balance", "700", "--expires", "2099-12-31");
  const card = { card: issued.card, last_four: issued.cardnumber.slice(-4) };
  const details = { cards: 1, balance: 700, expiry_date: "2099-12-31", inactive: false };
  expect(await newest()).toEqual(entry("card issue", { ...card, details }));
  for (const action of ["block", "unblock"]) {
    await command("card", action, issued.cardnumber, ...as);
    expect(await newest()).toEqual(entry(`card ${action}`, { ...signed, ...card }));
  }
  const [key] = await command("key", "list");
  await command("key", "revoke", String(key.key_id), ...as);
  expect(await newest()).toEqual(entry("key revoke", { ...signed, company_id, details: { key: key.key_id } }));
  await command("secrets", "rotate");
  expect(await newest()).toEqual(entry("secrets rotate", { details: { generation: 2 } }));
  await command("company", "close", String(company_id), ...as);
  expect(await newest()).toEqual(entry("company close", { ...signed, company_id, details: { revoked_keys: 0 } }));

  const all = await audit();
  expect(all).toHaveLength(8);
  // A command that changes nothing writes no entry.
  await command("key", "revoke", String(key.key_id), ...as);
  await command("card", "unblock", issued.cardnumber, ...as);
  await command("company", "close", String(company_id), ...as);
  expect(await audit()).toEqual(all);
  const text = JSON.stringify(all) + (await runCommand(["audit"], env)).stdout;
  for (const secret of [issued.cardnumber, issued.pin, company.apikey]) expect(text).not.toContain(secret);
});

test("entries are found by card, by company and by day", async () => {
  const all = await audit();
  const actions = (entries: { action: string }[]) => entries.map(({ action }) => action);
  expect(actions(await audit("--card", "1"))).toEqual(["card issue", "card block", "card unblock"]);
  expect(actions(await audit("--company", "1"))).toEqual(["company create", "key revoke", "company close"]);
  const today = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" }).format(new Date(all[0].at));
  expect(await audit("--from", today)).toEqual(all);
  expect(await audit("--to", "2020-01-01")).toEqual([]);
  expect(await audit("--from", "2099-01-01")).toEqual([]);
  const text = await runCommand(["audit", "--card", "1"], env);
  expect(text.stdout).toMatch(/Mila \(.+\)\tcard block\tcard 1 \(…\d{4}\)\t+as agreed\n/);
  expect((await runCommand(["audit", "--to", "2020-01-01"], env)).stdout).toBe("no entries\n");
});

test("a change is rolled back if its entry can't be written", async () => {
  const { card } = await command("card", "issue", "--balance", "100");
  await db.query(`create function fail_this() returns trigger language plpgsql as $$ begin raise exception 'full'; end $$;
    create trigger fail_this before insert on audit_log for each row execute function fail_this()`);
  try {
    const counts = async () =>
      (await db.query("select (select count(*) from cards) as cards, (select count(*) from ledger) as ledger")).rows[0];
    const before = await counts();
    for (const words of [
      ["card", "block", "--card", String(card), "--reason", "stolen"],
      ["card", "issue", "--balance", "100"],
    ]) {
      const { exitCode } = await runCommand(words, env);
      expect(exitCode).toBe(1);
    }
    expect(await counts()).toEqual(before);
    expect((await command("card", "show", "--card", String(card))).card_status).toBe("Active");
  } finally {
    await db.query("drop trigger fail_this on audit_log");
  }
});

test("a long log is printed completely, and a reader that stops early, such as `head`, causes no error", async () => {
  await db.query(
    "insert into audit_log (operator, os_user, action) select 'many', 'many', 'test' from generate_series(1, 20000)",
  );
  const { rows } = await db.query("select count(*)::int as entries from audit_log");
  const read = ({ stopsEarly = false } = {}) =>
    new Promise<{ code: number | null; text: string; errors: string }>((resolve) => {
      const child = spawn(process.execPath, [PROGRAM, "audit", "--json"], {
        env: { ...process.env, ...env },
      });
      let [text, errors] = ["", ""];
      child.stdout.on("data", (chunk) => (text += chunk));
      child.stderr.on("data", (chunk) => (errors += chunk));
      if (stopsEarly) child.stdout.once("data", () => child.stdout.destroy());
      child.once("close", (code) => resolve({ code, text, errors }));
    });
  const whole = await read();
  expect([whole.code, JSON.parse(whole.text).length]).toEqual([0, rows[0].entries]);
  const part = await read({ stopsEarly: true });
  expect([part.code, part.errors]).toEqual([0, ""]);
  expect(part.text.length).toBeLessThan(whole.text.length);
});
