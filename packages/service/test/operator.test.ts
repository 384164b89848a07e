// @module-tag long

import { scryptSync } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  runCommand,
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, credentials, eventInput, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-operator-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let second: TestService;
let company: TestCompany;
let db: pg.Client;

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  service = await startGiftcardService({ databaseUrl, secretsFile });
  second = await startGiftcardService({ databaseUrl, secretsFile });
  company = await service.createCompany();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await service.stop();
  await second.stop();
  fs.rmSync(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: the output of any command
const command = (...words: string[]): Promise<any> => service.command(...words);
const run = (...words: string[]) =>
  runCommand(words, { GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile });
const login = (as: TestCompany, url = service.url) =>
  call(url, "authenticate", {}, { headers: basic(as.email, as.password) });
const balance = (card: TestCard, url = service.url, as = company) => call(url, "balance", onCard(as, card));

describe("keys", () => {
  test("are listed without their secret, and are refused immediately after they are revoked", async () => {
    const own = await service.createCompany();
    const more = (await login(own)).body.apikey;
    const keys = await command("key", "list", "--company", String(own.companyId));
    expect(keys).toEqual(
      [false, true].map((by_login) => ({
        key_id: expect.any(Number),
        company_id: own.companyId,
        label: null,
        by_login,
        created_at: expect.stringMatching(/Z$/),
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
      })),
    );
    const listEvents = (apikey: string) => call(service.url, "listEvents", { apikey });
    expect((await listEvents(more)).status).toBe(200);
    const revoked = await command("key", "revoke", String(keys[1].key_id));
    expect(revoked).toMatchObject({ key_id: keys[1].key_id, revoked_at: expect.stringMatching(/Z$/) });
    expect((await listEvents(more)).status).toBe(401);
    expect((await listEvents(own.apiKey)).status).toBe(200);
    const again = await command("key", "revoke", String(keys[1].key_id));
    expect(again.revoked_at).toBe(revoked.revoked_at);
    expect((await command("key", "list")).length).toBeGreaterThan(2);
    const text = await run("key", "list", "--company", String(own.companyId));
    expect(text.stdout).toMatch(/active\n.*revoked/);
    expect(text.stdout).not.toContain(more);
  });

  test("and companies with an unknown id make commands exit with 3", async () => {
    for (const words of [
      ["key", "revoke", "999999"],
      ["company", "close", "999999"],
    ]) {
      const { exitCode, stderr } = await run(...words, "--reason", "gone");
      expect([exitCode, stderr]).toEqual([3, expect.stringMatching(/There is no (key|company) with this id/)]);
    }
    expect((await run("key", "revoke", "x", "--reason", "gone")).exitCode).toBe(2);
  });
});

test("a closed company loses its keys, and gets no new ones", async () => {
  const own = await service.createCompany();
  await login(own);
  const closed = await command("company", "close", String(own.companyId));
  expect(closed).toEqual({
    company_id: own.companyId,
    name: "A shop",
    closed_at: expect.stringMatching(/Z$/),
    revoked_keys: 2,
  });
  expect((await call(service.url, "listEvents", { apikey: own.apiKey })).status).toBe(401);
  expect((await login(own)).status).toBe(401);
  expect(await command("company", "close", String(own.companyId))).toEqual({ ...closed, revoked_keys: 0 });
  const listed = await command("company", "list");
  expect(listed).toContainEqual({
    company_id: own.companyId,
    name: "A shop",
    emails: [own.email],
    account_ids: [expect.any(Number)],
    events: 0,
    event_bytes: 0,
    closed_at: closed.closed_at,
  });
  expect((await run("company", "list")).stdout).toContain("closed");
});

test("card show --history lists every movement, with the balance after it", async () => {
  const card = await service.issueCard({ balanceCents: 7500 });
  const done = await call(service.url, "devalue", { ...onCard(company, card), amount: 7000 });
  await call(service.url, "devalue", { ...onCard(company, card), amount: 1 });
  await call(service.url, "cancelDevalue", {
    ...credentials(company),
    cancel_token: done.body.cancel_token,
  });
  const { history, ...shown } = await command("card", "show", card.cardNumber, "--history");
  expect(shown.balance).toBe(7499);
  const at = expect.stringMatching(/Z$/);
  const company_id = company.companyId;
  expect(history).toEqual([
    {
      at,
      kind: "issue",
      amount: 7500,
      company_id: null,
      balance: 7500,
      audit: expect.any(Number),
      other_card: null,
    },
    { at, kind: "devalue", amount: -5000, company_id, balance: 2500, audit: null, other_card: null },
    { at, kind: "devalue", amount: -1, company_id, balance: 2499, audit: null, other_card: null },
    { at, kind: "cancel", amount: 5000, company_id, balance: 7499, audit: null, other_card: null },
  ]);
  const text = await run("card", "show", card.cardNumber, "--history");
  expect(text.stdout).toMatch(/issue .*\+75\.00.*75\.00\n.*devalue .*-50\.00 .*25\.00 /);
  expect(text.stdout).not.toContain(card.cardNumber);
  expect(await command("card", "show", card.cardNumber)).not.toHaveProperty("history");
});

describe("a rotation of the secrets while the service runs", () => {
  const status = () => command("secrets", "status");
  const hashes = async () =>
    (await db.query("select id, number_hash, pin_hash, generation from cards order by id")).rows;

  test("rehashes an old card at its next valid use, in every process, and applies to new cards immediately", async () => {
    const [first, other, unused] = [
      await service.issueCard({ balanceCents: 9000 }),
      await service.issueCard({ balanceCents: 9000 }),
      await service.issueCard({ balanceCents: 9000 }),
    ];
    const headers = { "Idempotency-Key": "before-the-rotation" };
    const wire = { ...onCard(company, first), amount: 100 };
    const stored = await call(service.url, "devalue", wire, { headers });
    const provider = await service.createProvider();
    const events = { apikey: company.apiKey, events: [eventInput(provider.id)] };
    const created = await call(second.url, "createEvents", events, { headers });
    const before = await status();
    expect(before).toMatchObject({ generation: 1, prepared: 0, old_cards: 0, old_passwords: 0 });
    const secretsText = fs.readFileSync(secretsFile, "utf8");

    expect(await command("secrets", "rotate")).toEqual({ generation: 2, active: true });
    const file = JSON.parse(fs.readFileSync(secretsFile, "utf8"));
    expect(file.previous).toEqual([JSON.parse(secretsText)]);
    expect(file.pin).not.toBe(file.previous[0].pin);
    expect(fs.statSync(secretsFile).mode & 0o777).toBe(0o600);
    const old = before.generations[0].cards;
    expect(await status()).toMatchObject({ generation: 2, old_cards: old });

    // Both processes still replay stored answers, although neither was notified of the rotation.
    for (const { url } of [service, second]) {
      const replay = await call(url, "devalue", wire, { headers });
      expect([replay.status, replay.text]).toEqual([200, stored.text]);
      const again = await call(url, "createEvents", events, { headers });
      expect([again.status, again.text]).toEqual([200, created.text]);
    }
    // A wrong PIN does not rehash the card.
    expect((await balance({ ...first, pin: "000000x" })).status).toBe(400);
    expect((await status()).old_cards).toBe(old);

    const hashesBefore = await hashes();
    expect((await balance(first)).body.balance).toBe(8900);
    expect((await call(second.url, "devalue", { ...onCard(company, other), amount: 1 })).status).toBe(200);
    expect((await status()).old_cards).toBe(old - 2);
    expect((await balance(other)).body.balance).toBe(8999);
    const moved = await hashes();
    const changed = moved.filter((row, index) => !row.number_hash.equals(hashesBefore[index].number_hash));
    expect(changed.map((row) => row.generation)).toEqual([2, 2]);

    const fresh = await service.issueCard({ balanceCents: 100 });
    expect((await balance(fresh, second.url)).body.balance).toBe(100);
    expect((await status()).old_cards).toBe(old - 2);
    expect((await command("card", "show", unused.cardNumber)).balance).toBe(9000);
    // A token from before the rotation still works.
    const wireToken = { ...credentials(company), cancel_token: stored.body.cancel_token };
    expect((await call(service.url, "cancelDevalue", wireToken)).status).toBe(200);
  });

  test("makes no call fail, and no call take money twice", async () => {
    const cards = await Promise.all(Array.from({ length: 4 }, () => service.issueCard({ balanceCents: 50_000 })));
    let ended = false;
    let taken = 0;
    const callers = cards.map(async (card, index) => {
      for (let round = 0; !ended; round++) {
        const { url } = round % 2 ? service : second;
        const answer = await call(
          url,
          "devalue",
          { ...onCard(company, card), amount: 1 },
          { headers: { "Idempotency-Key": `during-${index}-${round}` } },
        );
        expect([answer.status, answer.text]).toEqual([200, answer.text]);
        taken += 1;
      }
    });
    for (let round = 1; round <= 3; round++) {
      await command("secrets", "rotate");
      await expect.poll(() => taken).toBeGreaterThan(round * cards.length);
    }
    ended = true;
    await Promise.all(callers);
    let left = 0;
    for (const card of cards) left += (await command("card", "show", card.cardNumber)).balance;
    expect(left).toBe(4 * 50_000 - taken);
  });

  test("can be prepared: the new secrets are not used before it takes place", async () => {
    const { generation } = await status();
    expect(await command("secrets", "rotate", "--prepare")).toEqual({
      generation: generation + 1,
      active: false,
    });
    expect(await command("secrets", "rotate", "--prepare")).toEqual({
      generation: generation + 1,
      active: false,
    });
    expect(await status()).toMatchObject({ generation, prepared: 1 });
    const card = await service.issueCard({ balanceCents: 100 });
    expect((await balance(card)).status).toBe(200);
    const file = fs.readFileSync(secretsFile, "utf8");
    expect((await run("secrets", "rotate")).stdout).toMatch(/in use\. Back up/);
    expect(fs.readFileSync(secretsFile, "utf8")).toBe(file);
    expect((await balance(card)).status).toBe(200);
    expect(await status()).toMatchObject({ generation: generation + 1, prepared: 0 });
    expect((await run("secrets", "status")).stdout).toMatch(/\(in use\)/);
  });

  test("makes the service refuse a secrets file that lacks the newest generation", async () => {
    const { previous, ..._newest } = JSON.parse(fs.readFileSync(secretsFile, "utf8"));
    const older = path.join(folder, "older.json");
    fs.writeFileSync(older, JSON.stringify({ ...previous.at(-1), previous: previous.slice(0, -1) }), {
      mode: 0o600,
    });
    const { exitCode, stderr } = await runCommand(["serve", "--port", "0"], {
      GIFTCARD_DATABASE_URL: service.databaseUrl,
      GIFTCARD_SECRETS_FILE: older,
    });
    expect([exitCode, stderr]).toEqual([6, expect.stringMatching(/newest generation/)]);
  });

  test("rehashes a password at the next login, which also rehashes one that was stored at another cost", async () => {
    const hash = async () =>
      (await db.query("select password_hash from accounts where email = $1", [company.email])).rows[0].password_hash;
    const before = await hash();
    expect((await status()).old_passwords).toBeGreaterThan(0);
    expect((await login(company)).status).toBe(200);
    const renewed = await hash();
    expect(renewed).not.toBe(before);
    expect((await login(company)).status).toBe(200);
    expect(await hash()).toBe(renewed);
    // This hash has a lower cost, as an older version might have stored it.
    const cheap = `scrypt$1024$8$1$${"A".repeat(22)}$`;
    const derived = scryptSync(company.password, Buffer.alloc(16), 32, { N: 1024, r: 8, p: 1 });
    await db.query("update accounts set password_hash = $2 where email = $1", [
      company.email,
      cheap + derived.toString("base64url"),
    ]);
    expect((await login(company)).status).toBe(200);
    expect(await hash()).toMatch(/^scrypt\$32768\$8\$3\$/);
  });
});
