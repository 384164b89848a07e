// @module-tag long

import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand, startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call } from "./wire.js";

const BOUND = 4;
let service: TestService;
let db: pg.Client;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  service = await startGiftcardService({ databaseUrl, limits: { keysPerCompany: BOUND } });
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await service.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: the output of any command
const command = (...words: string[]): Promise<any> => service.command(...words);
const run = (...words: string[]) =>
  runCommand(words, {
    GIFTCARD_DATABASE_URL: service.databaseUrl,
    GIFTCARD_PASSWORD: "sesame",
    GIFTCARD_REASON: "x",
  });
const login = (email: string, password: string) =>
  call(service.url, "authenticate", {}, { headers: basic(email, password) });
const works = async (apikey: string) => (await call(service.url, "listEvents", { apikey })).status === 200;
const newest = async () => (await command("audit")).at(-1);
const keysOf = (company: TestCompany) => command("key", "list", "--company", String(company.companyId));

describe("an account", () => {
  test("is added to a company, logs in with its own password, and is removed", async () => {
    const company = await service.createCompany();
    const words = ["--company", String(company.companyId), "--email", "second@example.nl"];
    const added = await command("account", "add", ...words, "--password", "sesame");
    expect(added).toEqual({
      account_id: expect.any(Number),
      company_id: company.companyId,
      email: "second@example.nl",
    });
    const { status, body } = await login("second@example.nl", "sesame");
    expect([status, await works(body.apikey)]).toEqual([200, true]);
    expect((await login(company.email, company.password)).status).toBe(200);
    expect((await run("account", "add", ...words)).exitCode).toBe(4);
    await command("account", "remove", "SECOND@example.nl");
    expect(await newest()).toMatchObject({ action: "account remove", company_id: company.companyId });
    expect((await login("second@example.nl", "sesame")).status).toBe(401);
    expect(await works(body.apikey)).toBe(true);
    expect((await run("account", "remove", "second@example.nl")).exitCode).toBe(3);
  });

  test("leaves its email address nowhere once it is removed", async () => {
    const company = await service.createCompany();
    const id = String(company.companyId);
    const mail = "Jan.Jansen@example.nl";
    const created = ["company", "create", "--name", "Zaal", "--email", "first.jansen@example.nl"];
    const { company_id } = await command(...created, "--password", "sesame");
    const { account_id } = await command("account", "add", "--company", id, "--email", mail, "--password", "sesame");
    expect((await run("company", "list")).stdout).toContain(`${mail} (account ${account_id})`);
    await command("account", "password", mail, "--password", "second");
    expect((await login(mail, "wrong")).status).toBe(401);
    expect((await login(mail, "second")).status).toBe(200);
    expect((await run("account", "add", "--company", id, "--email", mail)).exitCode).toBe(4);
    for (const one of [mail, "first.jansen@example.nl"]) await command("account", "remove", one);
    const entries = (await command("audit")).filter((entry: { company_id: number }) =>
      [company.companyId, company_id].includes(entry.company_id),
    );
    expect(entries.map((entry: { action: string; details: object }) => [entry.action, entry.details])).toEqual([
      ["company create", { name: "A shop", account: expect.any(Number) }],
      ["company create", { name: "Zaal", account: expect.any(Number) }],
      ["account add", { account: account_id }],
      ["account password", { account: account_id, revoked_keys: 0 }],
      ["account remove", { account: account_id }],
      ["account remove", { account: entries[1].details.account }],
    ]);
    const shown = await Promise.all([[], ["--json"], ["--csv"]].map((format) => run("audit", ...format)));
    const tables = await db.query(
      `select string_agg(query_to_xml(format('select * from %I', table_name), true, false, '')::text, '') as rows
         from information_schema.tables where table_schema = 'public'`,
    );
    const everything = [...shown.map(({ stdout }) => stdout), tables.rows[0].rows, service.logs()].join();
    expect(everything).toContain(company.email);
    expect(everything).not.toMatch(/jansen@/i);
  });

  test("is not created with an email address that would control a terminal", async () => {
    const { companyId } = await service.createCompany();
    const words = ["account", "add", "--company", String(companyId), "--email", "a\u001B[2J@example.nl"];
    expect((await run(...words)).exitCode).toBe(2);
  });

  test("accepts a password that looks like an option", { tags: "long" }, async () => {
    const company = await service.createCompany();
    const words = ["--company", String(company.companyId), "--email", "dash@example.nl"];
    await command("account", "add", ...words, "--password", "-Version");
    expect((await login("dash@example.nl", "-Version")).status).toBe(200);
  });

  test("is not created for an unknown or closed company", async () => {
    const company = await service.createCompany();
    await command("company", "close", String(company.companyId));
    const add = (id: number) => run("account", "add", "--company", String(id), "--email", "late@example.nl");
    expect([(await add(999_999)).exitCode, (await add(company.companyId)).exitCode]).toEqual([3, 4]);
    expect((await run("key", "create", "--company", String(company.companyId))).exitCode).toBe(4);
  });

  test("gets a new password, which also revokes all keys of its company", { tags: "long" }, async () => {
    const company = await service.createCompany();
    const stolen = (await login(company.email, company.password)).body.apikey;
    const changed = await command("account", "password", company.email, "--password", "new sesame", "--revoke-keys");
    expect(changed).toEqual({
      account_id: expect.any(Number),
      company_id: company.companyId,
      email: company.email,
      revoked_keys: 2,
    });
    expect(JSON.stringify(await newest())).not.toContain("sesame");
    expect([await works(stolen), await works(company.apiKey)]).toEqual([false, false]);
    expect((await login(company.email, company.password)).status).toBe(401);
    const { body } = await login(company.email, "new sesame");
    expect(await works(body.apikey)).toBe(true);
    // Without the option, the keys stay valid.
    await command("account", "password", company.email, "--password", "third");
    expect(await works(body.apikey)).toBe(true);
    expect((await run("account", "password", "nobody@example.nl")).exitCode).toBe(3);
  });

  test("creates no key if its password changes during the login", async () => {
    const company = await service.createCompany();
    // The change commits only after the login has checked the old password and is about to create its key.
    await db.query("begin");
    await db.query("update accounts set password_hash = 'another' where email = $1", [company.email]);
    await db.query("update api_keys set revoked_at = now() where company_id = $1", [company.companyId]);
    const answer = login(company.email, company.password);
    const waiting = "select count(*)::int as n from pg_locks where not granted";
    await expect.poll(async () => (await db.query(waiting)).rows[0].n).toBeGreaterThan(0);
    await db.query("commit");
    expect((await answer).status).toBe(401);
    const activeKeys = "select count(*)::int as n from api_keys where company_id = $1 and revoked_at is null";
    expect((await db.query(activeKeys, [company.companyId])).rows[0].n).toBe(0);
  });
});

describe("a key", () => {
  test("is created with a label and an expiry date, and shows its last use", { tags: "long" }, async () => {
    const company = await service.createCompany();
    const id = String(company.companyId);
    const made = await command("key", "create", "--company", id, "--label", "shop 4", "--expires", "2088-06-30");
    const shown = {
      key_id: expect.any(Number),
      company_id: company.companyId,
      label: "shop 4",
      by_login: false,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      // The day is inclusive, by the clock in Amsterdam.
      expires_at: "2088-06-30T22:00:00.000Z",
      revoked_at: null,
    };
    expect(made).toEqual({ ...shown, apikey: expect.stringMatching(/^[A-Za-z0-9]{60}$/) });
    expect(await newest()).toMatchObject({
      action: "key create",
      details: { key: made.key_id, label: "shop 4", last_day: "2088-06-30" },
    });
    expect((await keysOf(company))[1]).toEqual(shown);
    expect(await works(made.apikey)).toBe(true);
    await expect.poll(async () => (await keysOf(company))[1].last_used_at).toMatch(/Z$/);
    expect((await keysOf(company))[0].last_used_at).toBe(null);
    expect((await run("key", "list", "--company", id)).stdout).toMatch(/shop 4\tcreated .+\tused .+\texpires 2088/);
  });

  test("is rejected once it has expired", { tags: "long" }, async () => {
    const company = await service.createCompany();
    const made = await command("key", "create", "--company", String(company.companyId), "--expires", "2088-06-30");
    expect(await works(made.apikey)).toBe(true);
    await db.query("update api_keys set expires_at = now() where id = $1", [made.key_id]);
    expect(await works(made.apikey)).toBe(false);
    expect((await run("key", "list", "--company", String(company.companyId))).stdout).toMatch(/expired/);
  });

  test("is revoked together with all other keys of its company, and new ones can be created", {
    tags: "long",
  }, async () => {
    const company = await service.createCompany();
    const id = String(company.companyId);
    const [other, loggedIn] = [await service.createCompany(), await login(company.email, company.password)];
    const revoked = await command("key", "revoke", "--company", id);
    expect(revoked.map((key: { by_login: boolean }) => key.by_login)).toEqual([false, true]);
    expect(await Promise.all([company.apiKey, loggedIn.body.apikey, other.apiKey].map(works))).toEqual([
      false,
      false,
      true,
    ]);
    expect(await newest()).toMatchObject({ action: "key revoke", details: { revoked_keys: 2 } });
    expect(await command("key", "revoke", "--company", id)).toEqual([]);
    expect(await works((await command("key", "create", "--company", id)).apikey)).toBe(true);
    expect((await run("key", "revoke", "--company", "999999")).exitCode).toBe(3);
    expect((await run("key", "revoke")).exitCode).toBe(2);
    expect((await run("key", "revoke", "1", "--company", id)).exitCode).toBe(2);
  });
});

describe("a company with the maximum number of active keys", () => {
  test("loses the login key that has been unused for longest, at least a day, and keeps the operator's keys", async () => {
    const company = await service.createCompany();
    const logins: string[] = [];
    for (let index = 0; index < BOUND - 1; index++)
      logins.push((await login(company.email, company.password)).body.apikey);
    const full = await login(company.email, company.password);
    expect([full.status, Number(full.headers.get("retry-after"))]).toEqual([429, 3600]);
    // The operator has no limit.
    const own = await command("key", "create", "--company", String(company.companyId));
    await db.query(
      `update api_keys set created_at = now() - interval '3 days',
         last_used_at = case when id % 2 = 0 then now() - interval '2 days' end where company_id = $1`,
      [company.companyId],
    );
    const [first, second, third] = (await keysOf(company)).filter((key: { by_login: boolean }) => key.by_login);
    const oldest = [first, second, third].find((key) => key.last_used_at === null);
    const again = await login(company.email, company.password);
    expect([again.status, await works(again.body.apikey)]).toEqual([200, true]);
    const after = await keysOf(company);
    expect(after.filter((key: { revoked_at: string | null }) => key.revoked_at)).toEqual([
      expect.objectContaining({ key_id: oldest.key_id }),
    ]);
    expect([await works(company.apiKey), await works(own.apikey)]).toEqual([true, true]);
  });

  test("gets no further keys from concurrent logins", { tags: "long" }, async () => {
    const company = await service.createCompany();
    const answers = await Promise.all(Array.from({ length: 10 }, () => login(company.email, company.password)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(BOUND - 1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10 - BOUND + 1);
  });
});
